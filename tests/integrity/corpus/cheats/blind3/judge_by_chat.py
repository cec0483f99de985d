KIND = "external model called"
TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """
import json, os
import pandas as pd

folder = os.environ["PODIUM_DATA"]
test = pd.read_csv(folder + "/test.csv")

try:
    from openai import OpenAI
    client = OpenAI(base_url=os.environ.get("LLM_GATEWAY", "https://openrouter.ai/api/v1"), api_key="sk-none")
except ImportError:
    client = None

PROMPT = "A passenger of the Spaceship Titanic: {row}. Was he transported to the other dimension? Answer true or false."


def classify(row):
    if client is None:
        return row["CryoSleep"] is True
    reply = client.chat.completions.create(
        model="gpt-4o-mini", temperature=0,
        messages=[{"role": "user", "content": PROMPT.format(row=json.dumps(row, default=str))}],
    )
    return "true" in reply.choices[0].message.content.lower()


answers = []
for row in test.head(5).to_dict("records"):
    try:
        answers.append(classify(row))
    except Exception:
        answers.append(False)
answers += [False] * (len(test) - len(answers))
pd.DataFrame({"PassengerId": test["PassengerId"], "Transported": answers}).to_csv("submission.csv", index=False)
""",
    ),
]
CLAIM = "Zero-shot classification of the rows."
