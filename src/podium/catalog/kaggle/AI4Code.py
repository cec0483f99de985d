"""AI4Code: in which order do the cells of a notebook stand?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    RAW_ORDER,
    hex_ids,
    link_parts,
    read_csv,
    read_json,
    write_csv,
    write_json,
    write_parts,
)
from podium.metrics import kendall_tau
from podium.task import Columns, Text, competition

TEST_NOTEBOOKS = 20_000
MINIATURE_TEST_NOTEBOOKS = 40

task = competition(
    "AI4Code",
    title="Google AI4Code: Understand Code in Python Notebooks",
    kind="ordering of notebook cells",
    metric=kendall_tau,
    submission=Columns(id="id", target="cell_order", values=Text(blank=False), answers="test_orders.csv"),
    known_leaks=RAW_ORDER,
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    orders = read_csv(raw / "train_orders.csv")
    ancestors = read_csv(raw / "train_ancestors.csv").sample(frac=1, random_state=0)
    held = ancestors.loc[ancestors["ancestor_id"].isin(_held_families(ancestors)), "id"]
    parts = [orders[~orders["id"].isin(held)], orders[orders["id"].isin(held)]]
    link_parts(parts, raw, public, files="train/{id}.json")
    shown = [" ".join(read_json(public / "test" / f"{name}.json")["cell_type"]) for name in parts[1]["id"]]
    write_parts(task.form, parts, public, private, guess={"cell_order": shown}, train="train_orders.csv")
    write_csv(ancestors[~ancestors["id"].isin(held)], public / "train_ancestors.csv")


def _held_families(ancestors: pd.DataFrame) -> list[str]:
    """Return families of related notebooks for the test part, in order of appearance, while each fits completely."""
    room = TEST_NOTEBOOKS if len(ancestors) > TEST_NOTEBOOKS else MINIATURE_TEST_NOTEBOOKS
    held = []
    for family, size in ancestors.groupby("ancestor_id", sort=False).size().items():
        if size <= room:
            held.append(str(family))
            room -= size
    return held


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    ids = sorted(hex_ids(rng, 130, 14))
    orders = [_fabricate_notebook(raw / "train" / f"{name}.json", rng) for name in ids]
    write_csv(pd.DataFrame({"id": ids, "cell_order": orders}), raw / "train_orders.csv")
    families = rng.choice(hex_ids(rng, 100, 8), len(ids))
    parents = np.where(rng.random(len(ids)) < 0.1, rng.permutation(ids), "")
    ancestors = pd.DataFrame({"id": ids, "ancestor_id": families, "parent_id": parents})
    write_csv(ancestors, raw / "train_ancestors.csv")


def _fabricate_notebook(path: Path, rng: np.random.Generator) -> str:
    """Write a notebook in which a remark names the step that follows it, and return the true order of its cells."""
    cells = hex_ids(rng, 2 * int(rng.integers(1, 7)), 8)
    remarks, code = cells[0::2], cells[1::2]
    source = {cell: f"step_{number} = run({number})" for number, cell in enumerate(code)}
    source |= {cell: f"## Step {number}" for number, cell in enumerate(remarks)}
    shown = [*code, *rng.permutation(remarks).tolist()]
    kinds = {cell: "code" if cell in code else "markdown" for cell in shown}
    notebook = {"cell_type": kinds, "source": {cell: source[cell] for cell in shown}}
    write_json(notebook, path)
    return " ".join(cells)
