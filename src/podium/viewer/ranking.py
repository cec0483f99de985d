"""The leaderboard and comparisons, by the statistics of reports."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from podium.catalog import suites
from podium.report.aggregate import MEDALS, RESEARCH, Estimate, aggregate, arrange
from podium.report.compare import Comparison, compare
from podium.report.table import Results, RunKey, task_facts
from podium.viewer.index import Index

MEASURES = ("any_medal", "gold", "above_median", "valid", "percentile")
SUCCESS = "improved"


@dataclass(frozen=True)
class Filters:
    """Which experiments are listed, and on which tasks."""

    suite: str = ""
    agent: str = ""
    model: str = ""
    edition: str = ""
    verified: bool = False


@dataclass(frozen=True)
class RankedExperiment:
    """One experiment on the leaderboard."""

    results: Results
    tasks: int
    """Of those asked for, how many it has."""
    of_tasks: int
    edition: str
    note: str
    measures: dict[str, Estimate]
    ended: int
    verified: int
    miniature: bool

    @property
    def rank_key(self) -> tuple[float, float, str]:
        """By medals, then by percentile; experiments without numbers come last."""

        def of(name: str) -> float:
            return -self.measures[name].mean if name in self.measures else math.inf

        first = min(of("any_medal"), of(SUCCESS))
        return first, of("percentile"), self.results.name


class Ranking:
    """Ranks experiments, and remembers their numbers until an experiment changes: intervals take a while."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._known: dict[tuple[str, str], tuple[int, RankedExperiment | None]] = {}
        self._compared: dict[tuple[str, str, bool], tuple[tuple[int, int], Comparison]] = {}
        self._lock = threading.Lock()

    def read(self, filters: Filters) -> tuple[list[RankedExperiment], list[Results]]:
        """The leaderboard, and every experiment there is."""
        everything = self._index.all_results()
        passed = {key for key, found in self._index.verifications().items() if found.passed}
        chosen = [self._ranked(results, filters.suite, passed) for results in everything if _fits(results, filters)]
        listed = [each for each in chosen if each and (not filters.verified or 0 < each.ended == each.verified)]
        return sorted(listed, key=lambda ranked: ranked.rank_key), everything

    def compare(self, first: Results, second: Results, *, pad: bool) -> Comparison:
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

    def _ranked(self, results: Results, suite: str, passed: set[RunKey]) -> RankedExperiment | None:
        changed = self._index.changes(results.name)
        known = self._known.get((results.name, suite))
        if known is None or known[0] != changed:
            known = changed, _rank(results, suites()[suite].tasks if suite else results.tasks, passed)
            with self._lock:
                self._known[results.name, suite] = known
        return known[1]


def _fits(results: Results, filters: Filters) -> bool:
    return (
        filters.agent in ("", results.plan.agent)
        and filters.model in ("", results.plan.model or "none")
        and filters.edition in ("", *editions_of(results))
    )


def editions_of(results: Results) -> list[str]:
    """The editions of an experiment's tasks."""
    return sorted({row.edition for row in results.rows if row.edition})


def _rank(results: Results, tasks: Sequence[str], passed: set[RunKey]) -> RankedExperiment | None:
    wanted = set(tasks)
    rows = [row for row in results.rows if row.task in wanted]
    if not rows:
        return None
    medal_tasks = [task for task in tasks if task_facts(task)["competition"]]
    research = [task for task in tasks if task not in set(medal_tasks)]
    medals = aggregate("all", arrange(rows, medal_tasks), {name: MEDALS[name] for name in MEASURES})
    improved = aggregate("research", arrange(rows, research), {SUCCESS: RESEARCH[SUCCESS]})
    ended = [row for row in rows if row.reported]
    return RankedExperiment(
        results=results,
        tasks=len({row.task for row in rows}),
        of_tasks=len(tasks),
        edition=", ".join(editions_of(results)),
        note="; ".join(part.note for part, some in ((medals, medal_tasks), (improved, research)) if some),
        measures={**medals.measures, **improved.measures},
        ended=len(ended),
        verified=sum(row.key in passed for row in ended),
        miniature=any(row.miniature for row in rows),
    )
