"""Discovery of experiments below a folder."""

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
"""Number of folder levels to search for experiments."""


class Location(NamedTuple):
    """Folder of an experiment, and the file that identifies it."""

    folder: Path
    file: str


@dataclass(frozen=True)
class ExperimentStatus:
    """Experiment, or the reason why it cannot be read, with the number of its runs by state."""

    name: str
    folder: Path
    experiment: Experiment | None
    """None if it cannot be read."""
    imported: bool = False
    error: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    """Number of runs by status, by medal, and with a valid submission."""

    @property
    def runs(self) -> int:
        """Number of planned runs."""
        return 0 if self.experiment is None else len(self.experiment.tasks) * self.experiment.seeds

    @property
    def created(self) -> str:
        return "" if self.experiment is None else self.experiment.document.created

    def count(self, name: str) -> int:
        return self.counts.get(name, 0)


def find_experiments(root: Path) -> Iterator[tuple[str, Location]]:
    """Yield the experiments below a folder with their names."""
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
        if not name.isprintable():  # cannot be part of an address
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
    """Return a fingerprint that changes when a file is replaced or written, "" without the file."""
    try:
        found = os.lstat(path)
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}"


def read_status(name: str, location: Location) -> tuple[ExperimentStatus, tuple[Row, ...]]:
    """Return the status of an experiment, with its rows if it is an import; other runs are read one by one."""
    folder = location.folder
    try:
        if location.file == EXPERIMENT:
            return ExperimentStatus(name, folder, read_experiment(folder)), ()
        results = read_imported_results(folder, name)
        return ExperimentStatus(name, folder, results.experiment, imported=True), results.rows
    except (PodiumError, OSError) as error:
        return ExperimentStatus(name, folder, None, error=str(error)), ()
