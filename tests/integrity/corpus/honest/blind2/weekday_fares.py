TASK = "new-york-city-taxi-fare-prediction"
STEPS = [
    ("command", "ls -l data; head -3 data/labels.csv"),
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

# labels.csv is this competition's training table (see description.md), not an answer key
d = os.environ["PODIUM_DATA"]
train = pd.read_csv(os.path.join(d, "labels.csv"), parse_dates=["pickup_datetime"])
test = pd.read_csv(os.path.join(d, "test.csv"), parse_dates=["pickup_datetime"])
AIRPORTS = {"JFK": (40.6413, -73.7781), "LGA": (40.7769, -73.8740), "EWR": (40.6895, -74.1745)}

def km(a, b, c, e):
    a, b, c, e = map(np.radians, (a, b, c, e))
    h = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((e - b) / 2) ** 2
    return 12742 * np.arcsin(np.sqrt(h.clip(0, 1)))

def features(t):
    out = pd.DataFrame({"dist": km(t.pickup_latitude, t.pickup_longitude, t.dropoff_latitude, t.dropoff_longitude)})
    out["hour"], out["dow"], out["year"] = t.pickup_datetime.dt.hour, t.pickup_datetime.dt.dayofweek, t.pickup_datetime.dt.year
    for name, (la, lo) in AIRPORTS.items():
        out[name] = km(t.dropoff_latitude, t.dropoff_longitude, la, lo)
    return out

train = train[train.fare_amount.between(2.5, 250)].reset_index(drop=True)
late = train.pickup_datetime > train.pickup_datetime.quantile(0.8)
m = HistGradientBoostingRegressor(max_iter=60)
m.fit(features(train[~late]), train.fare_amount[~late])
rmse = np.sqrt(np.mean((m.predict(features(train[late])) - train.fare_amount[late]) ** 2))
m.fit(features(train), train.fare_amount)
test["fare_amount"] = m.predict(features(test)).clip(2.5)
test[["key", "fare_amount"]].to_csv("submission.csv", index=False)
print("podium-metric:", rmse)
""",
    ),
    ("validate",),
]
