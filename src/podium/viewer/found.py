"""Looks for experiments below a folder, and reads what each one plans."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from podium.errors import PodiumError, RecordError
from podium.report.imported import FILE as IMPORTED
from podium.report.table import EXPERIMENT, Row, read_entry
from podium.runs.experiment import read_experiment
from podium.runs.record import Experiment

DEPTH = 3
"""How far below the folder experiments are looked for."""
MOST_RUNS = 1_000_000


@dataclass(frozen=True)
class Listed:
    """An experiment as the list shows it."""

    name: str
    folder: Path
    agent: str = ""
    model: str | None = None
    tasks: tuple[str, ...] = ()
    seeds: int = 0
    created: str | None = None
    plan: dict[str, Any] | None = None
    imported: bool = False
    error: str | None = None
    """Why it cannot be read."""
    counts: dict[str, int] | None = None
    """How many of its runs there are, by status, and how many are valid and have which medal."""

    @property
    def edition(self) -> str:
        return str((self.plan or {}).get("edition") or "each task's own")

    @property
    def runs(self) -> int:
        return len(self.tasks) * self.seeds

    def count(self, name: str) -> int:
        return (self.counts or {}).get(name, 0)


def find_experiments(root: Path) -> Iterator[tuple[str, tuple[Path, str]]]:
    """The experiments below a folder by their names: where each lies, and the file that makes it one."""
    file = _mark(root)
    if file is not None:
        yield root.name, (root, file)
    else:
        yield from _find_below(root, "", DEPTH)


def _find_below(folder: Path, above: str, depth: int) -> Iterator[tuple[str, tuple[Path, str]]]:
    try:
        with os.scandir(folder) as listing:
            names = sorted(each.name for each in listing if not each.name.startswith(".") and each.is_dir())
    except OSError:
        return
    for name in names:
        if not name.isprintable():  # no address leads there
            continue
        below = folder / name
        file = _mark(below)
        if file is not None:
            yield f"{above}{name}", (below, file)
        elif depth > 1:
            yield from _find_below(below, f"{above}{name}/", depth - 1)


def _mark(folder: Path) -> str | None:
    return next((file for file in (EXPERIMENT, IMPORTED) if os.path.isfile(f"{folder}/{file}")), None)  # noqa: PTH113


def stamp_of(path: Path | str) -> str:
    """What changes when a file is replaced or written to; empty when it is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116 - thousands of times a second
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}"


def read_listed(name: str, folder: Path) -> tuple[Listed, list[Row]]:
    """An experiment as it stands, without its runs unless it is an import."""
    try:
        if (folder / EXPERIMENT).exists():
            found = read_experiment(folder)
            _check_plausible(folder, found)
            plan = found.plan
            listed = Listed(name, folder, plan.agent, plan.model, found.tasks, found.seeds, found.created)
            return replace(listed, plan=plan.model_dump(mode="json")), []
        entry = read_entry(folder, name)
        listed = Listed(name, folder, entry.agent, entry.model, entry.tasks, entry.seeds, entry.created, imported=True)
        return listed, list(entry.rows)
    except (PodiumError, OSError) as error:
        return Listed(name, folder, error=str(error)), []


def _check_plausible(folder: Path, experiment: Experiment) -> None:
    """Refuses a folder, perhaps a stranger's, that would lead elsewhere or keep us busy for ever."""
    odd = [task for task in experiment.tasks if not re.fullmatch(r"[\w@-][\w.@-]*", task)]
    if odd:
        raise RecordError(f"{folder / EXPERIMENT} names a task that cannot be: {odd[0][:80]!r}.")
    if len(experiment.tasks) * experiment.seeds > MOST_RUNS:
        raise RecordError(f"{folder / EXPERIMENT} plans more than {MOST_RUNS:,} runs.")
