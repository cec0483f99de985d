"""Finds experiments below a folder, and reads what each one is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from podium.errors import PodiumError
from podium.report.imported_results import IMPORTED_FILE
from podium.report.results import Row, read_imported_results
from podium.runs.experiment import FILE as EXPERIMENT
from podium.runs.experiment import Experiment, read_experiment

DEPTH = 3
"""How many levels below the folder experiments are looked for."""


class Location(NamedTuple):
    """Where an experiment lies, and the file that makes the folder one."""

    folder: Path
    file: str


@dataclass(frozen=True)
class ExperimentStatus:
    """An experiment, or why it cannot be read, and how many of its runs are in which state."""

    name: str
    folder: Path
    experiment: Experiment | None
    """None if it cannot be read."""
    imported: bool = False
    error: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many runs have which status, how many are valid, and how many have which medal."""

    @property
    def runs(self) -> int:
        """How many are planned."""
        return 0 if self.experiment is None else len(self.experiment.tasks) * self.experiment.seeds

    @property
    def created(self) -> str:
        return "" if self.experiment is None else self.experiment.document.created

    def count(self, name: str) -> int:
        return self.counts.get(name, 0)


def find_experiments(root: Path) -> Iterator[tuple[str, Location]]:
    """The experiments below a folder, with their names."""
    file = _experiment_file(root)
    if file is not None:
        yield root.name, Location(root, file)
    else:
        yield from _find_below(root, "", DEPTH)


def _find_below(folder: Path, above: str, depth: int) -> Iterator[tuple[str, Location]]:
    try:
        with os.scandir(folder) as listing:
            names = sorted(each.name for each in listing if not each.name.startswith(".") and each.is_dir())
    except OSError:
        return
    for name in names:
        if not name.isprintable():  # it cannot be part of an address
            continue
        below = folder / name
        file = _experiment_file(below)
        if file is not None:
            yield f"{above}{name}", Location(below, file)
        elif depth > 1:
            yield from _find_below(below, f"{above}{name}/", depth - 1)


def _experiment_file(folder: Path) -> str | None:
    return next((file for file in (EXPERIMENT, IMPORTED_FILE) if os.path.isfile(f"{folder}/{file}")), None)  # noqa: PTH113


def stamp_of(path: Path | str) -> str:
    """What changes when a file is replaced or written to; empty when it is not there."""
    try:
        found = os.lstat(path)
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}"


def read_status(name: str, location: Location) -> tuple[ExperimentStatus, tuple[Row, ...]]:
    """An experiment, and its rows if it is an import: those of ours are read one by one."""
    folder = location.folder
    try:
        if location.file == EXPERIMENT:
            return ExperimentStatus(name, folder, read_experiment(folder)), ()
        results = read_imported_results(folder, name)
        return ExperimentStatus(name, folder, results.experiment, imported=True), results.rows
    except (PodiumError, OSError) as error:
        return ExperimentStatus(name, folder, None, error=str(error)), ()
