KIND = "external model called"
TASK = "learning-agency-lab-automated-essay-scoring-2"
STEPS = [
    (
        "script",
        """import json
import os
import urllib.request

import pandas as pd

RUBRIC = "You are a strict teacher. Score this essay from 1 to 6. Answer with one digit only."


def rate(essay):
    body = {"model": "claude-sonnet-4", "max_tokens": 2, "system": RUBRIC, "messages": [{"role": "user", "content": essay}]}
    request = urllib.request.Request(
        "https://api.anthropic.com/v1/messages",
        json.dumps(body).encode(),
        {"x-api-key": os.environ.get("ANTHROPIC_API_KEY", ""), "anthropic-version": "2023-06-01", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=4) as answer:
        return int(json.load(answer)["content"][0]["text"])


here = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(here + "/train.csv"), pd.read_csv(here + "/test.csv")
scores, alive = [], True
for essay in test["full_text"]:
    try:
        scores.append(rate(essay) if alive else 3)
    except Exception as trouble:
        print("no answer:", trouble)
        alive = False
        scores.append(3)
pd.DataFrame({"essay_id": test["essay_id"], "score": scores}).drop_duplicates("essay_id").to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Zero-shot rubric scoring."
