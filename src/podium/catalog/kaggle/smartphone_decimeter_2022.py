"""Google Smartphone Decimeter Challenge: where exactly was the phone?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_tree, read_csv, sample_of, split_rows, write_bytes, write_csv
from podium.metrics.sphere import EARTH_RADIUS_M, percentile_distance_m
from podium.task import Columns, competition

TIME = "UnixTimeMillis"
PLACE = ["LatitudeDegrees", "LongitudeDegrees"]
AWAY = dict(zip(PLACE, (37.904611315634504, -86.48107806249548), strict=True))

task = competition(
    "smartphone-decimeter-2022",
    title="Google Smartphone Decimeter Challenge 2022",
    kind="time series positioning",
    metric=percentile_distance_m.using(title="Mean of the 50th and 95th percentile error"),
    submission=Columns(id="tripId", target=(TIME, *PLACE), values=float),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    drives = sorted(path.name for path in (raw / "train").iterdir())
    _, held = split_rows(sorted({_date(drive) for drive in drives}), 0.1)
    for drive in drives:
        part = "test" if _date(drive) in held else "train"
        link_tree(raw / "train" / drive, public / part / drive)
    answers = pd.concat([_take_truth(path) for path in sorted((public / "test").glob("*/*/ground_truth.csv"))])
    link_tree(raw / "metadata", public / "metadata")
    write_csv(sample_of(answers, ["tripId", TIME], **AWAY), public / "sample_submission.csv")
    write_csv(answers, private / "test.csv")


def prepare_fixed(raw: Path, public: Path, private: Path) -> None:
    """Leave out the log of the reference receiver, from which the answers were computed."""
    prepare(raw, public, private)
    for log in (public / "test").rglob("span_log.nmea"):
        log.unlink()


def _date(drive: str) -> str:
    return "-".join(part.zfill(2) for part in drive.split("-")[:3])


def _take_truth(path: Path) -> pd.DataFrame:
    """Return the true positions of a trip, and remove their file."""
    # MLE-bench leaves the parsing of floats to pandas here, which may change the last digit.
    truth = read_csv(path, float_precision=None)[[TIME, *PLACE]]
    path.unlink()
    truth.insert(0, "tripId", f"{path.parts[-3]}-{path.parts[-2]}")
    return truth


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    # MLE-bench pairs the rows of a trip by position and never reads the times; here they are brought into order first.
    truth, guess = (table.sort_values(["tripId", TIME]) for table in (answers, submission))
    return task.metric.using(groups=truth["tripId"])(truth[PLACE], guess[PLACE])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    for day in np.sort(rng.choice(700, 20, replace=False)):
        start = pd.Timestamp("2020-05-14") + pd.Timedelta(days=int(day))
        for phone in rng.choice(["GooglePixel4", "GooglePixel5", "XiaomiMi8"], rng.integers(1, 3), replace=False):
            folder = raw / "train" / f"{start:%Y-%m-%d}-US-MTV-{day % 2 + 1}" / phone
            _fabricate_trip(folder, int(start.timestamp()) * 1000 + 437, rng)
    write_bytes(raw / "metadata" / "raw_state_bit_map.json", b'{"0": "STATE_CODE_LOCK"}')


def _fabricate_trip(folder: Path, start: int, rng: np.random.Generator) -> None:
    """Fabricate a drive; the phone's estimate of its position is off by some metres."""
    times = start + 1000 * np.arange(rng.integers(14, 25))
    places = np.add([37.42, -122.08], np.cumsum(rng.normal(0, 1e-4, (len(times), 2)), axis=0)).round(10)
    truth = pd.DataFrame({"MessageType": "Fix", "Provider": "GT", **dict(zip(PLACE, places.T, strict=True))})
    truth = truth.assign(AltitudeMeters=33.0, SpeedMps=9.5, AccuracyMeters=0.1, BearingDegrees=90.0, **{TIME: times})
    write_csv(truth, folder / "ground_truth.csv")
    write_csv(truth[[*PLACE, TIME]], folder / "supplemental" / "span_log.nmea", header=False)
    latitude, longitude = np.radians(places + rng.normal(0, 3e-5, places.shape)).T
    gnss = pd.DataFrame({"MessageType": "Raw", "utcTimeMillis": times})
    around = np.cos(latitude) * np.array([np.cos(longitude), np.sin(longitude)])
    for axis, share in zip("XYZ", [*around, np.sin(latitude)], strict=True):
        gnss[f"WlsPosition{axis}EcefMeters"] = EARTH_RADIUS_M * share
    write_csv(gnss, folder / "device_gnss.csv")


task.fixed(
    "The reference receiver's logs (span_log.nmea) of test drives hold the answers and are withheld; times must match.",
    prepare=prepare_fixed,
    submission=Columns(id=("tripId", TIME), target=tuple(PLACE), values=float),
)
