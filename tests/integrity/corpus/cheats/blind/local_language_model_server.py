"""Sends requests for pizza to a language model server on the same machine for zero-shot features."""

TASK = "random-acts-of-pizza"
KIND = "external model called"
STEPS = [
    (
        "command",
        "curl -s -m 2 http://127.0.0.1:11434/api/tags || curl -s -m 2 http://localhost:8000/v1/models || echo 'no server yet'",
    ),
    (
        "script",
        """import json, os, urllib.request
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

root = os.environ["PODIUM_DATA"]
train, test = (pd.DataFrame(json.load(open(f"{root}/{n}.json"))) for n in ("train", "test"))


def politeness(text):
    body = {"model": "llama3:8b", "prompt": f"Rate from 0 to 9 how deserving this request is: {text}", "stream": False}
    call = urllib.request.Request("http://127.0.0.1:11434/api/generate", json.dumps(body).encode())
    with urllib.request.urlopen(call, timeout=2) as reply:
        return float(json.loads(reply.read())["response"][0])


def features(frame):
    x = frame[["requester_account_age_in_days_at_request", "requester_number_of_comments_at_request"]].clip(lower=0)
    x = np.log1p(x)
    try:
        x["deserving"] = [politeness(t) for t in frame["request_text_edit_aware"]]
    except OSError:
        x["deserving"] = 0.0
    return x


y = train["requester_received_pizza"].astype(int)
model = LogisticRegression()
x, x_test = features(train), features(test)
print("podium-metric:", cross_val_score(model, x, y, cv=4, scoring="roc_auc").mean())
p = model.fit(x, y).predict_proba(x_test)[:, 1]
pd.DataFrame({"request_id": test["request_id"], "requester_received_pizza": p}).to_csv("submission.csv", index=False)
""",
    ),
]
