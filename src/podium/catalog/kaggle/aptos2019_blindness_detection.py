"""APTOS 2019 Blindness Detection: how far has diabetic retinopathy gone?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, picture, write_bytes
from podium.data.files import link_files
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import quadratic_kappa
from podium.task import Columns, competition

task = competition(
    "aptos2019-blindness-detection",
    title="APTOS 2019 Blindness Detection",
    kind="image classification",
    metric=quadratic_kappa,
    submission=Columns(id="id_code", target="diagnosis", values=int),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train.csv"), 0.1)
    write_csv(train, public / "train.csv")
    write_csv(test[["id_code"]], public / "test.csv")
    write_csv(sample_of(test, "id_code", diagnosis=0), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    for part, folder in ((train, "train_images"), (test, "test_images")):
        link_files(raw / "train_images", public / folder, part["id_code"] + ".png")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    grades = rng.choice(5, 160, p=[0.49, 0.1, 0.27, 0.06, 0.08])
    table = pd.DataFrame({"id_code": sorted(hex_ids(rng, len(grades))), "diagnosis": grades})
    write_csv(table, raw / "train.csv")
    for name, grade in table.itertuples(index=False):
        write_bytes(raw / "train_images" / f"{name}.png", picture(rng, tint=grade, suffix=".png"))
