"""SETI Breakthrough Listen: does a radio signal come from where the telescope points?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, split_table, write_array, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "seti-breakthrough-listen",
    title="SETI Breakthrough Listen - E.T. Signal Search",
    kind="signal classification",
    metric=roc_auc,
    submission=Columns(id="id", target="target", values=Number(0, 1)),
)
split_table(task, 0.1, table="train_labels.csv", guess=0.5, files="train/{id[0]}/{id}.npy", shared=["old_leaky_data"])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    ids = hex_ids(rng, 170, 15)
    table = pd.DataFrame({"id": ids, "target": (rng.random(170) < 0.3).astype(int)})
    old = raw / "old_leaky_data"
    for rows, folder in ((table[:150], raw / "train"), (table[150:], old / "train_old")):
        for name, target in rows.itertuples(index=False):
            snippet = rng.normal(0, 1, (6, 27, 25))
            snippet[::2, :, 12] += 2 * target
            write_array(snippet.astype(np.float16), folder / name[0] / f"{name}.npy")
    write_csv(table[:150], raw / "train_labels.csv")
    write_csv(table[150:], old / "train_labels_old.csv")
