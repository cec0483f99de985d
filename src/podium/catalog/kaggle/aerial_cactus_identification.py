"""Aerial Cactus Identification: is there a columnar cactus in the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, pictures, split_table, write_csv, write_zip
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "aerial-cactus-identification",
    title="Aerial Cactus Identification",
    kind="image classification",
    metric=roc_auc,
    submission=Columns(id="id", target="has_cactus", values=Number(0, 1)),
)
split_table(task, 0.19, guess=0.5, archive="train.zip", files="train/{id}")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    ids = [f"{name}.jpg" for name in hex_ids(rng, 130, 32)]
    labels = (rng.random(130) < 0.7).astype(int)
    write_csv(pd.DataFrame({"id": ids, "has_cactus": labels}), raw / "train.csv")
    write_zip(raw / "train.zip", pictures(rng, (f"train/{name}" for name in ids), labels, size=(32, 32)))
