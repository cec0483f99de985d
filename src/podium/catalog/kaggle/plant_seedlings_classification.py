"""Plant Seedlings Classification: crop or weed, and of which species?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, picture, write_bytes
from podium.data.files import link_file, link_files
from podium.data.split import split_rows
from podium.data.tables import sample_of, write_csv
from podium.errors import RawDataError
from podium.metrics import f1
from podium.task import Columns, competition

SPECIES = """
Black-grass, Charlock, Cleavers, Common Chickweed, Common wheat, Fat Hen, Loose Silky-bent, Maize, Scentless Mayweed,
Shepherds Purse, Small-flowered Cranesbill, Sugar beet
"""

task = competition(
    "plant-seedlings-classification",
    title="Plant Seedlings Classification",
    kind="image classification",
    metric=f1.using(average="micro", title="Micro F1"),
    submission=Columns(id="file", target="species", values=str, answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    paths = sorted((raw / "train").glob("*/*.png"), key=lambda path: (path.parent.name, path.name))
    if not paths:
        raise RawDataError(f"The raw data lacks pictures: there is no {raw / 'train'}/<species>/<name>.png.")
    table = pd.DataFrame({"file": [path.name for path in paths], "species": [path.parent.name for path in paths]})
    train, test = split_rows(table, 0.14)
    write_csv(sample_of(test, "file", species="Sugar beet"), public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
    for species, rows in train.groupby("species"):
        link_files(raw / "train" / str(species), public / "train" / str(species), rows["file"])
    for name, species in zip(test["file"], test["species"], strict=True):
        link_file(raw / "train" / species / name, public / "test" / name)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    species = [name.strip() for name in SPECIES.split(",")]
    for number, name in enumerate(hex_ids(rng, 180, 9)):
        tint = number % len(species)
        write_bytes(raw / "train" / species[tint] / f"{name}.png", picture(rng, tint=tint, suffix=".png"))
