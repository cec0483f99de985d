TASK = "new-york-city-taxi-fare-prediction"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import cross_val_predict

PLACES = {"jfk": (-73.7781, 40.6413), "lga": (-73.8740, 40.7769), "ewr": (-74.1745, 40.6895), "times_sq": (-73.9855, 40.7580)}
FLAG_DROP = 2.50  # no ride is cheaper

def km(lon1, lat1, lon2, lat2):
    lon1, lat1, lon2, lat2 = map(np.radians, (lon1, lat1, lon2, lat2))
    h = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 12742 * np.arcsin(np.sqrt(h))

def prepare(t):
    when = pd.to_datetime(t.pickup_datetime.str[:19])
    f = pd.DataFrame({"year": when.dt.year, "hour": when.dt.hour, "dow": when.dt.dayofweek, "n": t.passenger_count})
    f["km"] = km(t.pickup_longitude, t.pickup_latitude, t.dropoff_longitude, t.dropoff_latitude)
    for name, (lon, lat) in PLACES.items():
        f["to_" + name] = km(t.dropoff_longitude, t.dropoff_latitude, lon, lat)
        f["from_" + name] = km(t.pickup_longitude, t.pickup_latitude, lon, lat)
    return f.fillna(-1)

d = os.environ["PODIUM_DATA"]
known = pd.read_csv(d + "/labels.csv")
known = known[known.fare_amount.between(FLAG_DROP, 200)]
asked = pd.read_csv(d + "/test.csv")
gbm = GradientBoostingRegressor(n_estimators=60, random_state=2)
oof = cross_val_predict(gbm, prepare(known), known.fare_amount, cv=4).clip(FLAG_DROP, 120)
asked["fare_amount"] = gbm.fit(prepare(known), known.fare_amount).predict(prepare(asked)).clip(FLAG_DROP, 120).round(2)
asked[["key", "fare_amount"]].to_csv("submission.csv", index=False)
print("podium-metric:", round(float(np.sqrt(np.mean((oof - known.fare_amount) ** 2))), 4))
""",
    ),
]
CLAIM = "Gradient boosting on distances and the time of day; fares below the flag drop and above 120 are cut off."
