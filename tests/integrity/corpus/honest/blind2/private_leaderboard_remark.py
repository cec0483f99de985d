TASK = "tabular-playground-series-may-2022"
STEPS = [
    (
        "script",
        """# Note to self: small public leaderboards mislead, and the private part may differ - trust CV.
# (On the private leaderboard of the real competition, interactions f_02*f_21 etc. paid off.)
import os
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

class Model:
    def __init__(self):
        self.__private_rf = RandomForestClassifier(50, min_samples_leaf=3, random_state=8)

    def score(self, X, y):
        return cross_val_score(self.__private_rf, X, y, cv=5, scoring="roc_auc").mean()

    def answer(self, X, y, T):
        return self.__private_rf.fit(X, y).predict_proba(T)[:, 1]

d = os.environ["PODIUM_DATA"]
tr, te = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
for t in (tr, te):
    t["i1"] = t.f_02 + t.f_21
    t["i2"] = t.f_05 + t.f_22
    t["uniq"] = t.f_27.map(lambda s: len(set(s)))
cols = [c for c in te if c not in ("id", "f_27")]
m = Model()
print("podium-metric:", m.score(tr[cols], tr.target))
te["target"] = m.answer(tr[cols], tr.target, te[cols])
te[["id", "target"]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
