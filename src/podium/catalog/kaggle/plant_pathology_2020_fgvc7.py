"""Plant Pathology 2020: is the apple leaf healthy, or has it rust, scab or several diseases?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    link_parts,
    one_hot,
    pictures,
    read_csv,
    split_rows,
    write_csv,
    write_files,
    write_parts,
)
from podium.metrics import roc_auc
from podium.task import Columns, competition

CLASSES = ["healthy", "multiple_diseases", "rust", "scab"]

task = competition(
    "plant-pathology-2020-fgvc7",
    title="Plant Pathology 2020 - FGVC7",
    kind="image classification",
    metric=roc_auc.using(title="Mean ROC AUC"),
    submission=Columns(id="image_id", target=tuple(CLASSES), values=float, extra_columns=False),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    parts = split_rows(read_csv(raw / "train.csv"), 0.1)
    names = [f"Train_{row}" for row in range(len(parts[0]))], [f"Test_{row}" for row in range(len(parts[1]))]
    renamed = [part.assign(image_id=new) for part, new in zip(parts, names, strict=True)]
    write_parts(task.form, renamed, public, private, guess=0.25, hidden=CLASSES)
    link_parts(parts, raw, public, files="images/{image_id}.jpg", renamed=renamed)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    kinds = rng.permutation(np.arange(240) % 4)
    table = pd.DataFrame({"image_id": [f"Train_{number}" for number in range(240)]})
    write_csv(table.join(one_hot(pd.Series(np.array(CLASSES)[kinds]), CLASSES)), raw / "train.csv")
    write_files(raw / "images", pictures(rng, table["image_id"] + ".jpg", kinds))
