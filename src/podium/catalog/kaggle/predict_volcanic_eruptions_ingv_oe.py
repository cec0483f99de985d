"""INGV: how long until the volcano erupts?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import split_table, write_csv
from podium.metrics import mae
from podium.task import Columns, competition

task = competition(
    "predict-volcanic-eruptions-ingv-oe",
    title="INGV - Volcanic Eruption Prediction",
    kind="time series regression",
    metric=mae.using(decimals=0, title="MAE, rounded to a whole number"),
    # MLE-bench also scores ids that are there more than once; here they are refused.
    submission=Columns(id="segment_id", target="time_to_eruption", values=float),
)
split_table(task, 0.1, guess=0, files="train/{segment_id}.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    ids, times = rng.choice(2**31, 120, replace=False), rng.integers(6_250, 49_046_087, 120)
    write_csv(pd.DataFrame({"segment_id": ids, "time_to_eruption": times}), raw / "train.csv")
    sensors = [f"sensor_{number}" for number in range(1, 11)]
    for segment, time in zip(ids, times, strict=True):
        readings = pd.DataFrame(rng.normal(0, 900 - time / 80_000, (30, 10)).round(), columns=sensors)
        silent = rng.random(10) < 0.1
        write_csv(readings.mask(np.tile(silent, (30, 1))), raw / "train" / f"{segment}.csv")
