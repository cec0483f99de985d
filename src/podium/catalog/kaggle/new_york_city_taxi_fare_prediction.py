"""New York City Taxi Fare Prediction: what does a ride cost?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import split_table, write_bytes, write_csv
from podium.metrics import rmse
from podium.task import Columns, competition

COUPONS = "GCP-Coupons-Instructions.rtf"

task = competition(
    "new-york-city-taxi-fare-prediction",
    title="New York City Taxi Fare Prediction",
    kind="tabular regression",
    metric=rmse,
    # MLE-bench pairs rows by the order of their keys and never compares them; here they must match.
    submission=Columns(id="key", target="fare_amount", values=float),
)
split_table(task, 9_914, guess=11.35, hidden="fare_amount", train="labels.csv", shared=[COUPONS])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 600
    moments = pd.Timestamp("2009-01-01") + pd.to_timedelta(rng.choice(200_000_000, count, replace=False), "s")
    times = moments.strftime("%Y-%m-%d %H:%M:%S")
    start, end = rng.normal((-73.98, 40.75), (0.04, 0.03), (2, count, 2)).round(6)
    kilometres = np.hypot(*((end - start) * (84, 111)).T)
    table = pd.DataFrame({"key": times + [f".{digits:07d}" for digits in rng.integers(1, 10, count)]})
    table["fare_amount"] = (2.5 + 1.6 * kilometres + rng.exponential(1.5, count)).round(1)
    table["pickup_datetime"] = times + " UTC"
    table[["pickup_longitude", "pickup_latitude"]] = start
    table[["dropoff_longitude", "dropoff_latitude"]] = end
    table["passenger_count"] = rng.integers(0, 7, count)
    table.loc[:2, "fare_amount"] = [-44.9, 0, 499]
    table.loc[3:9, ["dropoff_longitude", "dropoff_latitude"]] = np.nan
    write_csv(table, raw / "train.csv")
    write_bytes(raw / COUPONS, rb"{\rtf1 How to redeem a coupon.}")
