"""Index of all experiments and their runs.

A refresh checks the timestamps of `experiment.json` and `run.json` and reads only changed files.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from podium.report.results import Results, Row, RunKey, read_row
from podium.runs.experiment import FILE as EXPERIMENT
from podium.runs.experiment import Experiment
from podium.runs.records import ExperimentDocument
from podium.viewer.index.find_experiments import ExperimentStatus, find_experiments, read_status, stamp_of
from podium.viewer.index.index_database import IndexDatabase

MIN_PAUSE_S = 0.5
PAUSE_FACTOR = 20
"""Pause after a refresh as a multiple of its duration, to spare slow disks."""
SORTS = {
    "": "position",
    "status": "status, position",
    "medal": "CASE medal WHEN 'gold' THEN 0 WHEN 'silver' THEN 1 WHEN 'bronze' THEN 2 ELSE 3 END, position",
    "percentile": "percentile DESC NULLS LAST, position",
    "steps": "steps DESC NULLS LAST, position",
    "time": "working_s DESC NULLS LAST, position",
    "cost": "cost DESC NULLS LAST, position",
}
"""Sort orders of runs, as SQL."""
_ROW_FIELDS = tuple(field.name for field in fields(Row) if field.name not in ("experiment", "task", "seed", "folder"))


@dataclass(frozen=True)
class StoredVerification:
    """Result of verifying a run, and its time."""

    time: str
    checks: dict[str, str]
    """Result of each check: "ok" or the problem."""

    @property
    def passed(self) -> bool:
        return bool(self.checks) and all(result == "ok" for result in self.checks.values())


class TaskCounts(NamedTuple):
    """Number of runs of a task by outcome."""

    task: str
    runs: int
    experiments: int
    valid: int
    medals: int
    gold: int


class ExperimentIndex:
    """Thread-safe index of the experiments below a folder."""

    def __init__(self, root: Path, file: Path) -> None:
        self.root = root.resolve()
        self.generation = 0
        """Counter of detected changes."""
        self._database = IndexDatabase(file)
        self._lock = threading.RLock()
        self._next = 0.0
        self._stamps: dict[str, str] = {}
        self._runs: dict[RunKey, str] = {}
        self._experiments: dict[str, ExperimentStatus] = {}
        self._changed: dict[str, int] = {}
        self._results: dict[str, tuple[int, Results]] = {}
        self._load_stored()

    def close(self) -> None:
        self._database.close()

    def refresh(self, *, now: bool = False) -> int:
        """Read changed files, at most once per pause, and return the generation."""
        with self._lock:
            started = time.monotonic()
            if started >= self._next or now:
                self._refresh()
                if self._database.rebuilds != self._rebuilds:
                    self._load_stored()
                    self._refresh()
                ended = time.monotonic()
                self._next = ended + max(MIN_PAUSE_S, PAUSE_FACTOR * (ended - started))
            return self.generation

    def changes(self, name: str) -> int:
        """Return the generation in which an experiment last changed."""
        return self._changed.get(name, 0)

    def experiments(self) -> list[ExperimentStatus]:
        """Return all experiments, newest first."""
        self.refresh()
        counts = self._counts()
        with self._lock:
            found = [replace(status, counts=counts.get(name, {})) for name, status in self._experiments.items()]
        by_name = sorted(found, key=lambda status: status.name)
        return sorted(by_name, key=lambda status: status.created, reverse=True)

    def experiment(self, name: str) -> ExperimentStatus | None:
        """Return an experiment by name."""
        self.refresh()
        with self._lock:
            status = self._experiments.get(name)
        return None if status is None else replace(status, counts=self._counts(name).get(name, {}))

    def rows(
        self, name: str, *, sort: str = "", status: str = "", offset: int = 0, limit: int = -1
    ) -> tuple[list[Row], int]:
        """Return a page of an experiment's runs, and the number of runs with that status."""
        where, values = ("experiment = ? AND status = ?", [name, status]) if status else ("experiment = ?", [name])
        total = self._database.query(f"SELECT count(*) FROM runs WHERE {where}", values)
        found = self._database.query(
            f"SELECT task, seed, document FROM runs WHERE {where} ORDER BY {SORTS[sort]} LIMIT ? OFFSET ?",
            [*values, limit, offset],
        )
        experiment = self._own_experiment(name)
        return [_row(name, experiment, *each) for each in found], total[0][0] if total else 0

    def row(self, key: RunKey) -> Row | None:
        """Return one run."""
        self.refresh()
        found = self._database.query(
            "SELECT task, seed, document FROM runs WHERE experiment = ? AND task = ? AND seed = ?", key
        )
        return _row(key.experiment, self._own_experiment(key.experiment), *found[0]) if found else None

    def task_rows(self, task: str, limit: int) -> list[Row]:
        """Return the started runs of a task in all experiments."""
        self.refresh()
        found = self._database.query(
            "SELECT experiment, task, seed, document FROM runs WHERE task = ? AND status != 'missing' LIMIT ?",
            [task, limit],
        )
        return [_row(name, self._own_experiment(name), *rest) for name, *rest in found]

    def task_counts(self) -> list[TaskCounts]:
        """Return the number of runs of each task by outcome, over all experiments."""
        self.refresh()
        found = self._database.query(
            "SELECT task, count(*), count(DISTINCT experiment), sum(valid), sum(medal IS NOT NULL), "
            "sum(medal IS 'gold') FROM runs WHERE status != 'missing' GROUP BY task ORDER BY task"
        )
        return [TaskCounts(*each) for each in found]

    def all_results(self) -> list[Results]:
        """Return all readable experiments with all rows, for statistics."""
        return [results for each in self.experiments() if (results := self._known_results(each)) is not None]

    def results(self, name: str) -> Results | None:
        """Return an experiment with all rows, or None if it does not exist or cannot be read."""
        status = self.experiment(name)
        return None if status is None else self._known_results(status)

    def _known_results(self, status: ExperimentStatus) -> Results | None:
        name = status.name
        if status.experiment is None:
            return None
        changed = self.changes(name)
        known = self._results.get(name)
        if known is None or known[0] != changed:
            known = changed, Results(name, status.experiment, tuple(self.rows(name)[0]), imported=status.imported)
            self._results[name] = known
        return known[1]

    def verifications(self, name: str | None = None) -> dict[RunKey, StoredVerification]:
        """Return the verifications of runs that have not changed since."""
        where, values = ("WHERE experiment = ?", [name]) if name is not None else ("", [])
        found = self._database.query(
            f"SELECT experiment, task, seed, stamp, time, checks FROM verifications {where}", values
        )
        return {
            key: StoredVerification(when, json.loads(checks))
            for *parts, stamp, when, checks in found
            if stamp == self.stamp_of(key := RunKey(*parts))
        }

    def put_verification(self, key: RunKey, stamp: str, found: StoredVerification) -> None:
        """Store the verification of a run that had the given stamp."""
        values = (*key, stamp, found.time, json.dumps(found.checks))
        self._database.execute([("INSERT OR REPLACE INTO verifications VALUES (?, ?, ?, ?, ?, ?)", [values])])
        with self._lock:
            self._note_change(key.experiment)

    def stamp_of(self, key: RunKey) -> str:
        """Return a fingerprint of the files that verification reads, and of the file lists of its folders."""
        experiment = self._own_experiment(key.experiment)
        if experiment is None:
            return self._runs.get(key, "")
        run = experiment.run(key.task, key.seed)
        history = [run.history / part for part in ("segments", "head")]
        files = (experiment.folder / EXPERIMENT, run.journal, run.curve, run.submission, run.files, *history)
        return " ".join([self._runs.get(key, ""), *map(stamp_of, files)])

    def _own_experiment(self, name: str) -> Experiment | None:
        """Return a Podium experiment; None for an import, which has no run folders."""
        status = self._experiments.get(name)
        return None if status is None or status.imported else status.experiment

    def _note_change(self, name: str) -> None:
        self.generation += 1
        self._changed[name] = self.generation

    def _load_stored(self) -> None:
        """Load the content stored by an earlier viewer."""
        self._rebuilds = self._database.rebuilds
        stored = self._database.query("SELECT name, stamp, document FROM experiments")
        self._stamps = {name: stamp for name, stamp, _ in stored}
        self._experiments = {name: _parse_status(name, document) for name, _, document in stored}
        runs = self._database.query("SELECT experiment, task, seed, stamp FROM runs")
        self._runs = {RunKey(*key): stamp for *key, stamp in runs}

    def _refresh(self) -> None:
        found = dict(find_experiments(self.root))
        changed_runs: list[tuple[Any, ...]] = []
        changed_experiments: list[tuple[Any, ...]] = []
        gone = [name for name in self._stamps if name not in found]
        renewed: list[str] = []
        for name, location in found.items():
            stamp = stamp_of(location.folder / location.file)
            if self._stamps.get(name) != stamp or self._experiments[name].folder != location.folder:
                status, imported = read_status(name, location)
                self._forget(name)
                self._stamps[name], self._experiments[name] = stamp, status
                changed_experiments.append((name, stamp, _status_document(status)))
                renewed.append(name)
                for position, row in enumerate(imported):
                    self._runs[row.key] = stamp
                    changed_runs.append(_run_values(row, position, stamp))
            changed_runs += self._changed_runs(name)
        for name in gone:
            self._forget(name)
            del self._stamps[name], self._experiments[name]
        if changed_runs or changed_experiments or gone:
            self._database.execute(
                [
                    ("DELETE FROM experiments WHERE name = ?", [(name,) for name in gone]),
                    ("DELETE FROM runs WHERE experiment = ?", [(name,) for name in (*gone, *renewed)]),
                    ("INSERT OR REPLACE INTO experiments VALUES (?, ?, ?)", changed_experiments),
                    (f"INSERT OR REPLACE INTO runs VALUES ({', '.join('?' * 13)})", changed_runs),
                ]
            )

    def _forget(self, name: str) -> None:
        self._results.pop(name, None)
        self._runs = {key: stamp for key, stamp in self._runs.items() if key.experiment != name}
        self._note_change(name)

    def _changed_runs(self, name: str) -> Iterator[tuple[Any, ...]]:
        """Yield the values of all runs of an experiment whose record has changed."""
        experiment = self._own_experiment(name)
        if experiment is None:
            return
        position = 0
        for task in experiment.tasks:
            for seed in range(experiment.seeds):
                key = RunKey(name, task, seed)
                stamp = stamp_of(f"{experiment.folder}/{task}/{seed}/run.json")
                if self._runs.get(key) != stamp:
                    row = read_row(experiment, name, task, seed)
                    self._runs[key] = stamp
                    self._note_change(name)
                    yield _run_values(row, position, stamp)
                position += 1

    def _counts(self, name: str | None = None) -> dict[str, dict[str, int]]:
        where, values = ("WHERE experiment = ?", [name]) if name is not None else ("", [])
        counts: dict[str, dict[str, int]] = {}
        for experiment, status, medal, runs, valid in self._database.query(
            f"SELECT experiment, status, medal, count(*), sum(valid) FROM runs {where} GROUP BY 1, 2, 3", values
        ):
            of = counts.setdefault(experiment, {})
            for key, number in ((status, runs), ("valid", valid), *([(medal, runs)] if medal else [])):
                of[key] = of.get(key, 0) + number
        return counts


def _status_document(status: ExperimentStatus) -> str:
    document = None if status.experiment is None else status.experiment.document.model_dump(mode="json")
    facts = {"folder": str(status.folder), "imported": status.imported, "error": status.error}
    return json.dumps({**facts, "experiment": document})


def _parse_status(name: str, document: str) -> ExperimentStatus:
    facts = json.loads(document)
    folder, found = Path(facts["folder"]), facts["experiment"]
    experiment = None if found is None else Experiment(folder, ExperimentDocument.model_validate(found))
    return ExperimentStatus(name, folder, experiment, imported=facts["imported"], error=facts["error"])


def _run_values(row: Row, position: int, stamp: str) -> tuple[Any, ...]:
    document = json.dumps({name: getattr(row, name) for name in _ROW_FIELDS})
    shown = (row.status, row.valid, row.medal, row.percentile, row.steps, row.working_s, row.cost)
    return (*row.key, position, stamp, *shown, document)


def _row(name: str, experiment: Experiment | None, task: str, seed: int, document: str) -> Row:
    folder = None if experiment is None else experiment.run(task, seed).path
    return Row(experiment=name, task=task, seed=seed, folder=folder, **json.loads(document))
