"""SETI Breakthrough Listen: does a radio signal come from where the telescope points?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids
from podium.data.files import link_file, link_tree
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "seti-breakthrough-listen",
    title="SETI Breakthrough Listen - E.T. Signal Search",
    kind="signal classification",
    metric=roc_auc,
    submission=Columns(id="id", target="target", values=Number(0, 1)),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train_labels.csv"), 0.1)
    write_csv(train, public / "train_labels.csv")
    write_csv(sample_of(test, "id", target=0.5), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    for part, folder in ((train, "train"), (test, "test")):
        for name in part["id"]:
            link_file(raw / "train" / name[0] / f"{name}.npy", public / folder / name[0] / f"{name}.npy")
    link_tree(raw / "old_leaky_data", public / "old_leaky_data")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    ids = hex_ids(rng, 170, 15)
    table = pd.DataFrame({"id": ids, "target": (rng.random(170) < 0.3).astype(int)})
    old = raw / "old_leaky_data"
    for rows, folder in ((table[:150], raw / "train"), (table[150:], old / "train_old")):
        for name, target in rows.itertuples(index=False):
            snippet = rng.normal(0, 1, (6, 27, 25))
            snippet[::2, :, 12] += 2 * target
            (folder / name[0]).mkdir(parents=True, exist_ok=True)
            np.save(folder / name[0] / f"{name}.npy", snippet.astype(np.float16))
    write_csv(table[:150], raw / "train_labels.csv")
    write_csv(table[150:], old / "train_labels_old.csv")
