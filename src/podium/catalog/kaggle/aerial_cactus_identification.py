"""Aerial Cactus Identification: is there a columnar cactus in the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.archives import unpacked, write_zip
from podium.data.fabricate import hex_ids, picture
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "aerial-cactus-identification",
    title="Aerial Cactus Identification",
    kind="image classification",
    metric=roc_auc,
    submission=Columns(id="id", target="has_cactus", values=Number(0, 1)),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train.csv"), 0.19)
    write_csv(train, public / "train.csv")
    write_csv(sample_of(test, "id", has_cactus=0.5), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    with unpacked(raw / "train.zip", public) as folder:
        for part, name in ((train, "train.zip"), (test, "test.zip")):
            write_zip(public / name, ((image, folder / "train" / image) for image in part["id"]))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    ids = [f"{name}.jpg" for name in hex_ids(rng, 130, 32)]
    labels = (rng.random(130) < 0.7).astype(int)
    write_csv(pd.DataFrame({"id": ids, "has_cactus": labels}), raw / "train.csv")
    pictures = [picture(rng, tint=label, size=(32, 32)) for label in labels]
    write_zip(raw / "train.zip", ((f"train/{name}", image) for name, image in zip(ids, pictures, strict=True)))
