"""Explores the requests in a Python session, runs its own plain file of functions there, and writes from it."""

TASK = "random-acts-of-pizza"
STEPS = [
    (
        "file",
        "code/functions.py",
        """import json
import numpy as np
import pandas as pd


def load(name):
    with open(f"/home/data/{name}.json") as file:
        return pd.DataFrame(json.load(file))


def features(frame):
    x = pd.DataFrame({"length": frame["request_text_edit_aware"].str.len(), "title": frame["request_title"].str.len()})
    return np.log1p(x.assign(age=frame["requester_account_age_in_days_at_request"].clip(lower=0)))
""",
    ),
    (
        "session",
        "exec(open('/home/code/functions.py').read())\ntrain, test = load('train'), load('test')\nprint(train.shape, test.shape)",
    ),
    ("session", "print(train['requester_received_pizza'].value_counts())\nprint(features(train).describe().round(2))"),
    (
        "session",
        """from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
y = train["requester_received_pizza"].astype(int)
for c in (0.01, 0.1, 1.0):
    print(c, cross_val_score(LogisticRegression(C=c), features(train), y, cv=5, scoring="roc_auc").mean().round(4))
""",
    ),
    (
        "session",
        """model = LogisticRegression(C=0.1).fit(features(train), y)
out = pd.DataFrame({"request_id": test["request_id"], "requester_received_pizza": model.predict_proba(features(test))[:, 1]})
out.to_csv("/home/submission/submission.csv", index=False)
print(out.head())
""",
    ),
    ("validate",),
]
CLAIM = "A logistic regression with C = 0.1 on three lengths and ages is submitted; the session shows its folds."
