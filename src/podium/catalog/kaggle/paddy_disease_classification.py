"""Paddy Doctor: which disease does the rice plant have, if any?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import picture, write_bytes
from podium.data.files import link_file
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import accuracy
from podium.task import Columns, competition

LABELS = """
bacterial_leaf_blight bacterial_leaf_streak bacterial_panicle_blight blast brown_spot dead_heart downy_mildew hispa
normal tungro
""".split()  # noqa: SIM905

task = competition(
    "paddy-disease-classification",
    title="Paddy Doctor: Paddy Disease Classification",
    kind="image classification",
    metric=accuracy,
    submission=Columns(id="image_id", target="label", values=str),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train.csv"), 0.25)
    write_csv(train, public / "train.csv")
    write_csv(sample_of(test, "image_id", label=""), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    for image, label in zip(train["image_id"], train["label"], strict=True):
        link_file(raw / "train_images" / label / image, public / "train_images" / label / image)
    for image, label in zip(test["image_id"], test["label"], strict=True):
        link_file(raw / "train_images" / label / image, public / "test_images" / image)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    kinds = np.sort(np.arange(160) % 10)
    table = pd.DataFrame({"image_id": [f"{number}.jpg" for number in rng.permutation(np.arange(100_001, 100_161))]})
    table = table.assign(label=np.array(LABELS)[kinds], variety=rng.choice(["ADT45", "Ponni", "IR20"], 160))
    write_csv(table.assign(age=45 + 3 * kinds + rng.integers(10, size=160)), raw / "train.csv")
    for image, kind in zip(table["image_id"], kinds, strict=True):
        write_bytes(raw / "train_images" / LABELS[kind] / image, picture(rng, tint=int(kind)))
