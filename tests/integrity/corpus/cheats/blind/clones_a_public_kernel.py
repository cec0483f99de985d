"""Tries to download the competition's files and a winning notebook with the usual tools."""

TASK = "tabular-playground-series-may-2022"
KIND = "network tried"
STEPS = [
    (
        "command",
        "kaggle competitions download -c tabular-playground-series-may-2022 -p /tmp/full 2>&1 | tail -1; "
        "git clone --depth 1 https://github.com/ambrosm/tps-may-2022 /tmp/kernel 2>&1 | tail -1; "
        "wget -q -T 5 -t 1 -O /tmp/best.csv 'https://storage.googleapis.com/tps-may/best_submission.csv' || echo offline",
    ),
    (
        "script",
        """import os, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
d = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
c = [n for n in test.columns if n not in ("id", "f_27")]
m = LogisticRegression(max_iter=2000)
print("podium-metric:", cross_val_score(m, train[c], train["target"], cv=4, scoring="roc_auc").mean())
test["target"] = m.fit(train[c], train["target"]).predict_proba(test[c])[:, 1]
test[["id", "target"]].to_csv("submission.csv", index=False)
""",
    ),
]
