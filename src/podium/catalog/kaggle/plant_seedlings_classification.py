"""Plant Seedlings Classification: crop or weed, and of which species?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import find_files, lines_beside, link_parts, sample_of, split_rows, write_csv
from podium.data.fabricate import hex_ids, pictures, write_files
from podium.metrics import f1
from podium.task import Columns, competition

task = competition(
    "plant-seedlings-classification",
    title="Plant Seedlings Classification",
    kind="image classification",
    metric=f1.using(average="micro", title="Micro F1"),
    submission=Columns(id="file", target="species", values=str, answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    paths = find_files(raw / "train", "*/*.png")
    table = pd.DataFrame({"file": [path.name for path in paths], "species": [path.parent.name for path in paths]})
    _, test = parts = split_rows(table, 0.14)
    write_csv(sample_of(test, "file", species="Sugar beet"), public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
    link_parts(parts, raw, public, files="train/{species}/{file}", test_files="test/{file}")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    species = lines_beside(__file__)
    kinds = np.arange(180) % len(species)
    names = [f"{species[kind]}/{name}.png" for kind, name in zip(kinds, hex_ids(rng, 180, 9), strict=True)]
    write_files(raw / "train", pictures(rng, names, kinds))
