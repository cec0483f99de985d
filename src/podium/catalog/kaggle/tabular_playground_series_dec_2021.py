"""Tabular Playground Series, December 2021: which kind of forest covers a patch of land?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import lines_beside, split_table, write_csv
from podium.metrics import accuracy
from podium.task import Columns, competition

task = competition(
    "tabular-playground-series-dec-2021",
    title="Tabular Playground Series - Dec 2021",
    kind="tabular classification",
    metric=accuracy,
    submission=Columns(id="Id", target="Cover_Type", values=int),
)
split_table(task, 0.1, guess=2, hidden="Cover_Type")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 500
    # Class 5 has a single row in the real data, too.
    cover = np.append(rng.choice([1, 2, 3, 4, 6, 7], count - 1, p=[0.36, 0.46, 0.06, 0.03, 0.04, 0.05]), 5)
    heights = np.array([0, 3130, 2920, 2400, 2220, 2780, 2420, 3360])
    table = pd.DataFrame({"Id": np.arange(count), "Elevation": heights[cover] + rng.integers(-200, 200, count)})
    for name, values in map(str.split, lines_beside(__file__)):
        table[name] = rng.integers(int(values), size=count)
    write_csv(table.assign(Cover_Type=cover), raw / "train.csv")
