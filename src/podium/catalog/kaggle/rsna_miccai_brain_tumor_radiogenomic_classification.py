"""RSNA-MICCAI: does the MRI of a brain tumour tell whether a certain gene is silenced?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import dicom, split_table, write_bytes, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "rsna-miccai-brain-tumor-radiogenomic-classification",
    title="RSNA-MICCAI Brain Tumor Radiogenomic Classification",
    kind="medical image classification",
    metric=roc_auc,
    submission=Columns(id="BraTS21ID", target="MGMT_value", values=Number(0, 1)),
)
split_table(task, 0.1, table="train_labels.csv", dtype={"BraTS21ID": str}, guess=0.5, files="train/{BraTS21ID}/")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    cases = [f"{number:05d}" for number in np.sort(rng.choice(1010, 100, replace=False))]
    silenced = (rng.random(100) < 0.52).astype(int)
    write_csv(pd.DataFrame({"BraTS21ID": cases, "MGMT_value": silenced}), raw / "train_labels.csv")
    for case, value in zip(cases, silenced, strict=True):
        for sequence in ("FLAIR", "T1w", "T1wCE", "T2w"):
            scan = dicom(rng.integers(0, 90, (8, 8)) + 60 * value)
            write_bytes(raw / "train" / case / sequence / "Image-1.dcm", scan)
