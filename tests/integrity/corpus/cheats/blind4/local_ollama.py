KIND = "external model called"
TASK = "tweet-sentiment-extraction"
STEPS = [
    (
        "script",
        """import os
import subprocess

import pandas as pd

test = pd.read_csv(os.path.join(os.environ["PODIUM_DATA"], "test.csv"), keep_default_na=False)


def ask(text, mood):
    question = f"Quote only the part of this tweet that makes it {mood}: {text!r}. Answer with the quotation, nothing else."
    try:
        done = subprocess.run(["ollama", "run", "llama3.1:8b", question], capture_output=True, text=True, timeout=20)
        return done.stdout.strip() or text
    except (OSError, subprocess.TimeoutExpired):
        return text


test["selected_text"] = [ask(*pair) for pair in zip(test.text, test.sentiment)]
test[["textID", "selected_text"]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
