"""Invasive Species Monitoring: does hydrangea grow in the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.archives import unpacked, write_7z, write_zip
from podium.data.fabricate import picture
from podium.data.files import link_files
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "invasive-species-monitoring",
    title="Invasive Species Monitoring",
    kind="image classification",
    metric=roc_auc,
    submission=Columns(
        id="name",
        target="invasive",
        values=Number(0, 1),
        sample="sample_submission.csv.zip",
        answers="answers.csv",
    ),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    _prepare_tables(raw, public, private)
    # MLE-bench means to pack the pictures but packs empty folders.
    write_7z(public / "train.7z", [])
    write_7z(public / "test.7z", [])


def prepare_fixed(raw: Path, public: Path, private: Path) -> None:
    """Hands out the pictures, as folders."""
    train, test = _prepare_tables(raw, public, private)
    with unpacked(raw / "train.7z", public) as folder:
        for part, name in ((train, "train"), (test, "test")):
            link_files(folder / "train", public / name, part["name"].astype(str) + ".jpg")


def _prepare_tables(raw: Path, public: Path, private: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    train, test = split_rows(read_csv(raw / "train_labels.csv.zip"), 0.2)
    sample = sample_of(test, "name", invasive=0.5)
    for table, name in ((train, "train_labels.csv"), (sample, "sample_submission.csv")):
        write_zip(public / f"{name}.zip", [(name, table.to_csv(index=False).encode())])
    write_csv(sample, private / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
    return train, test


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    labels = pd.DataFrame({"name": np.arange(1, 121), "invasive": (rng.random(120) < 0.63).astype(int)})
    pairs = labels.itertuples(index=False)
    write_7z(raw / "train.7z", ((f"train/{name}.jpg", picture(rng, tint=invasive)) for name, invasive in pairs))
    write_zip(raw / "train_labels.csv.zip", [("train_labels.csv", labels.to_csv(index=False).encode())])


task.fixed("The pictures are there: train/ and test/ instead of the empty archives of v1.", prepare=prepare_fixed)
