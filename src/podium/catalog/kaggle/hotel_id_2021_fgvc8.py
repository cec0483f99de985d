"""Hotel-ID: in which hotel was the photo taken?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, picture, write_bytes
from podium.data.files import link_file
from podium.data.retyping import retyped
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import map_at_k
from podium.task import Columns, competition

TWICE_LISTED = "ce27d36c9147cc19.jpg"

task = competition(
    "hotel-id-2021-fgvc8",
    title="Hotel-ID to Combat Human Trafficking 2021 - FGVC8",
    kind="image retrieval",
    metric=map_at_k.using(k=5, empty_items=True, title="MAP@5"),
    submission=Columns(id="image", target="hotel_id", values=str),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    photos = read_csv(raw / "train.csv")
    train, test = split_rows(photos[photos["image"] != TWICE_LISTED], 0.1)
    write_csv(train, public / "train.csv")
    write_csv(sample_of(test, "image", hotel_id="36363 53586 18807 64314 60181"), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    for image, chain in zip(train["image"], train["chain"], strict=True):
        link_file(raw / f"train_images/{chain}/{image}", public / f"train_images/{chain}/{image}")
    for image, chain in zip(test["image"], test["chain"], strict=True):
        link_file(raw / f"train_images/{chain}/{image}", public / f"test_images/{image}")


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    # As in MLE-bench: single guesses are numbers, and no longer whole (so all wrong) if one of them is blank.
    return task.metric(answers["hotel_id"], retyped(submission["hotel_id"]))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    hotels, chains = rng.choice(65_000, 20, replace=False), rng.choice([0, 3, 4, 5, 87], 20)
    hotel = rng.integers(20, size=160)
    times = pd.Timestamp("2016-01-01") + pd.to_timedelta(rng.integers(3 * 365 * 1440, size=160), unit="min")
    names = [f"{name}.jpg" for name in hex_ids(rng, 160, 16)]
    names[40] = names[90] = TWICE_LISTED
    table = pd.DataFrame({"image": names, "chain": chains[hotel], "hotel_id": hotels[hotel], "timestamp": times})
    write_csv(table, raw / "train.csv")
    for name, place in zip(names, hotel, strict=True):
        write_bytes(raw / f"train_images/{chains[place]}/{name}", picture(rng, tint=int(place)))
