"""Forged competitions as tasks: their data is drawn, and their field trained, when they are prepared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from podium.catalog.forge.families import FIXED_FAMILIES, load_family
from podium.catalog.forge.forge_ids import parse_id

if TYPE_CHECKING:
    from podium.task import Task

QUICK = tuple(f"forge-{family}-medium-{seed}" for seed, family in enumerate(FIXED_FAMILIES, start=101))
"""Tasks of the suite `quick`; their fields were measured once and are stored in `fields/`."""


def forged_task(task_id: str) -> Task:
    """Return the task of an id; its data is drawn when it is prepared."""
    from podium.catalog.forge.forged_data import write_forged_data
    from podium.task import Task

    parts = parse_id(task_id)
    family = load_family(parts.family)
    task = Task(
        id=str(parts),
        title=family.title,
        kind=family.kind,
        metric=family.metric,
        submission=family.form(parts.words),
        generated=True,
        time_s=600.0,
    )

    @task.prepare
    def prepare(raw: Path, public: Path, private: Path) -> None:
        write_forged_data(parts, public, private)

    return task
