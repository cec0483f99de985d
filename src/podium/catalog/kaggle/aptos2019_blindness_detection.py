"""APTOS 2019 Blindness Detection: how far has diabetic retinopathy gone?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, pictures, split_table, write_csv, write_files
from podium.metrics import quadratic_kappa
from podium.task import Columns, competition

task = competition(
    "aptos2019-blindness-detection",
    title="APTOS 2019 Blindness Detection",
    kind="image classification",
    metric=quadratic_kappa,
    submission=Columns(id="id_code", target="diagnosis", values=int),
)
split_table(task, 0.1, guess=0, hidden="diagnosis", files="train_images/{id_code}.png")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    grades = rng.choice(5, 160, p=[0.49, 0.1, 0.27, 0.06, 0.08])
    table = pd.DataFrame({"id_code": sorted(hex_ids(rng, len(grades))), "diagnosis": grades})
    write_csv(table, raw / "train.csv")
    write_files(raw / "train_images", pictures(rng, table["id_code"] + ".png", grades))
