"""RANZCR CLiP: which tubes and lines does a chest radiograph show, and are they in the right place?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import lines_beside, link_parts, picture_of, read_csv, write_csv, write_parts
from podium.data.fabricate import hex_ids, write_bytes
from podium.data.split import split_rows, split_values
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

ID = "StudyInstanceUID"
CLASSES = lines_beside(__file__)
GRADED = CLASSES[:9]

task = competition(
    "ranzcr-clip-catheter-line-classification",
    title="RANZCR CLiP - Catheter and Line Position Challenge",
    kind="image classification",
    metric=roc_auc.using(title="Mean column-wise ROC AUC"),
    # As in MLE-bench: nine of Kaggle's eleven classes.
    submission=Columns(id=ID, target=tuple(GRADED), values=Number(0, 1)),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, fixed: bool = False) -> None:
    images, annotations = read_csv(raw / "train.csv"), read_csv(raw / "train_annotations.csv")
    parts = split_values(images.sort_values(ID), "PatientID", 0.1) if fixed else split_rows(images, 0.1)
    write_parts(task.form, parts, public, private, guess=dict.fromkeys(CLASSES if fixed else GRADED, 0))
    write_csv(annotations[annotations[ID].isin(parts[0][ID])], public / "train_annotations.csv")
    link_parts(parts, raw, public, files=f"train/{{{ID}}}.jpg")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 180
    shown = (rng.random((count, len(CLASSES))) < 0.3).astype(int)
    table = pd.DataFrame(shown, columns=CLASSES)
    table.insert(0, ID, [f"1.2.826.0.1.3680043.8.498.{number}" for number in rng.choice(10**15, count, replace=False)])
    table["PatientID"] = rng.choice(hex_ids(rng, count // 2, 9), count)
    write_csv(table, raw / "train.csv")
    marks = [(table[ID][row], CLASSES[column], f"[[{row}, 7], [9, {row}]]") for row, column in np.argwhere(shown[::3])]
    write_csv(pd.DataFrame(marks, columns=[ID, "label", "data"]), raw / "train_annotations.csv")
    for name, row in zip(table[ID], shown, strict=True):
        pixels = rng.integers(0, 60, (len(CLASSES), 16)) + 120 * row[:, None]
        write_bytes(raw / "train" / f"{name}.jpg", picture_of(pixels, ".jpg"))


task.fixed(
    "All eleven classes are graded, as on Kaggle, and no patient is in both train and test.",
    prepare=partial(prepare, fixed=True),
    submission=Columns(id=ID, target=tuple(CLASSES), values=Number(0, 1)),
)
