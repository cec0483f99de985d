"""The results of an experiment in numbers: per seed and over seeds, as MLE-bench's aggregation defines it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from podium.catalog.forge.forge_ids import is_public_draw
from podium.errors import UsageError
from podium.report.results import Results, Row, task_facts
from podium.report.statistics import NORMAL_95, Interval, Numbers, bootstrap_interval, mean_and_sem, pass_at_k
from podium.text import plural

COMPLEXITIES = ("low", "medium", "high")
SUCCESS_AT = (5, 10, 15, 20, 30)
"""Improvements, in percent, at which MLAgentBench counts successes."""
HEADLINE_AT = 10
"""The improvement, in percent, that the headline counts where it is more than noise explains."""
USAGE = (
    *("tokens", "input_tokens", "output_tokens", "cached_tokens", "cost", "steps", "executions"),
    *("working_s", "wall_s", "waited_s"),
)
Value = Callable[[Row | None], float]
"""What a run counts for, in percent; None stands for a missing run. NaN: not known."""


def _share(claim: Callable[[Row], bool]) -> Value:
    return lambda row: 100.0 * (row is not None and claim(row))


def _percentile(row: Row | None) -> float:
    """Percent of the leaderboard that is worse: 0 without a valid submission."""
    if row is None or not row.valid:
        return 0.0
    return math.nan if row.percentile is None else row.percentile


def _improvement(row: Row | None) -> float:
    """Of runs with a score only, as MLAgentBench averages it."""
    return math.nan if row is None or row.improvement is None else row.improvement


def _success(threshold: float) -> Value:
    return _share(lambda row: row.may_succeed and (row.improvement or 0.0) > threshold)


def _improved(row: Row) -> bool:
    return row.may_succeed and bool(row.beyond_noise) and (row.improvement or 0.0) > HEADLINE_AT


def _success_at_any_step(threshold: float) -> Value:
    def value(row: Row | None) -> float:
        if row is not None and row.valid and row.best_improvement is None:
            return math.nan  # its steps were not graded
        return 100.0 * (row is not None and row.may_succeed and (row.best_improvement or 0.0) > threshold)

    return value


COMPETITION_VALUES: dict[str, Value] = {
    "submitted": _share(lambda row: row.submitted),
    "valid": _share(lambda row: row.valid),
    "above_median": _share(lambda row: row.above_median),
    "bronze": _share(lambda row: row.medal == "bronze"),
    "silver": _share(lambda row: row.medal == "silver"),
    "gold": _share(lambda row: row.medal == "gold"),
    "any_medal": _share(lambda row: row.medal is not None),
    "percentile": _percentile,
}
"""What is measured on competitions."""
RESEARCH_VALUES: dict[str, Value] = {
    "submitted": COMPETITION_VALUES["submitted"],
    "valid": COMPETITION_VALUES["valid"],
    "improved": _share(_improved),
    **{f"success_at_{threshold}": _success(threshold) for threshold in SUCCESS_AT},
    **{f"success_at_{threshold}_at_any_step": _success_at_any_step(threshold) for threshold in SUCCESS_AT},
    "beyond_noise": _share(lambda row: row.may_succeed and bool(row.beyond_noise)),
    "improvement": _improvement,
}
"""What is measured on research tasks."""
MISSING = {
    "missing": "never ran",
    "running": "are running",
    "stopped": "were stopped",
    "interrupted": "were interrupted",
}
"""Runs without a result, in words."""
HEADLINES = {
    "any_medal": "of tasks with a medal",
    "improved": f"of tasks improved by more than {HEADLINE_AT} % and beyond noise",
    f"success_at_{HEADLINE_AT}": f"of tasks improved by more than {HEADLINE_AT} %",
}
"""The measures that headlines are made of, in words; the first that is known is taken."""
_PERCENTS = {f"success_at_{threshold}": f"success at {threshold} %" for threshold in SUCCESS_AT}


def words(name: str) -> str:
    """The name of a measure, or of a cause, as people read it."""
    start, step, _ = name.partition("_at_any_step")
    return _PERCENTS.get(start, start.replace("_", " ")) + step.replace("_", " ")


@dataclass(frozen=True)
class SeedGrid:
    """Runs arranged in seeds: seed i holds the i-th report of every task."""

    tasks: tuple[str, ...]
    cells: tuple[tuple[Row | None, ...], ...]
    """For each task one run per seed; None where a missing run is padded."""
    seeds: int
    padded: int
    left_out: int
    """Runs that have ended but belong to no complete seed."""
    without: tuple[str, ...]
    """Tasks without any report."""

    @property
    def note(self) -> str:
        """How the seeds were made, for people."""
        if not self.seeds:
            named = ", ".join(self.without[:3]) + (" and more" if len(self.without) > 3 else "")
            return f"no complete seed: no run of {named} has ended; --pad counts missing runs as failures"
        parts = [f"{plural(self.seeds, 'seed')} of {plural(len(self.tasks), 'task')}"]
        if self.padded:
            parts.append(f"{plural(self.padded, 'missing run')} padded as failures")
        if self.left_out:
            parts.append(f"{plural(self.left_out, 'run')} beyond the complete seeds left out")
        return "; ".join(parts)


def arrange(rows: Sequence[Row], tasks: Sequence[str], *, pad: bool = False, seeds: int | None = None) -> SeedGrid:
    """Makes seeds out of runs: as many as every task has reports for, or, padded, as many as any task has.

    Args:
        pad: count missing runs as failures.
        seeds: use no more than so many.
    """
    reports: dict[str, list[Row]] = {task: [] for task in tasks}
    for row in rows:
        if row.task in reports and row.counts:
            reports[row.task].append(row)
    counts = [len(found) for found in reports.values()]
    available = (max if pad else min)(counts, default=0)
    used = available if seeds is None else min(seeds, available)
    cells = tuple(tuple((*found, *[None] * used)[:used]) for found in reports.values())
    return SeedGrid(
        tasks=tuple(tasks),
        cells=cells,
        seeds=used,
        padded=sum(row is None for column in cells for row in column),
        left_out=sum(max(0, count - used) for count in counts),
        without=tuple(task for task, found in reports.items() if not found),
    )


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error and intervals."""

    mean: float
    sem: float | None
    """Over seeds; None with a single one."""
    interval: Interval | None
    """Mean ± 1.96 SEM."""
    bootstrap: Interval | None
    """Over tasks."""
    per_seed: tuple[float, ...]


@dataclass(frozen=True)
class Aggregate:
    """The measures of one group of tasks."""

    group: str
    tasks: int
    seeds: int
    complete: bool
    """Whether every run that was done counts, and none was padded."""
    note: str
    measures: dict[str, Estimate]
    """Empty without a complete seed."""


def aggregate(group: str, grid: SeedGrid, values: dict[str, Value]) -> Aggregate:
    """The measures of a grid, without those that are not known for any run."""
    found = {name: measure(grid, value) for name, value in values.items()} if grid.seeds else {}
    measures = {name: estimate for name, estimate in found.items() if estimate is not None}
    complete = bool(grid.seeds) and not grid.padded and not grid.left_out
    return Aggregate(group, len(grid.tasks), grid.seeds, complete, grid.note, measures)


def measure(grid: SeedGrid, value: Value) -> Estimate | None:
    """One measure of a grid; None if it is not known of any run."""
    values = np.array([[value(row) for row in column] for column in grid.cells])
    known = ~np.isnan(values)
    values = values[known.any(axis=1)]
    if not values.size:
        return None
    per_seed = [float(np.nanmean(column)) for column in values.T if not np.isnan(column).all()]
    mean, sem = mean_and_sem(per_seed)
    interval = None if sem is None else Interval(mean - NORMAL_95 * sem, mean + NORMAL_95 * sem)
    return Estimate(mean, sem, interval, bootstrap_interval(by_task(values)), tuple(per_seed))


def by_task(values: Numbers) -> Numbers:
    """The mean of each task over its runs, of which at least one is known."""
    return np.asarray(np.nanmean(values, axis=1))


@dataclass(frozen=True)
class PassAtK:
    """The chance of a medal in the best of k runs, in percent, over all tasks."""

    k: int
    percent: float
    customary: bool
    """Whether k is at most half the number of runs."""


def pass_curve(grid: SeedGrid) -> tuple[PassAtK, ...]:
    """Any medal, pass@1 to pass@n."""
    medals = [sum(row is not None and row.medal is not None for row in column) for column in grid.cells]
    return tuple(
        PassAtK(k, 100.0 * float(np.mean([pass_at_k(grid.seeds, won, k) for won in medals])), k <= grid.seeds / 2)
        for k in range(1, grid.seeds + 1)
    )


@dataclass(frozen=True)
class UsageTotals:
    """How much of something runs used."""

    mean: float
    total: float


@dataclass(frozen=True)
class Summary:
    """The numbers that a report has about one experiment."""

    name: str
    agent: str
    model: str | None
    imported: bool
    counts: dict[str, int]
    """Planned runs, and how many of them are in which state."""
    competitions: tuple[Aggregate, ...]
    """All, then by complexity."""
    kinds: tuple[Aggregate, ...]
    """Competitions by kind of data."""
    research: Aggregate | None
    miniatures: int
    """How many of the runs that have begun used fabricated data."""
    not_secret: int
    """How many of the tasks are forged ones from public seeds, whose answers anybody can make."""
    pass_at_k: tuple[PassAtK, ...]
    usage: dict[str, UsageTotals]
    causes: dict[str, int]
    """Why runs have no valid submission."""
    fallbacks: int
    """Runs whose submission is the one they began with, such as the sample submission."""

    @property
    def missing(self) -> dict[str, int]:
        """Planned runs that have no result, by what became of them."""
        return {name: self.counts[name] for name in MISSING if self.counts[name]}

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def summarise(
    results: Results, *, pad: bool = False, seeds: int | None = None, tasks: Sequence[str] | None = None
) -> Summary:
    """Sums up an experiment.

    Args:
        tasks: those that count, such as a suite's; a task the experiment does not have is missing.
    """
    tasks = results.tasks if tasks is None else tasks
    rows = [row for row in results.rows if row.task in set(tasks)]
    if not rows:
        raise UsageError(f"{results.name} has none of these tasks: {', '.join(tasks[:3])} ...")

    def some(group: str, chosen: Sequence[str], values: dict[str, Value]) -> Aggregate:
        return aggregate(group, arrange(rows, chosen, pad=pad, seeds=seeds), values)

    research = research_tasks(tasks, rows)
    medal_tasks = [task for task in tasks if task not in set(research)]
    complexities, kinds = _grouped(medal_tasks, "complexity"), _grouped(medal_tasks, "kind")
    everything = arrange(rows, medal_tasks, pad=pad, seeds=seeds)
    return Summary(
        name=results.name,
        agent=results.plan.agent,
        model=results.plan.model,
        imported=results.imported,
        counts=_counts(rows, planned=len(tasks) * results.experiment.seeds),
        competitions=(
            *((aggregate("all", everything, COMPETITION_VALUES),) if medal_tasks else ()),
            *(some(name, complexities[name], COMPETITION_VALUES) for name in COMPLEXITIES if name in complexities),
        ),
        kinds=tuple(some(name, chosen, COMPETITION_VALUES) for name, chosen in sorted(kinds.items()) if len(kinds) > 1),
        research=some("all", research, research_values(results)) if research else None,
        miniatures=sum(row.miniature for row in rows),
        not_secret=sum(map(is_public_draw, tasks)),
        pass_at_k=pass_curve(everything) if everything.seeds > 1 else (),
        usage=_usage(rows),
        fallbacks=sum(row.fallback for row in rows),
        causes=dict(Counter(row.cause for row in rows if row.cause).most_common()),
    )


def research_tasks(tasks: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Those of the tasks that ask for an improvement, not for a medal."""
    found = {row.task for row in rows if not row.competition}
    return [task for task in tasks if task in found or not task_facts(task)["competition"]]


def research_values(*sides: Results) -> dict[str, Value]:
    """What is measured on research tasks. Imported trials do not say what is beyond noise, nor what rests on that."""
    unknown = any(side.imported and all(row.beyond_noise is None for row in side.rows) for side in sides)
    return {
        name: value for name, value in RESEARCH_VALUES.items() if not (unknown and name in ("improved", "beyond_noise"))
    }


def headline(summary: Summary) -> str:
    """The result of an experiment in one line."""
    group = summary.competitions[0] if summary.competitions else summary.research
    name = main_measure(group)
    if group is None or name is None:
        return f"{summary.counts['planned']} runs planned, {group.note if group else 'none of them done'}"
    return f"{plus_minus(group.measures[name])} % {HEADLINES[name]} ({group.note})"


def main_measure(group: Aggregate | None) -> str | None:
    """What a group is judged by: medals, or else improvements; None if neither is known."""
    return next((name for name in HEADLINES if group and name in group.measures), None)


def plus_minus(estimate: Estimate, decimals: int = 1) -> str:
    """A mean with its standard error, as papers print them."""
    error = "" if estimate.sem is None else f" ± {estimate.sem:.{decimals}f}"
    return f"{estimate.mean:.{decimals}f}{error}"


def _grouped(tasks: Sequence[str], fact: str) -> dict[Any, list[str]]:
    """Tasks by something the catalogue says of them."""
    groups: dict[Any, list[str]] = {}
    for task in tasks:
        groups.setdefault(task_facts(task)[fact], []).append(task)
    return groups


def _counts(rows: Sequence[Row], *, planned: int) -> dict[str, int]:
    states = Counter(row.status for row in rows)
    named = {name: states[name] for name in ("finished", "failed", "stopped", "running", "interrupted", "unreadable")}
    return {"planned": planned, **named, "missing": planned - sum(named.values())}


def _usage(rows: Sequence[Row]) -> dict[str, UsageTotals]:
    """How much runs that have ended used, where it is known."""
    found = {}
    for name in USAGE:
        ended = [row for row in rows if row.reported]
        values = [value for row in ended if (value := getattr(row, name)) is not None]
        is_unknown = name == "cost" and any(row.cost is None and row.tokens for row in ended)
        if values and not is_unknown:
            found[name] = UsageTotals(float(np.mean(values)), float(np.sum(values)))
    return found
