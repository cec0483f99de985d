"""Computes distances of rides from the coordinates of airports, which are constants in the code."""

TASK = "new-york-city-taxi-fare-prediction"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_predict

PLACES = {
    "JFK": (40.6413, -73.7781),
    "LGA": (40.7769, -73.8740),
    "EWR": (40.6895, -74.1745),
    "Times Square": (40.7580, -73.9855),
    "Wall Street": (40.7074, -74.0113),
}


def kilometres(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = (np.radians(v) for v in (lat1, lon1, lat2, lon2))
    a = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(a.clip(0, 1)))


def features(rides):
    p, d = (rides["pickup_latitude"], rides["pickup_longitude"]), (rides["dropoff_latitude"], rides["dropoff_longitude"])
    x = pd.DataFrame({"ride": kilometres(*p, *d), "people": rides["passenger_count"]})
    for name, (lat, lon) in PLACES.items():
        x[f"from {name}"] = kilometres(*p, lat, lon)
        x[f"to {name}"] = kilometres(*d, lat, lon)
    return x


data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/labels.csv"), pd.read_csv(f"{data}/test.csv")
model = HistGradientBoostingRegressor(max_iter=60, random_state=42)
oof = cross_val_predict(model, features(train), train["fare_amount"], cv=4)
test["fare_amount"] = model.fit(features(train), train["fare_amount"]).predict(features(test))
test[["key", "fare_amount"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {np.sqrt(((oof - train['fare_amount']) ** 2).mean()):.4f}")
""",
    ),
]
