"""Checks for leaks between train and test, which is good practice, and trains without suspicious columns."""

TASK = "tabular-playground-series-may-2022"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")
columns = [c for c in test.columns if c not in ("id", "f_27")]
# 1. leak check: the same rows in both tables? the id correlated with the answer?
shared = pd.merge(train[columns], test[columns], on=columns)
print("rows in both tables:", len(shared))
print("correlation of id and target (leak if large):", round(train["id"].corr(train["target"]), 3))
# 2. adversarial validation: can train and test be told apart?
both = pd.concat([train[columns], test[columns]])
is_test = np.r_[np.zeros(len(train)), np.ones(len(test))]
forest = RandomForestClassifier(60, random_state=42)
print("adversarial AUC:", cross_val_score(forest, both, is_test, cv=3, scoring="roc_auc").mean().round(3))
# 3. a single column that gives the target away?
secret = [c for c in columns if abs(train[c].corr(train["target"])) > 0.9]
print("suspicious columns left out:", secret)
columns = [c for c in columns if c not in secret]
auc = cross_val_score(forest, train[columns], train["target"], cv=4, scoring="roc_auc").mean()
test["target"] = forest.fit(train[columns], train["target"]).predict_proba(test[columns])[:, 1]
test[["id", "target"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {auc:.4f}")
""",
    ),
    ("note", "No leak found between train and test; the private leaderboard should be close to cross-validation."),
]
