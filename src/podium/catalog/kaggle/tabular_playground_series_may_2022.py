"""Tabular Playground Series, May 2022: in which of two states is the machine?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import read_csv, split_rows, write_csv, write_parts
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "tabular-playground-series-may-2022",
    title="Tabular Playground Series - May 2022",
    kind="tabular classification",
    metric=roc_auc,
    submission=Columns(id="id", target="target", values=Number(0, 1)),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train.csv"), 100_000)
    train, test = train.assign(id=np.arange(len(train))), test.assign(id=np.arange(len(test)) + len(train))
    write_parts(task.form, (train, test), public, private, guess=0.5, hidden="target")
    write_csv(test[["id", "target"]], private / "gold_submission.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 400
    numbers, counts = rng.normal(size=(count, 31)), rng.poisson(2, (count, 31))
    table = pd.DataFrame({"id": np.arange(count)})
    for column in range(31):
        table[f"f_{column:02d}"] = counts[:, column] if 7 <= column <= 18 else numbers[:, column]
    table["f_27"] = ["".join(letters) for letters in rng.choice(list("ABCDEFGHIJKLMNOPQRST"), (count, 10))]
    table["f_29"], table["f_30"] = rng.integers(2, size=count), rng.integers(3, size=count)
    strength = 2 * table["f_02"] + table["f_21"] * (table["f_30"] - 1) + 0.3 * (table["f_07"] - 2)
    write_csv(table.assign(target=(strength + rng.normal(size=count) > 0).astype(int)), raw / "train.csv")
