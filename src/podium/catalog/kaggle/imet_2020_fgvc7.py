"""iMet Collection 2020: which attributes does the work of art have?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, write_bytes
from podium.data.files import link_file, link_files
from podium.data.pictures import picture_of
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import label_micro_f1
from podium.task import Columns, competition

task = competition(
    "imet-2020-fgvc7",
    title="iMet Collection 2020 - FGVC7",
    kind="image tagging",
    # As in MLE-bench, a predicted attribute that no test picture has costs nothing.
    metric=label_micro_f1.using(ignore_unknown=True, title="Micro F1"),
    submission=Columns(id="id", target="attribute_ids", values=str, answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train.csv"), 0.15)
    write_csv(train, public / "train.csv")
    write_csv(sample_of(test, "id", attribute_ids="0 1 2"), public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
    link_file(raw / "labels.csv", public / "labels.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, part["id"] + ".png")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    kinds = ["country", "culture", "dimension", "medium", "tags"]
    labels = pd.DataFrame({"attribute_name": [f"{kinds[number // 8]}::number {number}" for number in range(40)]})
    write_csv(labels.rename_axis("attribute_id").reset_index(), raw / "labels.csv")
    has = rng.random((150, 40)) < rng.uniform(0.02, 0.2, 40)
    has[:, 0] |= has.sum(axis=1) < 2
    ids = sorted(hex_ids(rng, 150, 32))
    attributes = [" ".join(map(str, np.flatnonzero(row))) for row in has]
    write_csv(pd.DataFrame({"id": ids, "attribute_ids": attributes}), raw / "train.csv")
    for name, row in zip(ids, has, strict=True):
        pixels = row * 120 + rng.integers(0, 120, 40)
        write_bytes(raw / "train" / f"{name}.png", picture_of(pixels.reshape(5, 8)))


task.fixed(
    "Every wrong attribute counts, even one that no test picture has.",
    metric=label_micro_f1.using(title="Micro F1"),
)
