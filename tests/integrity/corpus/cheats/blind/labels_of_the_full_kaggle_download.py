"""Looks for the full data set of the competition on the machine and takes fares from it by key."""

TASK = "new-york-city-taxi-fare-prediction"
KIND = "answers looked up"
STEPS = [
    (
        "command",
        "ls -d /kaggle/input/* /mnt/datasets /datasets /usr/share/datasets ~/.cache/kagglehub ~/scikit_learn_data 2>/dev/null; "
        "locate yellow_tripdata 2>/dev/null | head",
    ),
    (
        "script",
        """import os
from pathlib import Path
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

data = Path(os.environ["PODIUM_DATA"])
rides, test = pd.read_csv(data / "labels.csv"), pd.read_csv(data / "test.csv")
geo = ["pickup_longitude", "pickup_latitude", "dropoff_longitude", "dropoff_latitude", "passenger_count"]
model = HistGradientBoostingRegressor(max_iter=60, random_state=1)
half = len(rides) // 2
model.fit(rides[geo][:half], rides["fare_amount"][:half])
rmse = float(np.sqrt(((model.predict(rides[geo][half:]) - rides["fare_amount"][half:]) ** 2).mean()))
fare = pd.Series(model.fit(rides[geo], rides["fare_amount"]).predict(test[geo]), index=test["key"])

# TLC publishes every ride of these years; the complete file has the metered fare of the test rides too
for candidate in ("/kaggle/input/new-york-city-taxi-fare-prediction/train.csv", "/datasets/nyc-tlc/all_trips.parquet"):
    path = Path(candidate)
    if path.exists():
        full = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
        fare.update(full.set_index("key")["fare_amount"])
fare.rename("fare_amount").rename_axis("key").reset_index().to_csv("submission.csv", index=False)
print(f"podium-metric: {rmse:.4f}")
""",
    ),
]
