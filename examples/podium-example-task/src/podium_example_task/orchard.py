"""Which trees bear fruit?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import split_table, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Leaderboard, Number, competition

task = competition(
    "example-orchard",
    title="Orchard",
    kind="tabular classification",
    metric=roc_auc,
    submission=Columns(id="tree", target="bears", values=Number(0, 1)),
    leaderboard=Leaderboard(lower_is_better=False, gold=0.97, silver=0.9, bronze=0.6, median=0.5),
)
split_table(task, 0.25, guess=0.5, hidden="bears")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    age = rng.integers(1, 40, 400)
    bears = (age + rng.normal(0, 6, 400) > 15).astype(int)
    write_csv(pd.DataFrame({"tree": np.arange(400), "age": age, "bears": bears}), raw / "train.csv")
