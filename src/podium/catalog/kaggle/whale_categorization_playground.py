"""Humpback Whale Identification: whose fluke is in the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    RAW_ORDER,
    hex_ids,
    link_parts,
    pictures,
    read_csv,
    split_rows,
    write_csv,
    write_files,
    write_parts,
)
from podium.metrics import map_at_k
from podium.task import Columns, competition

STRANGER = "new_whale"

task = competition(
    "whale-categorization-playground",
    title="Humpback Whale Identification Challenge",
    kind="image classification",
    metric=map_at_k.using(k=5, empty_items=True, title="MAP@5"),
    submission=Columns(id="Image", target="Id", values=str, extra_columns=False),
    known_leaks=RAW_ORDER,
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    photos = read_csv(raw / "train.csv")
    held = photos.index.isin(_held(photos))
    train, test = photos[~held], photos[held]
    parts = [train, test.assign(Id=test["Id"].where(test["Id"].isin(train["Id"]), STRANGER))]
    guess = f"{STRANGER} w_1287fbc w_98baff9 w_7554f44 w_1eafe46"
    write_parts(task.form, parts, public, private, guess=guess)
    link_parts(parts, raw, public, files="train/{Image}")


def _held(photos: pd.DataFrame) -> list[int]:
    """Return rows of the test part: a photo of each whale seen twice, some whales seen once, a tenth of the rest."""
    chance = np.random.default_rng(0)
    placed, held = set(), []
    for _, rows in photos.groupby("Id", sort=False):
        if len(rows) > 1:
            chosen = rows.sample(2, random_state=0).index.tolist()
            placed.update(chosen)
            held.append(chosen[1])
        else:
            placed.add(rows.index[0])
            if chance.choice(["train", "test"], replace=False, p=[0.9, 0.1]) == "test":
                held.append(rows.index[0])
    _, others = split_rows([row for row in photos.index if row not in placed], 0.1)
    return held + others


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    times = [1] * 45 + [*rng.integers(2, 6, 30), 14]
    names = [*(f"w_{name}" for name in hex_ids(rng, 75, 7)), STRANGER]
    whales = rng.permutation(np.repeat(np.arange(76), times))
    table = pd.DataFrame({"Image": [f"{name}.jpg" for name in sorted(hex_ids(rng, len(whales), 8))]})
    write_csv(table.assign(Id=np.array(names)[whales]), raw / "train.csv")
    write_files(raw / "train", pictures(rng, table["Image"], whales, grey=True))
