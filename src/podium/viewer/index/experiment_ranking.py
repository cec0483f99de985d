"""Leaderboard and comparisons of experiments, with the statistics of reports."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from podium.catalog.registry import suites
from podium.report.aggregate import COMPETITION_VALUES, Estimate, aggregate, arrange, research_values
from podium.report.comparison import Comparison, compare
from podium.report.results import Results, RunKey, task_facts
from podium.viewer.index.experiment_index import ExperimentIndex

MEASURES = ("any_medal", "gold", "above_median", "valid", "percentile")
SUCCESS = "improved"


@dataclass(frozen=True)
class Filters:
    """Filters of the leaderboard."""

    suite: str = ""
    agent: str = ""
    model: str = ""
    edition: str = ""
    verified: bool = False


@dataclass(frozen=True)
class RankedExperiment:
    """Experiment on the leaderboard."""

    results: Results
    tasks: int
    """Number of the selected tasks that the experiment has."""
    of_tasks: int
    edition: str
    seeds: int
    note: str
    measures: dict[str, Estimate]
    ended: int
    verified: int
    miniature: bool
    forms: frozenset[tuple[str, str | None, bool]]
    """Tasks with edition and whether the data is fabricated; only equal sets are comparable."""

    @property
    def merit(self) -> tuple[float, float]:
        """Sort key: medals, then percentile; lower is better, and experiments without numbers come last."""

        def of(name: str) -> float:
            return -self.measures[name].mean if name in self.measures else math.inf

        return min(of("any_medal"), of(SUCCESS)), of("percentile")

    @property
    def is_complete(self) -> bool:
        """True if the experiment has numbers for all selected tasks."""
        return bool(self.measures) and self.tasks == self.of_tasks


@dataclass(frozen=True)
class RankedGroup:
    """Comparable experiments: the same tasks, in the same editions, on the same kind of data."""

    tasks: tuple[str, ...]
    edition: str
    miniature: bool
    members: list[tuple[int | None, RankedExperiment]]
    """Members with their ranks, which ties share; None without a complete seed or without a competitor."""

    @property
    def differing(self) -> list[str]:
        """Settings in which the plans of the members differ."""
        plans = [each.results.plan for _, each in self.members if not each.results.imported]
        names = {"budget": "budget", "network": "network", "cores": "cores", "gpus": "GPUs"}
        return [title for name, title in names.items() if len({repr(getattr(plan, name)) for plan in plans}) > 1]


class Ranking:
    """Ranking of experiments with a cache, because intervals are slow to compute."""

    def __init__(self, index: ExperimentIndex) -> None:
        self._index = index
        self._known: dict[tuple[str, str], tuple[int, RankedExperiment | None]] = {}
        self._compared: dict[tuple[str, str, bool], tuple[tuple[int, int], Comparison]] = {}
        self._lock = threading.Lock()

    def read(self, filters: Filters) -> tuple[list[RankedGroup], list[Results]]:
        """Return the leaderboard, largest group first, and all experiments."""
        everything = self._index.all_results()
        passed = {key for key, found in self._index.verifications().items() if found.passed}
        chosen = [self._ranked(results, filters.suite, passed) for results in everything if _fits(results, filters)]
        listed = [each for each in chosen if each and (not filters.verified or 0 < each.ended == each.verified)]
        return _groups(listed), everything

    def compare(self, first: Results, second: Results, *, pad: bool) -> Comparison:
        """Compare two experiments.

        Raises:
            UsageError: There is nothing to compare.
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


def _groups(listed: Sequence[RankedExperiment]) -> list[RankedGroup]:
    by_form: dict[frozenset[tuple[str, str | None, bool]], list[RankedExperiment]] = {}
    for each in listed:
        by_form.setdefault(each.forms, []).append(each)
    groups = [_group(members) for members in by_form.values()]
    return sorted(groups, key=lambda group: (-len(group.members), -len(group.tasks), group.tasks, group.edition))


def _group(members: Sequence[RankedExperiment]) -> RankedGroup:
    ordered = sorted(members, key=lambda each: (not each.is_complete, each.merit, each.results.name))
    places: dict[tuple[float, float], int] = {}
    for place, each in enumerate(ordered, 1):
        places.setdefault(each.merit, place)
    has_rivals = sum(each.is_complete for each in members) > 1
    return RankedGroup(
        tasks=tuple(sorted(task for task, *_ in members[0].forms)),
        edition=members[0].edition,
        miniature=members[0].miniature,
        members=[(places[each.merit] if each.is_complete and has_rivals else None, each) for each in ordered],
    )


def _fits(results: Results, filters: Filters) -> bool:
    return (
        filters.agent in ("", results.plan.agent)
        and filters.model in ("", results.plan.model or "none")
        and filters.edition in ("", *editions_of(results))
    )


def editions_of(results: Results) -> list[str]:
    """Return the editions of an experiment's tasks."""
    return sorted({row.edition for row in results.rows if row.edition})


def _rank(results: Results, tasks: Sequence[str], passed: set[RunKey]) -> RankedExperiment | None:
    wanted = set(tasks)
    rows = [row for row in results.rows if row.task in wanted]
    if not rows:
        return None
    medal_tasks = [task for task in tasks if task_facts(task)["competition"]]
    research = [task for task in tasks if task not in set(medal_tasks)]
    medals = aggregate("all", arrange(rows, medal_tasks), {name: COMPETITION_VALUES[name] for name in MEASURES})
    known = {name: value for name, value in research_values(results).items() if name == SUCCESS}
    improved = aggregate("research", arrange(rows, research), known)
    ended = [row for row in rows if row.reported]
    return RankedExperiment(
        results=results,
        tasks=len({row.task for row in rows}),
        of_tasks=len(tasks),
        edition=", ".join(editions_of(results)),
        seeds=max(medals.seeds, improved.seeds),
        note="; ".join(part.note for part, some in ((medals, medal_tasks), (improved, research)) if some),
        measures={**medals.measures, **improved.measures},
        ended=len(ended),
        verified=sum(row.key in passed for row in ended),
        miniature=any(row.miniature for row in rows),
        forms=frozenset((row.task, row.edition, row.miniature) for row in (ended or rows)),
    )
