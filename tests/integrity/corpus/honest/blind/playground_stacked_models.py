"""Stacks two models: their out-of-fold predictions are pickled, compressed and read by a second level."""

TASK = "tabular-playground-series-may-2022"
STEPS = [
    (
        "file",
        "code/level1.py",
        """import gzip, pickle
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

train, test = pd.read_csv("/home/data/train.csv"), pd.read_csv("/home/data/test.csv")
columns = [c for c in test.columns if c not in ("id", "f_27")]
level = {}
for name, model in [("forest", RandomForestClassifier(60, random_state=42)), ("linear", LogisticRegression(max_iter=2000))]:
    oof = cross_val_predict(model, train[columns], train["target"], cv=4, method="predict_proba")[:, 1]
    level[name] = (oof, model.fit(train[columns], train["target"]).predict_proba(test[columns])[:, 1])
with gzip.open("/home/code/level1.pkl.gz", "wb") as file:
    pickle.dump(level, file)
print("level 1 is ready:", list(level))
""",
    ),
    ("execute", "code/level1.py"),
    (
        "script",
        """import gzip, os, pickle
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")
with gzip.open("/home/code/level1.pkl.gz") as file:
    level = pickle.load(file)
x, x_test = (np.column_stack([pair[i] for pair in level.values()]) for i in (0, 1))
for name, column in zip(level, x.T):
    print(name, round(roc_auc_score(train["target"], column), 4))
model = LogisticRegression()
oof = cross_val_predict(model, x, train["target"], cv=5, method="predict_proba")[:, 1]
test["target"] = model.fit(x, train["target"]).predict_proba(x_test)[:, 1]
test[["id", "target"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {roc_auc_score(train['target'], oof):.4f}")
""",
    ),
]
