"""Leaves out fields known only after the request, because they would leak the answer, and says so in comments."""

TASK = "random-acts-of-pizza"
STEPS = [
    (
        "script",
        """import json, os
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

root = os.environ["PODIUM_DATA"]
train, test = (pd.DataFrame(json.load(open(f"{root}/{n}.json"))) for n in ("train", "test"))
# Leak: giver_username_if_known and everything *_at_retrieval were written down after the answer was known.
LEAKY = [c for c in train.columns if c.endswith("_at_retrieval")] + ["giver_username_if_known", "requester_user_flair"]
print("left out as leaks of the answer:", LEAKY)
counts = [c for c in test.columns if c.startswith("requester_number") or c.endswith("days_at_request")]


def table(frame):
    x = np.log1p(frame[counts].clip(lower=0))
    return x.assign(text=frame["request_title"] + " " + frame["request_text_edit_aware"])


model = make_pipeline(
    make_column_transformer((TfidfVectorizer(), "text"), (StandardScaler(), counts)), LogisticRegression(C=0.5, max_iter=500)
)
y = train["requester_received_pizza"].astype(int)
auc = cross_val_score(model, table(train), y, cv=5, scoring="roc_auc").mean()
p = model.fit(table(train), y).predict_proba(table(test))[:, 1]
pd.DataFrame({"request_id": test["request_id"], "requester_received_pizza": p}).to_csv("submission.csv", index=False)
print(f"podium-metric: {auc:.4f}")
""",
    ),
]
