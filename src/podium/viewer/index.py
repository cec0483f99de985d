"""What there is: experiments and their runs, known without opening each one again.

A refresh looks at the times of `experiment.json` and `run.json` and reads only those that have changed.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from podium.report.table import Entry, Row, read_row
from podium.runs.record import Plan
from podium.viewer.found import Listed, find_experiments, read_listed, stamp_of
from podium.viewer.store import Store

LEAST_PAUSE_S = 0.5
PAUSE_FACTOR = 20
"""A refresh is followed by a pause so many times as long, so that watching a slow disk does not keep it busy."""
SORTS = {
    "": "place",
    "status": "status, place",
    "medal": "CASE medal WHEN 'gold' THEN 0 WHEN 'silver' THEN 1 WHEN 'bronze' THEN 2 ELSE 3 END, place",
    "percentile": "percentile DESC NULLS LAST, place",
    "steps": "steps DESC NULLS LAST, place",
    "time": "working_s DESC NULLS LAST, place",
    "cost": "cost DESC NULLS LAST, place",
}
"""The orders that runs can be listed in."""
_ROW_FIELDS = tuple(field.name for field in fields(Row) if field.name not in ("experiment", "task", "seed", "folder"))
Key = tuple[str, str, int]


class Index:
    """The experiments below a folder. All methods may be called from any thread."""

    def __init__(self, root: Path, file: Path) -> None:
        self.root = root.resolve()
        self.generation = 0
        """Grows with every change that is noticed."""
        self._store = Store(file)
        self._lock = threading.RLock()
        self._next = 0.0
        self._known: dict[str, str] = {}
        self._runs: dict[Key, str] = {}
        self._listed: dict[str, Listed] = {}
        self._changed: dict[str, int] = {}
        self._entries: dict[str, tuple[int, Entry]] = {}
        self._recall()

    def close(self) -> None:
        self._store.close()

    def refresh(self, *, now: bool = False) -> int:
        """Takes in what has changed, unless that was done a moment ago; the generation."""
        with self._lock:
            started = time.monotonic()
            if started >= self._next or now:
                self._refresh()
                if self._store.made_anew != self._made_anew:
                    self._recall()
                    self._refresh()
                ended = time.monotonic()
                self._next = ended + max(LEAST_PAUSE_S, PAUSE_FACTOR * (ended - started))
            return self.generation

    def changes(self, name: str) -> int:
        """The generation in which an experiment changed last."""
        return self._changed.get(name, 0)

    def experiments(self) -> list[Listed]:
        """All experiments, the newest first."""
        self.refresh()
        counts = self._counts()
        with self._lock:
            found = [replace(listed, counts=counts.get(name, {})) for name, listed in self._listed.items()]
        by_name = sorted(found, key=lambda listed: listed.name)
        return sorted(by_name, key=lambda listed: listed.created or "", reverse=True)

    def experiment(self, name: str) -> Listed | None:
        """One experiment by its name."""
        self.refresh()
        with self._lock:
            listed = self._listed.get(name)
        return None if listed is None else replace(listed, counts=self._counts(name).get(name, {}))

    def rows(
        self, name: str, *, sort: str = "", status: str = "", offset: int = 0, limit: int = -1
    ) -> tuple[list[Row], int]:
        """Some runs of an experiment, and how many there are of that status."""
        where, values = ("experiment = ? AND status = ?", [name, status]) if status else ("experiment = ?", [name])
        total = self._store.ask(f"SELECT count(*) FROM runs WHERE {where}", values)
        found = self._store.ask(
            f"SELECT task, seed, document FROM runs WHERE {where} ORDER BY {SORTS[sort]} LIMIT ? OFFSET ?",
            [*values, limit, offset],
        )
        folder = self._run_folders(name)
        return [_row(name, folder, *each) for each in found], total[0][0] if total else 0

    def row(self, name: str, task: str, seed: int) -> Row | None:
        """One run."""
        self.refresh()
        found = self._store.ask(
            "SELECT task, seed, document FROM runs WHERE experiment = ? AND task = ? AND seed = ?", [name, task, seed]
        )
        return _row(name, self._run_folders(name), *found[0]) if found else None

    def entries(self) -> list[Entry]:
        """Every experiment that can be read, with all its runs, for statistics."""
        return [entry for each in self.experiments() if (entry := self._entry(each)) is not None]

    def entry(self, name: str) -> Entry | None:
        """One experiment with all its runs; None if there is none or it cannot be read."""
        listed = self.experiment(name)
        return None if listed is None else self._entry(listed)

    def _entry(self, listed: Listed) -> Entry | None:
        if listed.error is not None:
            return None
        changed = self.changes(listed.name)
        known = self._entries.get(listed.name)
        if known is None or known[0] != changed:
            known = changed, _entry(listed, self.rows(listed.name)[0])
            self._entries[listed.name] = known
        return known[1]

    def verdicts(self, name: str | None = None) -> dict[Key, dict[str, Any]]:
        """What verifying has found, of runs that have not changed since."""
        where, values = ("WHERE experiment = ?", [name]) if name is not None else ("", [])
        found = self._store.ask(
            f"SELECT experiment, task, seed, stamp, time, document FROM verdicts {where}",
            values,
        )
        return {
            (name, task, seed): {"time": when, **json.loads(text)}
            for name, task, seed, stamp, when, text in found
            if stamp == self.stamp_of((name, task, seed))
        }

    def put_verdict(self, key: Key, stamp: str, *, when: str, document: dict[str, Any]) -> None:
        """Keeps what verifying a run has found when it bore that stamp."""
        values = (*key, stamp, when, bool(document.get("passed")), json.dumps(document))
        self._store.change([("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)", [values])])
        with self._lock:
            self._note_change(key[0])

    def stamp_of(self, key: Key) -> str:
        """What changes when the record or the journal of a run changes."""
        name, task, seed = key
        journal = self._folder(name) / task / str(seed) / "steps.jsonl"
        return f"{self._runs.get(key, '')} {stamp_of(journal)}"

    def _folder(self, name: str) -> Path:
        listed = self._listed.get(name)
        return self.root / name if listed is None else listed.folder

    def _run_folders(self, name: str) -> Path | None:
        """The folder that holds an experiment's runs; None for an import, which has none."""
        listed = self._listed.get(name)
        return None if listed is None or listed.imported else listed.folder

    def _note_change(self, name: str) -> None:
        self.generation += 1
        self._changed[name] = self.generation

    def _recall(self) -> None:
        """Takes over what an earlier viewer has stored."""
        self._made_anew = self._store.made_anew
        self._known, self._listed = {}, {}
        for name, stamp, document in self._store.ask("SELECT name, stamp, document FROM experiments"):
            facts = json.loads(document)
            listed = Listed(name, Path(facts.pop("folder")), **facts | {"tasks": tuple(facts["tasks"])})
            self._known[name], self._listed[name] = stamp, listed
        stored = self._store.ask("SELECT experiment, task, seed, stamp FROM runs")
        self._runs = {(name, task, seed): stamp for name, task, seed, stamp in stored}

    def _refresh(self) -> None:
        found = dict(find_experiments(self.root))
        changed_runs: list[tuple[Any, ...]] = []
        changed_experiments: list[tuple[Any, ...]] = []
        gone = [name for name in self._known if name not in found]
        renewed: list[str] = []
        for name, (folder, file) in found.items():
            stamp = stamp_of(folder / file)
            if self._known.get(name) != stamp or self._listed[name].folder != folder:
                listed, imported = read_listed(name, folder)
                self._known[name], self._listed[name] = stamp, listed
                changed_experiments.append((name, stamp, listed.created, _listed_document(listed)))
                renewed.append(name)
                self._note_change(name)
                self._runs = {key: value for key, value in self._runs.items() if key[0] != name}
                for place, row in enumerate(imported):
                    self._runs[name, row.task, row.seed] = stamp
                    changed_runs.append(_run_values(row, place, stamp))
            changed_runs += self._changed_runs(self._listed[name])
        for name in gone:
            del self._known[name], self._listed[name]
            self._entries.pop(name, None)
            self._runs = {key: value for key, value in self._runs.items() if key[0] != name}
            self._note_change(name)
        if changed_runs or changed_experiments or gone:
            self._store.change(
                [
                    ("DELETE FROM experiments WHERE name = ?", [(name,) for name in gone]),
                    ("DELETE FROM runs WHERE experiment = ?", [(name,) for name in (*gone, *renewed)]),
                    ("INSERT OR REPLACE INTO experiments VALUES (?, ?, ?, ?)", changed_experiments),
                    (f"INSERT OR REPLACE INTO runs VALUES ({', '.join('?' * 13)})", changed_runs),
                ]
            )

    def _changed_runs(self, listed: Listed) -> Iterator[tuple[Any, ...]]:
        """The values of all runs of an experiment whose record is new."""
        if listed.imported or listed.error or listed.plan is None:
            return
        plan: Plan | None = None
        place = 0
        for task in listed.tasks:
            for seed in range(listed.seeds):
                stamp = stamp_of(f"{listed.folder}/{task}/{seed}/run.json")
                if self._runs.get((listed.name, task, seed)) != stamp:
                    plan = plan or Plan.model_validate(listed.plan)
                    row = read_row(listed.folder, listed.name, plan, task, seed)
                    self._runs[listed.name, task, seed] = stamp
                    self._note_change(listed.name)
                    yield _run_values(row, place, stamp)
                place += 1

    def _counts(self, name: str | None = None) -> dict[str, dict[str, int]]:
        where, values = ("WHERE experiment = ?", [name]) if name is not None else ("", [])
        counts: dict[str, dict[str, int]] = {}
        for experiment, status, medal, runs, valid in self._store.ask(
            f"SELECT experiment, status, medal, count(*), sum(valid) FROM runs {where} GROUP BY 1, 2, 3", values
        ):
            of = counts.setdefault(experiment, {})
            for key, number in ((status, runs), ("valid", valid), *([(medal, runs)] if medal else [])):
                of[key] = of.get(key, 0) + number
        return counts


def _listed_document(listed: Listed) -> str:
    facts = {field.name: getattr(listed, field.name) for field in fields(listed)}
    return json.dumps({name: value for name, value in facts.items() if name not in ("name", "counts")}, default=str)


def _run_values(row: Row, place: int, stamp: str) -> tuple[Any, ...]:
    document = json.dumps({name: getattr(row, name) for name in _ROW_FIELDS})
    shown = (row.status, row.valid, row.medal, row.percentile, row.steps, row.working_s, row.cost)
    return (row.experiment, row.task, row.seed, place, stamp, *shown, document)


def _row(name: str, folder: Path | None, task: str, seed: int, document: str) -> Row:
    own = None if folder is None else folder / task / str(seed)
    return Row(experiment=name, task=task, seed=seed, folder=own, **json.loads(document))


def _entry(listed: Listed, rows: list[Row]) -> Entry:
    return Entry(
        name=listed.name,
        folder=listed.folder,
        agent=listed.agent,
        model=listed.model,
        tasks=listed.tasks,
        seeds=listed.seeds,
        created=listed.created,
        rows=tuple(rows),
        plan=listed.plan or {},
        imported=listed.imported,
    )
