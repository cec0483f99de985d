"""Humpback Whale Identification: whose fluke is in the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, picture, write_bytes
from podium.data.files import link_files
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import map_at_k
from podium.task import Columns, competition

STRANGER = "new_whale"

task = competition(
    "whale-categorization-playground",
    title="Humpback Whale Identification Challenge",
    kind="image classification",
    metric=map_at_k.using(k=5, empty_items=True, title="MAP@5"),
    submission=Columns(id="Image", target="Id", values=str, extra_columns=False),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    photos = read_csv(raw / "train.csv")
    held = photos.index.isin(_held(photos))
    train, test = photos[~held], photos[held]
    test = test.assign(Id=test["Id"].where(test["Id"].isin(train["Id"]), STRANGER))
    write_csv(train, public / "train.csv")
    guess = f"{STRANGER} w_1287fbc w_98baff9 w_7554f44 w_1eafe46"
    write_csv(sample_of(test, "Image", Id=guess), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, part["Image"])


def _held(photos: pd.DataFrame) -> list[int]:
    """Rows of the test part: a photo of each whale seen twice, some of the whales seen once, a tenth of the rest."""
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
    for image, whale in zip(table["Image"], whales, strict=True):
        write_bytes(raw / "train" / image, picture(rng, tint=int(whale), grey=True))
