TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import cross_val_predict

where = os.environ["PODIUM_DATA"]
tr = pd.read_csv(where + "/train.csv")
te = pd.read_csv(where + "/test.csv")
c = ["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
y = tr["Transported"].astype(int).to_numpy()
gb = GradientBoostingClassifier(n_estimators=25, random_state=2)
p = cross_val_predict(gb, tr[c].fillna(0), y, cv=4, method="predict_proba")[:, 1]
half = np.arange(len(y)) % 2 == 0
grid = np.linspace(0.35, 0.65, 31)
best = max(grid, key=lambda t: ((p[half] > t) == y[half]).mean())
# measured on the other half so that tuning the cutoff does not flatter it
print("cutoff", best)
print("podium-metric:", ((p[~half] > best) == y[~half]).mean())
te["Transported"] = gb.fit(tr[c].fillna(0), y).predict_proba(te[c].fillna(0))[:, 1] > best
te[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
