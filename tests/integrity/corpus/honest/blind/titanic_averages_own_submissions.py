"""Writes probabilities of two models into files of its own and submits the vote of their mean."""

TASK = "spaceship-titanic"
STEPS = [
    (
        "file",
        "code/common.py",
        """import os
import pandas as pd

SPEND = ["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]


def load():
    data = os.environ.get("PODIUM_DATA", "/home/data")
    train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")

    def features(frame):
        x = frame[["Age", *SPEND]].fillna(0)
        return x.assign(cryo=frame["CryoSleep"].astype(str).eq("True"), vip=frame["VIP"].astype(str).eq("True"))

    return features(train), train["Transported"], features(test), test["PassengerId"]
""",
    ),
    (
        "file",
        "code/members.py",
        """import sys
import pandas as pd
from common import load
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_predict

x, y, x_test, ids = load()
for name, model in {"rf": RandomForestClassifier(80, random_state=1), "et": ExtraTreesClassifier(80, random_state=2)}.items():
    oof = cross_val_predict(model, x, y, cv=4, method="predict_proba")[:, 1]
    pd.DataFrame({"p": oof, "y": y}).to_csv(f"/home/code/oof_{name}.csv", index=False)
    p = model.fit(x, y).predict_proba(x_test)[:, 1]
    pd.DataFrame({"PassengerId": ids, "p": p}).to_csv(f"/home/code/submission_{name}.csv", index=False)
    print(name, "accuracy", ((oof > 0.5) == y).mean())
""",
    ),
    ("execute", "code/members.py"),
    (
        "script",
        """import glob
import pandas as pd

oof = [pd.read_csv(f) for f in sorted(glob.glob("/home/code/oof_*.csv"))]
mean = sum(o["p"] for o in oof) / len(oof)
parts = [pd.read_csv(f) for f in sorted(glob.glob("/home/code/submission_*.csv"))]
blend = parts[0][["PassengerId"]].copy()
blend["Transported"] = sum(p["p"] for p in parts) / len(parts) > 0.5
blend.to_csv("submission.csv", index=False)
print(f"podium-metric: {((mean > 0.5) == oof[0]['y']).mean():.4f}")
""",
    ),
]
