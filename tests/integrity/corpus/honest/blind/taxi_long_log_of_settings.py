"""Tries a table of hyperparameters and prints a long log with a line per setting and fold."""

TASK = "new-york-city-taxi-fare-prediction"
STEPS = [
    (
        "script",
        """import itertools, os
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

GRID = {"max_depth": [2, 3, 4, 6, 8], "min_samples_leaf": [2, 5, 10, 20], "max_features": [0.5, 1.0], "random_state": [1, 42]}
data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/labels.csv"), pd.read_csv(f"{data}/test.csv")
names = ["pickup_longitude", "pickup_latitude", "dropoff_longitude", "dropoff_latitude", "passenger_count"]
x, y, x_test = train[names].fillna(0), train["fare_amount"], test[names].fillna(0)
results = {}
for number, values in enumerate(itertools.product(*GRID.values())):
    setting = dict(zip(GRID, values))
    errors = []
    for fold, (a, b) in enumerate(KFold(4, shuffle=True, random_state=42).split(x)):
        model = DecisionTreeRegressor(**setting).fit(x.iloc[a], y.iloc[a])
        errors.append(float(np.sqrt(((model.predict(x.iloc[b]) - y.iloc[b]) ** 2).mean())))
        print(f"[{number:03d}] fold {fold} {setting} rmse={errors[-1]:.5f}")
    results[values] = np.mean(errors)
ranking = sorted(results, key=results.get)
print("best ten:")
for values in ranking[:10]:
    print(f"  {results[values]:.5f}", dict(zip(GRID, values)))
test["fare_amount"] = DecisionTreeRegressor(**dict(zip(GRID, ranking[0]))).fit(x, y).predict(x_test)
test[["key", "fare_amount"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {results[ranking[0]]:.4f}")
""",
    ),
]
