"""Histopathologic Cancer Detection: is there tumour tissue in the middle of the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    RAW_ORDER,
    hex_ids,
    link_parts,
    pictures,
    read_csv,
    split_values,
    write_csv,
    write_files,
    write_parts,
)
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "histopathologic-cancer-detection",
    title="Histopathologic Cancer Detection",
    kind="image classification",
    metric=roc_auc,
    submission=Columns(id="id", target="label", values=Number(0, 1), answers="answers.csv"),
    known_leaks=RAW_ORDER,
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    labels = read_csv(raw / "train_labels.csv")
    unlabelled = len(list((raw / "test").glob("*.tif")))
    parts = split_values(labels, "id", unlabelled / (len(labels) + unlabelled))
    write_parts(task.form, parts, public, private, guess=0, train="train_labels.csv")
    link_parts(parts, raw, public, files="train/{id}.tif")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    ids = hex_ids(rng, 230, 40)
    tumour = (rng.random(len(ids)) < 0.4).astype(int)
    write_csv(pd.DataFrame({"id": ids, "label": tumour})[:170], raw / "train_labels.csv")
    names = [f"{'train' if number < 170 else 'test'}/{name}.tif" for number, name in enumerate(ids)]
    write_files(raw, pictures(rng, names, tumour))
