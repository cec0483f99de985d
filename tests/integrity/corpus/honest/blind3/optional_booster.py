TASK = "spaceship-titanic"
STEPS = [
    (
        "command",
        "pip install --no-index --find-links /home/wheels lightgbm 2>&1 | tail -1; pip list 2>/dev/null | grep -i -E 'boost|lightgbm|torch'",
    ),
    ("note", "No wheels on this machine and no network; leave it, use what is installed."),
    (
        "script",
        """import os
import pandas as pd

try:
    from lightgbm import LGBMClassifier
    model = LGBMClassifier(n_estimators=60, verbose=-1)
except Exception:
    try:
        from xgboost import XGBClassifier
        model = XGBClassifier(n_estimators=60)
    except Exception:
        from sklearn.ensemble import HistGradientBoostingClassifier
        model = HistGradientBoostingClassifier(max_iter=60)

d = os.environ["PODIUM_DATA"]
t, s = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
n = ["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
model.fit(t[n], t["Transported"].astype(int))
print("used", type(model).__name__)
s["Transported"] = pd.Series(model.predict(s[n])).astype(bool).to_numpy()
s[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Gradient boosting with whichever library was there; installing another one was not possible."
