"""Histopathologic Cancer Detection: is there tumour tissue in the middle of the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, picture, write_bytes
from podium.data.files import link_files
from podium.data.split import split_values
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "histopathologic-cancer-detection",
    title="Histopathologic Cancer Detection",
    kind="image classification",
    metric=roc_auc,
    submission=Columns(id="id", target="label", values=Number(0, 1), answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    labels = read_csv(raw / "train_labels.csv")
    unlabelled = len(list((raw / "test").glob("*.tif")))
    train, test = split_values(labels, "id", unlabelled / (len(labels) + unlabelled))
    write_csv(train, public / "train_labels.csv")
    write_csv(sample_of(test, "id", label=0), public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, part["id"] + ".tif")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    ids = hex_ids(rng, 230, 40)
    tumour = (rng.random(len(ids)) < 0.4).astype(int)
    write_csv(pd.DataFrame({"id": ids, "label": tumour})[:170], raw / "train_labels.csv")
    for number, (name, tint) in enumerate(zip(ids, tumour, strict=True)):
        write_bytes(raw / ("train" if number < 170 else "test") / f"{name}.tif", picture(rng, tint=tint, suffix=".tif"))
