"""Playground Series, season 3, episode 18: with which classes of enzymes does a molecule react?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import lines_beside, split_table, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, competition

CLASSES = [f"EC{number}" for number in range(1, 7)]

task = competition(
    "playground-series-s3e18",
    title="Explore Multi-Label Classification with an Enzyme Substrate Dataset",
    kind="tabular classification",
    metric=roc_auc,
    submission=Columns(id="id", target=("EC1", "EC2"), values=float),
)
split_table(task, 0.1, guess=0.5, hidden=CLASSES)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    columns = lines_beside(__file__)
    size = rng.gamma(3, 1, 300)
    values = size[:, None] * rng.uniform(0.5, 90, len(columns)) + rng.normal(0, 3, (len(size), len(columns)))
    table = pd.DataFrame(values, columns=columns).astype({"NumHeteroatoms": int})
    table.insert(0, "id", np.arange(len(table)))
    table["fr_COO"] = table["fr_COO2"] = rng.poisson(0.5, len(table))
    for name, share in zip(CLASSES, [0.67, 0.80, 0.31, 0.28, 0.14, 0.16], strict=True):
        strength = size + rng.normal(0, 1.5, len(size))
        table[name] = (strength > np.quantile(strength, 1 - share)).astype(int)
    write_csv(table, raw / "train.csv")
