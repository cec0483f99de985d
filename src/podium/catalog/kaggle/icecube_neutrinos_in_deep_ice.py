"""IceCube: from which direction did a neutrino come?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_file, link_files, sample_of, split_rows, write_csv
from podium.data.formats.parquet_json import copy_parquet_rows, read_parquet, write_parquet
from podium.metrics import angular_error
from podium.task import Columns, competition

ANGLES = ["azimuth", "zenith"]
BATCHES, EVENTS, PULSES, SENSORS = 24, 6, 5, 60

task = competition(
    "icecube-neutrinos-in-deep-ice",
    title="IceCube - Neutrinos in Deep Ice",
    kind="point cloud regression",
    metric=angular_error,
    submission=Columns(id="event_id", target=tuple(ANGLES), values=float, extra_columns=False),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    meta = raw / "train_meta.parquet"
    batches = list(read_parquet(meta, columns=["batch_id"])["batch_id"].unique())
    train, test = split_rows(batches, 0.1)
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, [f"batch_{number}.parquet" for number in part])
    copy_parquet_rows(meta, public / "train_meta.parquet", "batch_id", train)
    events = read_parquet(meta, filters=[("batch_id", "in", test)])
    write_parquet(events.drop(columns=ANGLES), public / "test_meta.parquet")
    write_csv(sample_of(events, "event_id", azimuth=1, zenith=1), public / "sample_submission.csv")
    write_csv(events[["event_id", *ANGLES]], private / "test.csv")
    link_file(raw / "sensor_geometry.csv", public / "sensor_geometry.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    places = rng.uniform(-500, 500, (SENSORS, 3)).round(2)
    geometry = pd.DataFrame(places, columns=["x", "y", "z"]).rename_axis("sensor_id")
    write_csv(geometry, raw / "sensor_geometry.csv", index=True)
    meta = pd.DataFrame({"batch_id": np.repeat(np.arange(1, BATCHES + 1), EVENTS)})
    meta["event_id"] = np.sort(rng.choice(2**31, len(meta), replace=False))
    meta["first_pulse_index"] = np.tile(np.arange(EVENTS) * PULSES, BATCHES)
    meta["last_pulse_index"] = meta["first_pulse_index"] + PULSES - 1
    meta["azimuth"], meta["zenith"] = rng.uniform(0, 2 * np.pi, len(meta)), np.arccos(rng.uniform(-1, 1, len(meta)))
    write_parquet(meta, raw / "train_meta.parquet")
    for number, events in meta.groupby("batch_id"):
        rows = events.loc[events.index.repeat(PULSES)]
        sensors = rng.integers(SENSORS, size=len(rows))
        around, down = rows[ANGLES].to_numpy().T
        direction = np.stack([np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down)])
        seen = pd.DataFrame({"sensor_id": sensors.astype(np.int16)}, index=pd.Index(rows["event_id"], name="event_id"))
        seen["time"] = (10_000 - (places[sensors] * direction.T).sum(axis=1) / 0.3).astype(np.int64)
        seen["charge"] = rng.gamma(2, 0.5, len(rows)).round(3)
        seen["auxiliary"] = rng.random(len(rows)) < 0.6
        write_parquet(seen, raw / "train" / f"batch_{number}.parquet", index=True)
