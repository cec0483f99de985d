"""Splits a column of ten letters into counts and positions of letters."""

TASK = "tabular-playground-series-may-2022"
STEPS = [
    ("read", "data/description.md"),
    (
        "script",
        """import os, string
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_score

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")
ORDINAL = {letter: number for number, letter in enumerate(string.ascii_uppercase)}


def features(frame):
    x = frame.drop(columns=["id", "f_27", "target"], errors="ignore").copy()
    for position in range(10):
        x[f"letter_{position}"] = frame["f_27"].str[position].map(ORDINAL)
    x["different"] = frame["f_27"].apply(lambda code: len(set(code)))
    x["f_00_plus"] = (x["f_00"] + x["f_01"] + x["f_26"] > 5.0).astype(int) - (x["f_00"] + x["f_01"] + x["f_26"] < -5.0)
    return x


model = HistGradientBoostingClassifier(max_iter=60, random_state=42)
auc = cross_val_score(model, features(train), train["target"], cv=4, scoring="roc_auc")
test["target"] = model.fit(features(train), train["target"]).predict_proba(features(test))[:, 1]
test[["id", "target"]].to_csv("submission.csv", index=False)
print("auc by fold", auc.round(4))
print(f"podium-metric: {auc.mean():.4f}")
""",
    ),
]
