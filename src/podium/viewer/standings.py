"""The leaderboard and comparisons: what experiments came to, by the statistics of reports."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from podium.catalog import suites
from podium.report.aggregate import MEDALS, RESEARCH, Measured, aggregate, arrange
from podium.report.compare import Comparison, compare
from podium.report.table import Entry, Row, task_facts
from podium.viewer.index import Index

MEASURES = ("any medal", "gold", "above median", "valid", "percentile")
SUCCESS = "success at 10 %"


@dataclass(frozen=True)
class Filters:
    """Which experiments are listed, and on which tasks."""

    suite: str = ""
    agent: str = ""
    model: str = ""
    edition: str = ""
    verified: bool = False


@dataclass(frozen=True)
class Standing:
    """One experiment on the leaderboard."""

    entry: Entry
    tasks: int
    """Of those asked for, how many it has."""
    of_tasks: int
    edition: str
    note: str
    measures: dict[str, Measured]
    ended: int
    verified: int
    miniature: bool

    @property
    def rank_key(self) -> tuple[float, float, str]:
        """By medals, then by place among people; without numbers last."""

        def of(name: str) -> float:
            return -self.measures[name].mean if name in self.measures else math.inf

        first = min(of("any medal"), of(SUCCESS))
        return first, of("percentile"), self.entry.name


class Standings:
    """Works out standings, and remembers them until an experiment changes: intervals take a while."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._known: dict[tuple[str, str], tuple[int, Standing | None]] = {}
        self._compared: dict[tuple[str, str, bool], tuple[tuple[int, int], Comparison]] = {}
        self._lock = threading.Lock()

    def read(self, filters: Filters) -> tuple[list[Standing], list[Entry]]:
        """The leaderboard, and every experiment there is."""
        entries = self._index.entries()
        passed = {key for key, verdict in self._index.verdicts().items() if verdict["passed"]}
        chosen = [entry for entry in entries if _fits(entry, filters)]
        found = []
        for entry in chosen:
            standing = self._standing(entry, filters.suite, passed)
            if standing and (not filters.verified or 0 < standing.ended == standing.verified):
                found.append(standing)
        return sorted(found, key=lambda standing: standing.rank_key), entries

    def compare(self, first: Entry, second: Entry, *, pad: bool) -> Comparison:
        """Two experiments side by side.

        Raises:
            UsageError: there is nothing that may be compared.
        """
        key = (first.name, second.name, pad)
        changed = self._index.changes(first.name), self._index.changes(second.name)
        known = self._compared.get(key)
        if known is None or known[0] != changed:
            known = changed, compare(first, second, pad=pad)
            with self._lock:
                self._compared[key] = known
        return known[1]

    def _standing(self, entry: Entry, suite: str, passed: set[tuple[str, str, int]]) -> Standing | None:
        changed = self._index.changes(entry.name)
        known = self._known.get((entry.name, suite))
        if known is None or known[0] != changed:
            known = changed, _work_out(entry, suites()[suite].tasks if suite else entry.tasks, passed)
            with self._lock:
                self._known[entry.name, suite] = known
        return known[1]


def _fits(entry: Entry, filters: Filters) -> bool:
    return (
        filters.agent in ("", entry.agent)
        and filters.model in ("", entry.model or "none")
        and filters.edition in ("", *editions_of(entry))
    )


def editions_of(entry: Entry) -> list[str]:
    """The editions of an experiment's tasks."""
    return sorted({row.edition for row in entry.rows if row.edition})


def _work_out(entry: Entry, tasks: Sequence[str], passed: set[tuple[str, str, int]]) -> Standing | None:
    wanted = set(tasks)
    rows = [row for row in entry.rows if row.task in wanted]
    if not rows:
        return None
    medal_tasks = [task for task in tasks if task_facts(task)["competition"]]
    research = [task for task in tasks if task not in set(medal_tasks)]
    medals = aggregate("all", arrange(rows, medal_tasks), {name: MEDALS[name] for name in MEASURES})
    improved = aggregate("research", arrange(rows, research), {SUCCESS: RESEARCH[SUCCESS]})
    ended = [row for row in rows if row.reported]
    return Standing(
        entry=entry,
        tasks=len({row.task for row in rows}),
        of_tasks=len(tasks),
        edition=", ".join(editions_of(entry)),
        note="; ".join(part.note for part, some in ((medals, medal_tasks), (improved, research)) if some),
        measures={**medals.measures, **improved.measures},
        ended=len(ended),
        verified=sum(_key(row) in passed for row in ended),
        miniature=any(row.miniature for row in rows),
    )


def _key(row: Row) -> tuple[str, str, int]:
    return row.experiment, row.task, row.seed
