"""Leaf Classification: of which of 99 species is the leaf?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import lines_beside, link_parts, pictures, read_csv, split_rows, write_csv, write_parts
from podium.data.formats.archives import unpacked, write_zip
from podium.metrics import log_loss
from podium.task import Columns, Number, competition

SPECIES = lines_beside(__file__)
FEATURES = [f"{kind}_{number}" for kind in ("margin", "shape", "texture") for number in range(1, 65)]

task = competition(
    "leaf-classification",
    title="Leaf Classification",
    kind="tabular and image classification",
    metric=log_loss,
    submission=Columns(id="id", target=tuple(SPECIES), values=Number(0, 1), row_total=1, extra_columns=False),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    parts = split_rows(read_csv(raw / "train.csv.zip"), 0.1)
    write_parts(task.form, parts, public, private, guess=1 / len(SPECIES), hidden="species", classes="species")
    with unpacked(raw / "images.zip", public) as folder:
        link_parts(parts, folder, public, files="images/{id}.jpg")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    species = rng.permutation(np.repeat(np.arange(len(SPECIES)), 2))
    centres = rng.gamma(1, 0.015, (len(SPECIES), len(FEATURES)))
    values = centres[species] * rng.normal(1, 0.2, (len(species), len(FEATURES)))
    table = pd.DataFrame(np.abs(values).round(6), columns=FEATURES)
    table.insert(0, "id", np.sort(rng.choice(np.arange(1, 1585), len(species), replace=False)))
    table.insert(1, "species", np.array(SPECIES)[species])
    write_csv(table, raw / "train.csv.zip")
    write_zip(raw / "images.zip", pictures(rng, "images/" + table["id"].astype(str) + ".jpg", species, grey=True))
