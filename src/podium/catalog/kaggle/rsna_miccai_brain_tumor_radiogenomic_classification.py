"""RSNA-MICCAI: does the MRI of a brain tumour tell whether a certain gene is silenced?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.dicom import dicom
from podium.data.fabricate import write_bytes
from podium.data.files import link_tree
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

ID, TARGET = "BraTS21ID", "MGMT_value"

task = competition(
    "rsna-miccai-brain-tumor-radiogenomic-classification",
    title="RSNA-MICCAI Brain Tumor Radiogenomic Classification",
    kind="medical image classification",
    metric=roc_auc,
    submission=Columns(id=ID, target=TARGET, values=Number(0, 1)),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train_labels.csv", dtype={ID: str}), 0.1)
    write_csv(train, public / "train_labels.csv")
    write_csv(sample_of(test, ID, **{TARGET: 0.5}), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    for part, folder in ((train, "train"), (test, "test")):
        for case in part[ID]:
            link_tree(raw / "train" / case, public / folder / case)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    cases = [f"{number:05d}" for number in np.sort(rng.choice(1010, 100, replace=False))]
    silenced = (rng.random(100) < 0.52).astype(int)
    write_csv(pd.DataFrame({ID: cases, TARGET: silenced}), raw / "train_labels.csv")
    for case, value in zip(cases, silenced, strict=True):
        for sequence in ("FLAIR", "T1w", "T1wCE", "T2w"):
            scan = dicom(rng.integers(0, 90, (8, 8)) + 60 * value)
            write_bytes(raw / "train" / case / sequence / "Image-1.dcm", scan)
