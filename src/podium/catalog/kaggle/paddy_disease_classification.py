"""Paddy Doctor: which disease does the rice plant have, if any?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import lines_beside, pictures, split_table, write_csv, write_files
from podium.metrics import accuracy
from podium.task import Columns, competition

task = competition(
    "paddy-disease-classification",
    title="Paddy Doctor: Paddy Disease Classification",
    kind="image classification",
    metric=accuracy,
    submission=Columns(id="image_id", target="label", values=str),
)
split_table(task, 0.25, guess="", files="train_images/{label}/{image_id}", test_files="test_images/{image_id}")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    kinds = np.sort(np.arange(160) % 10)
    table = pd.DataFrame({"image_id": [f"{number}.jpg" for number in rng.permutation(np.arange(100_001, 100_161))]})
    table = table.assign(
        label=np.array(lines_beside(__file__))[kinds], variety=rng.choice(["ADT45", "Ponni", "IR20"], 160)
    )
    write_csv(table.assign(age=45 + 3 * kinds + rng.integers(10, size=160)), raw / "train.csv")
    write_files(raw / "train_images", pictures(rng, table["label"] + "/" + table["image_id"], kinds))
