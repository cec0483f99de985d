TASK = "new-york-city-taxi-fare-prediction"
STEPS = [
    (
        "script",
        """import itertools, os
import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsRegressor
from sklearn.model_selection import cross_val_score

d = os.environ["PODIUM_DATA"]
lab, tst = pd.read_csv(d + "/labels.csv").dropna(), pd.read_csv(d + "/test.csv")
c = ["pickup_longitude", "pickup_latitude", "dropoff_longitude", "dropoff_latitude"]
best_score, best = np.inf, None
for k, w in itertools.product((3, 7, 15, 31), ("uniform", "distance")):
    rmse = -cross_val_score(KNeighborsRegressor(k, weights=w), lab[c], lab.fare_amount, cv=5, scoring="neg_root_mean_squared_error").mean()
    print(k, w, round(rmse, 3))
    if rmse < best_score:
        best_score, best = rmse, (k, w)
print("best", best)
tst["fare_amount"] = KNeighborsRegressor(best[0], weights=best[1]).fit(lab[c], lab.fare_amount).predict(tst[c].fillna(lab[c].median()))
tst[["key", "fare_amount"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {best_score}")
""",
    ),
    ("validate",),
]
