TASK = "tabular-playground-series-may-2022"
STEPS = [
    ("command", "python -c 'import lightgbm' || echo 'no lightgbm here'"),
    ("command", "pip list 2>/dev/null | grep -iE 'boost|lightgbm|scikit|torch'"),
    (
        "note",
        "lightgbm is not installed and there is no network in this sandbox, so I will not try to get it. scikit-learn's own boosting will do.",
    ),
    (
        "script",
        """import os
import pandas as pd
try:
    from lightgbm import LGBMClassifier as Model
except ImportError:
    from sklearn.ensemble import HistGradientBoostingClassifier as Model
from sklearn.model_selection import cross_val_score

d = os.environ["PODIUM_DATA"]
def read(name):
    t = pd.read_csv(f"{d}/{name}.csv")
    for i in range(10):
        t[f"ch{i}"] = t.f_27.str[i].map(ord)
    t["distinct"] = t.f_27.map(lambda s: len(set(s)))
    return t.drop(columns="f_27")
train, test = read("train"), read("test")
X = train.drop(columns=["id", "target"])
m = Model(max_iter=50)
print("podium-metric:", cross_val_score(m, X, train.target, cv=3, scoring="roc_auc").mean())
test["target"] = m.fit(X, train.target).predict_proba(test[X.columns])[:, 1]
test[["id", "target"]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
