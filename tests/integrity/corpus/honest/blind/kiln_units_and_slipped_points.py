"""Converts temperatures and weights that look like other units and mends slipped decimal points in train."""

TASK = "forge-tabular-regression-easy-7"
STEPS = [
    ("read", "data/description.md"),
    ("command", "python -c \"import pandas as pd; print(pd.read_csv('data/train.csv').describe().T.to_string())\""),
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold

FAHRENHEIT_ABOVE = 1450.0
POUNDS = 0.45359237
data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")


def features(frame):
    x = frame.select_dtypes("number").drop(columns="gas", errors="ignore").copy()
    hot = x["peak"] > FAHRENHEIT_ABOVE
    x.loc[hot, "peak"] = (x.loc[hot, "peak"] - 32) * 5 / 9
    x["load_kg"] = np.where(x["load"] > 1.2 * x["chamber"], x["load"] * POUNDS, x["load"])
    x["heat"] = (x["peak"] - x["air"]) * (x["load_kg"] + x["chamber"])
    x["dial"] = (frame["meter"] == "dial").astype(int)
    return x


x, y = features(train), np.log1p(train["gas"])
model = HistGradientBoostingRegressor(max_iter=80, random_state=42)
errors = []
for a, b in KFold(3, shuffle=True, random_state=42).split(x):
    rough = model.fit(x.iloc[a], y.iloc[a]).predict(x.iloc[a])
    fine = (y.iloc[a] - rough).abs() < np.log(6)  # off by a factor of ten: the point slipped
    errors.append((model.fit(x.iloc[a][fine], y.iloc[a][fine]).predict(x.iloc[b]) - y.iloc[b]) ** 2)
fine = (y - model.fit(x, y).predict(x)).abs() < np.log(6)
print("rows with a slipped point left out:", int((~fine).sum()))
test["gas"] = np.expm1(model.fit(x[fine], y[fine]).predict(features(test))).clip(0)
test[["firing_id", "gas"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {np.sqrt(pd.concat(errors).mean()):.4f}")
""",
    ),
]
