"""PetFinder.my: how much will people like the photo of a pet?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, picture, write_bytes
from podium.data.files import link_files
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import rmse
from podium.task import Columns, Number, competition

FLAGS = "Subject Focus,Eyes,Face,Near,Action,Accessory,Group,Collage,Human,Occlusion,Info,Blur"

task = competition(
    "petfinder-pawpularity-score",
    title="PetFinder.my - Pawpularity Contest",
    kind="image regression",
    metric=rmse,
    submission=Columns(id="Id", target="Pawpularity", values=Number(1, 100)),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train.csv"), 0.1)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="Pawpularity"), public / "test.csv")
    guesses = np.random.default_rng(0).uniform(1, 100, len(test)).round(2)
    write_csv(sample_of(test, "Id", Pawpularity=guesses), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, part["Id"] + ".jpg")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 150
    flags = pd.DataFrame(rng.integers(0, 2, (count, 12)), columns=FLAGS.split(","))
    table = pd.DataFrame({"Id": hex_ids(rng, count, 32)}).join(flags)
    score = rng.gamma(3.5, 8, count) + 20 * flags["Face"] - 8 * flags["Blur"]
    table["Pawpularity"] = score.clip(1, 100).astype(int)
    write_csv(table, raw / "train.csv")
    for name, liked in zip(table["Id"], table["Pawpularity"] > 40, strict=True):
        write_bytes(raw / "train" / f"{name}.jpg", picture(rng, tint=int(liked)))
