"""iMet Collection 2020: which attributes does the work of art have?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, picture_of, split_table, write_bytes, write_csv
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
split_table(task, 0.15, guess="0 1 2", files="train/{id}.png", shared=["labels.csv"])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    kinds = ["country", "culture", "dimension", "medium", "tags"]
    names = [f"{kinds[number // 8]}::number {number}" for number in range(40)]
    write_csv(pd.DataFrame({"attribute_id": range(40), "attribute_name": names}), raw / "labels.csv")
    has = rng.random((150, 40)) < rng.uniform(0.02, 0.2, 40)
    has[:, 0] |= has.sum(axis=1) < 2
    ids = sorted(hex_ids(rng, 150, 32))
    attributes = [" ".join(map(str, np.flatnonzero(row))) for row in has]
    write_csv(pd.DataFrame({"id": ids, "attribute_ids": attributes}), raw / "train.csv")
    for name, row in zip(ids, has, strict=True):
        pixels = row * 120 + rng.integers(0, 120, 40)
        write_bytes(raw / "train" / f"{name}.png", picture_of(pixels.reshape(5, 8)))


task.fixed(
    "Every wrong attribute counts, even one that no test picture has.", metric=label_micro_f1.using(title="Micro F1")
)
