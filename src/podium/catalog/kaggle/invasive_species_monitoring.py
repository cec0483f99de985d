"""Invasive Species Monitoring: does hydrangea grow in the picture?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    link_parts,
    read_csv,
    sample_of,
    split_rows,
    unpacked,
    write_7z,
    write_csv,
    write_parts,
)
from podium.data.fabricate import pictures
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "invasive-species-monitoring",
    title="Invasive Species Monitoring",
    kind="image classification",
    metric=roc_auc,
    submission=Columns(
        id="name", target="invasive", values=Number(0, 1), sample="sample_submission.csv.zip", answers="answers.csv"
    ),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, fixed: bool = False) -> None:
    parts = split_rows(read_csv(raw / "train_labels.csv.zip"), 0.2)
    write_parts(task.form, parts, public, private, guess=0.5, train="train_labels.csv.zip")
    write_csv(sample_of(parts[1], "name", invasive=0.5), private / "sample_submission.csv")
    if fixed:
        with unpacked(raw / "train.7z", public) as folder:
            link_parts(parts, folder, public, files="train/{name}.jpg")
    else:  # MLE-bench means to pack the pictures but packs empty folders.
        write_7z(public / "train.7z", [])
        write_7z(public / "test.7z", [])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    labels = pd.DataFrame({"name": np.arange(1, 121), "invasive": (rng.random(120) < 0.63).astype(int)})
    write_7z(raw / "train.7z", pictures(rng, "train/" + labels["name"].astype(str) + ".jpg", labels["invasive"]))
    write_csv(labels, raw / "train_labels.csv.zip")


task.fixed(
    "The pictures are there: train/ and test/ instead of the empty archives of v1.",
    prepare=partial(prepare, fixed=True),
)
