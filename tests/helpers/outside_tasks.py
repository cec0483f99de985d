"""Task files outside the source tree, as tests write them."""

from __future__ import annotations

from pathlib import Path

TASK_FILE = '''"""Which trees bear fruit?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import split_table, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Leaderboard, Number, competition

task = competition(
    "{id}",
    title="Fruit of the {id}",
    kind="tabular classification",
    metric=roc_auc,
    submission=Columns(id="tree", target="bears", values=Number(0, 1)),
    leaderboard=Leaderboard(lower_is_better=False, gold=0.95, silver=0.9, bronze=0.6, median=0.5),
)
split_table(task, 0.25, guess=0.5, hidden="bears")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    age = rng.integers(1, 40, 200)
    bears = (age + rng.normal(0, 6, 200) > 15).astype(int)
    write_csv(pd.DataFrame({{"tree": np.arange(200), "age": age, "bears": bears}}), raw / "train.csv")
'''


def write_task(folder: Path, task_id: str = "orchard", *, brief: str | None = None) -> Path:
    """A working task file in a folder, with its brief beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{task_id.replace('-', '_')}.py"
    path.write_text(TASK_FILE.format(id=task_id), encoding="utf-8")
    path.with_name(brief or f"{task_id}.md").write_text(
        f"# {task_id}\n\nSay which trees bear fruit.\n", encoding="utf-8"
    )
    return path


def write_suite(folder: Path, name: str, *lines: str) -> Path:
    """A suite's file in a folder of tasks."""
    path = folder / "suites" / f"{name}.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
