"""Hotel-ID: in which hotel was the photo taken?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import file_names, link_parts, read_csv, split_rows, write_csv, write_parts
from podium.data.fabricate import hex_ids, pictures, write_files
from podium.metrics import map_at_k
from podium.task import Columns, Text, competition

TWICE_LISTED = "ce27d36c9147cc19.jpg"
FILES = "train_images/{chain}/{image}"

task = competition(
    "hotel-id-2021-fgvc8",
    title="Hotel-ID to Combat Human Trafficking 2021 - FGVC8",
    kind="image retrieval",
    metric=map_at_k.using(k=5, empty_items=True, title="MAP@5"),
    # As in MLE-bench: single guesses are numbers, and no longer whole (so all wrong) if one of them is blank.
    submission=Columns(id="image", target="hotel_id", values=Text(retyped=True)),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    photos = read_csv(raw / "train.csv")
    parts = split_rows(photos[photos["image"] != TWICE_LISTED], 0.1)
    write_parts(task.form, parts, public, private, guess="36363 53586 18807 64314 60181")
    link_parts(parts, raw, public, files=FILES, test_files="test_images/{image}")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    hotels, chains = rng.choice(65_000, 20, replace=False), rng.choice([0, 3, 4, 5, 87], 20)
    hotel = rng.integers(20, size=160)
    times = pd.Timestamp("2016-01-01") + pd.to_timedelta(rng.integers(3 * 365 * 1440, size=160), unit="min")
    names = [f"{name}.jpg" for name in hex_ids(rng, 160, 16)]
    names[40] = names[90] = TWICE_LISTED
    table = pd.DataFrame({"image": names, "chain": chains[hotel], "hotel_id": hotels[hotel], "timestamp": times})
    write_csv(table, raw / "train.csv")
    write_files(raw, pictures(rng, file_names(table, FILES), hotel))
