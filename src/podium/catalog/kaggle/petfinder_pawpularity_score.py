"""PetFinder.my: how much will people like the photo of a pet?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, pictures, split_table, write_csv, write_files
from podium.metrics import rmse
from podium.task import Columns, Number, competition

task = competition(
    "petfinder-pawpularity-score",
    title="PetFinder.my - Pawpularity Contest",
    kind="image regression",
    metric=rmse,
    submission=Columns(id="Id", target="Pawpularity", values=Number(1, 100)),
)
split_table(
    task,
    0.1,
    guess=lambda count: np.round(np.random.default_rng(0).uniform(1, 100, count), 2),
    hidden="Pawpularity",
    files="train/{Id}.jpg",
)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 150
    names = "Subject Focus,Eyes,Face,Near,Action,Accessory,Group,Collage,Human,Occlusion,Info,Blur"
    flags = pd.DataFrame(rng.integers(0, 2, (count, 12)), columns=names.split(","))
    table = pd.DataFrame({"Id": hex_ids(rng, count, 32)}).join(flags)
    score = rng.gamma(3.5, 8, count) + 20 * flags["Face"] - 8 * flags["Blur"]
    table["Pawpularity"] = score.clip(1, 100).astype(int)
    write_csv(table, raw / "train.csv")
    write_files(raw / "train", pictures(rng, table["Id"] + ".jpg", table["Pawpularity"] > 40))
