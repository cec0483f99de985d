"""Aggregation of results per seed and over seeds, as MLE-bench defines it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from podium.catalog.forge.forge_ids import has_public_seed
from podium.errors import UsageError
from podium.report.results import Results, Row, task_facts
from podium.report.statistics import NORMAL_95, Interval, Numbers, bootstrap_interval, mean_and_sem, pass_at_k
from podium.text import plural

COMPLEXITIES = ("low", "medium", "high")
SUCCESS_AT = (5, 10, 15, 20, 30)
"""Improvement thresholds, in percent, at which MLAgentBench counts a success."""
HEADLINE_AT = 10
"""Improvement, in percent, that the headline counts as a success if it is beyond noise."""
USAGE = (
    *("tokens", "input_tokens", "output_tokens", "cached_tokens", "cost", "steps", "executions"),
    *("working_s", "wall_s", "waited_s"),
)
Value = Callable[[Row | None], float]
"""Function from a run, or None for a missing run, to its value in percent; NaN if unknown."""


def _share(claim: Callable[[Row], bool]) -> Value:
    return lambda row: 100.0 * (row is not None and claim(row))


def _percentile(row: Row | None) -> float:
    """Return the percentage of the leaderboard that is worse, 0 without a valid submission."""
    if row is None or not row.valid:
        return 0.0
    return math.nan if row.percentile is None else row.percentile


def _improvement(row: Row | None) -> float:
    """Return the improvement of a run with a score, NaN otherwise, as MLAgentBench averages it."""
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
"""Measures of competitions."""
RESEARCH_VALUES: dict[str, Value] = {
    "submitted": COMPETITION_VALUES["submitted"],
    "valid": COMPETITION_VALUES["valid"],
    "improved": _share(_improved),
    **{f"success_at_{threshold}": _success(threshold) for threshold in SUCCESS_AT},
    **{f"success_at_{threshold}_at_any_step": _success_at_any_step(threshold) for threshold in SUCCESS_AT},
    "beyond_noise": _share(lambda row: row.may_succeed and bool(row.beyond_noise)),
    "improvement": _improvement,
}
"""Measures of research tasks."""
MISSING = {
    "missing": "not started",
    "running": "running",
    "stopped": "stopped",
    "interrupted": "interrupted",
}
"""Labels of the statuses without a result."""
HEADLINES = {
    "any_medal": "of tasks with a medal",
    "improved": f"of tasks improved by more than {HEADLINE_AT} % and beyond noise",
    f"success_at_{HEADLINE_AT}": f"of tasks improved by more than {HEADLINE_AT} %",
}
"""Texts for the measures that a headline can use, in order of preference."""
_PERCENTS = {f"success_at_{threshold}": f"success at {threshold} %" for threshold in SUCCESS_AT}


def display_name(name: str) -> str:
    """Return the display name of a measure or of a failure cause."""
    start, step, _ = name.partition("_at_any_step")
    return _PERCENTS.get(start, start.replace("_", " ")) + step.replace("_", " ")


def heading(name: str) -> str:
    """Return the display name of a measure, a cause or a threshold with a capital letter, for headings."""
    label = display_name(name)
    return label[:1].upper() + label[1:]


@dataclass(frozen=True)
class SeedGrid:
    """Runs arranged by seed: seed i holds the i-th report of every task."""

    tasks: tuple[str, ...]
    cells: tuple[tuple[Row | None, ...], ...]
    """One row per task with one run per seed; None is a missing run that counts as a failure."""
    seeds: int
    padded: int
    left_out: int
    """Number of ended runs that belong to no complete seed."""
    without: tuple[str, ...]
    """Tasks without any report."""

    @property
    def note(self) -> str:
        """Description of the seeds: how many, and which runs were padded or excluded."""
        if not self.seeds:
            named = ", ".join(self.without[:3]) + (" and more" if len(self.without) > 3 else "")
            return f"no complete seed yet, because no run of {named} has ended"
        parts = [f"{plural(len(self.tasks), 'task')}, {plural(self.seeds, 'seed')}"]
        if self.padded:
            parts.append(f"{plural(self.padded, 'missing run')} counted as failed")
        if self.left_out:
            parts.append(f"{plural(self.left_out, 'run')} outside the complete seeds excluded")
        return "; ".join(parts)


def arrange(rows: Sequence[Row], tasks: Sequence[str], *, pad: bool = False, seeds: int | None = None) -> SeedGrid:
    """Arrange runs by seed: as many seeds as every task has, or with padding as many as any task has.

    Args:
        pad: Count missing runs as failures.
        seeds: Maximum number of seeds.
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
    """Mean with its standard error and intervals."""

    mean: float
    sem: float | None
    """Standard error over seeds; None for a single seed."""
    interval: Interval | None
    """Normal 95 % interval, mean ± 1.96 SEM."""
    bootstrap: Interval | None
    """95 % bootstrap interval over tasks."""
    per_seed: tuple[float, ...]


@dataclass(frozen=True)
class Aggregate:
    """Measures of one group of tasks."""

    group: str
    tasks: int
    seeds: int
    complete: bool
    """True if every ended run counts and none was padded."""
    note: str
    measures: dict[str, Estimate]
    """Estimates by measure; empty without a complete seed."""


def aggregate(group: str, grid: SeedGrid, values: dict[str, Value]) -> Aggregate:
    """Return the measures of a grid that are known for at least one run."""
    found = {name: measure(grid, value) for name, value in values.items()} if grid.seeds else {}
    measures = {name: estimate for name, estimate in found.items() if estimate is not None}
    complete = bool(grid.seeds) and not grid.padded and not grid.left_out
    return Aggregate(group, len(grid.tasks), grid.seeds, complete, grid.note, measures)


def measure(grid: SeedGrid, value: Value) -> Estimate | None:
    """Return one measure of a grid, or None if it is unknown for every run."""
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
    """Return each task's mean over its runs; at least one value per task must be known."""
    return np.asarray(np.nanmean(values, axis=1))


@dataclass(frozen=True)
class PassAtK:
    """Probability of a medal in the best of k runs, in percent, over all tasks."""

    k: int
    percent: float
    customary: bool
    """True if k is at most half the number of runs."""


def pass_curve(grid: SeedGrid) -> tuple[PassAtK, ...]:
    """Return pass@1 to pass@n for any medal."""
    medals = [sum(row is not None and row.medal is not None for row in column) for column in grid.cells]
    return tuple(
        PassAtK(k, 100.0 * float(np.mean([pass_at_k(grid.seeds, won, k) for won in medals])), k <= grid.seeds / 2)
        for k in range(1, grid.seeds + 1)
    )


@dataclass(frozen=True)
class UsageTotals:
    """Mean and total usage of one resource."""

    mean: float
    total: float


@dataclass(frozen=True)
class Summary:
    """Numbers that a report shows about one experiment."""

    name: str
    agent: str
    model: str | None
    imported: bool
    counts: dict[str, int]
    """Number of planned runs and of runs by status."""
    competitions: tuple[Aggregate, ...]
    """Aggregates of all competitions, then by complexity."""
    kinds: tuple[Aggregate, ...]
    """Aggregates of competitions by kind of data."""
    research: Aggregate | None
    miniatures: int
    """Number of started runs on fabricated data."""
    not_secret: int
    """Number of tasks generated from public seeds, whose answers anyone can generate."""
    pass_at_k: tuple[PassAtK, ...]
    usage: dict[str, UsageTotals]
    causes: dict[str, int]
    """Number of runs without a valid submission, by cause."""
    fallbacks: int
    """Number of runs that submitted the initial file, such as the sample submission, unchanged."""

    @property
    def missing(self) -> dict[str, int]:
        """Number of planned runs without a result, by status."""
        return {name: self.counts[name] for name in MISSING if self.counts[name]}

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def summarise(
    results: Results, *, pad: bool = False, seeds: int | None = None, tasks: Sequence[str] | None = None
) -> Summary:
    """Summarise an experiment.

    Args:
        tasks: Tasks that count, such as a suite's; tasks that the experiment lacks are missing.
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
        not_secret=sum(map(has_public_seed, tasks)),
        pass_at_k=pass_curve(everything) if everything.seeds > 1 else (),
        usage=_usage(rows),
        fallbacks=sum(row.fallback for row in rows),
        causes=dict(Counter(row.cause for row in rows if row.cause).most_common()),
    )


def research_tasks(tasks: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Return the tasks that are scored by improvement instead of medals."""
    found = {row.task for row in rows if not row.competition}
    return [task for task in tasks if task in found or not task_facts(task)["competition"]]


def research_values(*sides: Results) -> dict[str, Value]:
    """Return the measures of research tasks, without the noise-based ones if an import does not record them."""
    unknown = any(side.imported and all(row.beyond_noise is None for row in side.rows) for side in sides)
    return {
        name: value for name, value in RESEARCH_VALUES.items() if not (unknown and name in ("improved", "beyond_noise"))
    }


def headline(summary: Summary) -> str:
    """Return the result of an experiment in one line."""
    group = summary.competitions[0] if summary.competitions else summary.research
    name = main_measure(group)
    if group is None or name is None:
        return _progress(summary)
    return f"{plus_minus(group.measures[name])} % {HEADLINES[name]} ({group.note})"


def _progress(summary: Summary) -> str:
    """Return the progress of an experiment without a complete seed: "1 of 2 runs done, 1 running"."""
    counts = summary.counts
    done = counts["finished"] + counts["failed"] + counts["unreadable"]
    rest = [f"{counts[name]} {label}" for name, label in MISSING.items() if counts[name]]
    return ", ".join([f"{done} of {plural(counts['planned'], 'run')} done", *rest])


def main_measure(group: Aggregate | None) -> str | None:
    """Return the main measure of a group: medals, else improvements; None if neither is known."""
    return next((name for name in HEADLINES if group and name in group.measures), None)


def plus_minus(estimate: Estimate, decimals: int = 1) -> str:
    """Format a mean with its standard error."""
    error = "" if estimate.sem is None else f" ± {estimate.sem:.{decimals}f}"
    return f"{estimate.mean:.{decimals}f}{error}"


def _grouped(tasks: Sequence[str], fact: str) -> dict[Any, list[str]]:
    """Group tasks by one of the catalogue's facts."""
    groups: dict[Any, list[str]] = {}
    for task in tasks:
        groups.setdefault(task_facts(task)[fact], []).append(task)
    return groups


def _counts(rows: Sequence[Row], *, planned: int) -> dict[str, int]:
    states = Counter(row.status for row in rows)
    named = {name: states[name] for name in ("finished", "failed", "stopped", "running", "interrupted", "unreadable")}
    return {"planned": planned, **named, "missing": planned - sum(named.values())}


def _usage(rows: Sequence[Row]) -> dict[str, UsageTotals]:
    """Return the known usage of runs that have ended."""
    found = {}
    for name in USAGE:
        ended = [row for row in rows if row.reported]
        values = [value for row in ended if (value := getattr(row, name)) is not None]
        is_unknown = name == "cost" and any(row.cost is None and row.tokens for row in ended)
        if values and not is_unknown:
            found[name] = UsageTotals(float(np.mean(values)), float(np.sum(values)))
    return found
