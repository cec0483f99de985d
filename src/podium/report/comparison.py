"""Paired comparison of two experiments: differences, intervals, p-values and warnings about unequal plans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from pydantic import BaseModel

from podium.catalog.obfuscation.obfuscate import plain_id
from podium.errors import UsageError
from podium.report.aggregate import COMPETITION_VALUES, Value, display_name, research_tasks, research_values
from podium.report.results import Results, Row
from podium.report.statistics import Interval, Numbers, Settling, bootstrap_interval, permutation_p, seeds_to_settle
from podium.text import plural

LEVEL = 0.05
COMPETITION_MEASURES = ("any_medal", "gold", "above_median", "valid", "percentile")
RESEARCH_MEASURES = ("improved", "success_at_10", "improvement", "valid")
"""Measures to compare: the first that both sides know decides, the others explain it."""
SAME_PLAN = {
    "budget": "budget",
    "network": "network",
    "sandbox": "sandbox",
    "limits": "resource limits",
    "cores": "cores per execution",
    "gpus": "GPUs per execution",
}
"""Parts of a plan that must be equal for a fair comparison, with their labels."""


@dataclass(frozen=True)
class TaskDifference:
    """Difference between two experiments on one task in the main measure."""

    task: str
    first: float
    second: float
    runs: tuple[int, int]

    @property
    def difference(self) -> float:
        return self.first - self.second


@dataclass(frozen=True)
class Difference:
    """Difference between two experiments in one measure, in points; positive if the first is better."""

    measure: str
    first: float
    second: float
    difference: float
    interval: Interval | None
    """95 % bootstrap interval over tasks."""
    p: float
    tasks: int
    settling: Settling

    @property
    def settled(self) -> bool:
        return self.p < LEVEL


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison."""

    first: str
    second: str
    warnings: tuple[str, ...]
    """Differences between the plans besides the agents."""
    differences: tuple[Difference, ...]
    tasks: tuple[TaskDifference, ...]
    """Differences by task, largest first."""

    @property
    def verdict(self) -> str:
        """Result in one sentence."""
        main = self.differences[0]
        name = display_name(main.measure)
        if main.difference == 0:
            return f"No difference in {name}: both have {main.first:.1f}."
        better, worse = (self.first, self.second) if main.difference > 0 else (self.second, self.first)
        ahead = f"{better} is {abs(main.difference):.1f} points ahead of {worse} in {name}"
        if main.settled:
            return f"{ahead}, more than chance explains (p = {main.p:.3g})."
        return f"{ahead}, but that is not settled (p = {main.p:.2g}): {settling_text(main.settling)}."

    def to_dict(self) -> dict[str, Any]:
        document = asdict(self)
        tasks = [{**asdict(task), "difference": task.difference} for task in self.tasks]
        return {"verdict": self.verdict, **document, "tasks": tasks}


def settling_text(settling: Settling) -> str:
    """Describe how many more seeds would settle a comparison."""
    if settling.more_seeds is None:
        return "run more seeds to see whether there is a difference"
    if settling.more_seeds == 0:
        return "the seeds should be enough to show a difference of this size, but the tasks disagree"
    count = f"{plural(settling.more_seeds, 'more seed')} of every task on each side"
    return f"{'at most ' * settling.at_most}{count} would settle a difference of this size"


def compare(first: Results, second: Results, *, pad: bool = False) -> Comparison:
    """Compare two experiments on the tasks that both ran in the same form.

    Args:
        pad: Count missing runs as failures.

    Raises:
        UsageError: There is nothing to compare.
    """
    first, second, warnings = _undisguised(first, second)
    shared, differing = _comparable(first, second)
    warnings += differing
    pairs = {task: (_runs(first, task, pad=pad), _runs(second, task, pad=pad)) for task in shared}
    without = [task for task, sides in pairs.items() if not all(sides)]
    if without:
        warnings.append(
            f"Excluded {_named(without)}: one side has no ended run. --pad counts missing runs as failures."
        )
    pairs = {task: sides for task, sides in pairs.items() if all(sides)}
    if not pairs:
        raise UsageError(f"{first.name} and {second.name} share no task with an ended run on both sides.")
    warnings += _unpadded(first, second, list(pairs), pad=pad)
    asked = set(research_tasks(list(pairs), (*first.rows, *second.rows)))
    research = {task: sides for task, sides in pairs.items() if task in asked}
    medal_tasks = {task: sides for task, sides in pairs.items() if task not in asked}
    on_research = research_values(first, second)
    differences = [
        found
        for tasks, names, values in (
            (medal_tasks, COMPETITION_MEASURES, COMPETITION_VALUES),
            (research, RESEARCH_MEASURES, on_research),
        )
        for name in names
        if name in values and (found := _difference(name, values[name], list(tasks.values()))) is not None
    ]
    main = {**COMPETITION_VALUES, **on_research}[differences[0].measure]
    by_task = _by_task(medal_tasks or research, main)
    return Comparison(first.name, second.name, tuple(warnings), tuple(differences), by_task)


def _undisguised(first: Results, second: Results) -> tuple[Results, Results, list[str]]:
    """Return the experiments with obfuscated task ids replaced by the original ids, and warnings."""
    hidden = [side for side in (first, second) if any(task != plain_id(task) for task in side.tasks)]
    told = []
    if len(hidden) == 1:
        told = [
            f"{hidden[0].name} ran obfuscated tasks: the difference includes the effect of recognising a task by name."
        ]
    sides = [
        replace(
            side,
            rows=tuple(replace(row, task=plain_id(row.task)) for row in side.rows),
            experiment=replace(
                side.experiment,
                document=side.experiment.document.model_copy(update={"tasks": tuple(map(plain_id, side.tasks))}),
            ),
        )
        if side in hidden
        else side
        for side in (first, second)
    ]
    return sides[0], sides[1], told


def _comparable(first: Results, second: Results) -> tuple[list[str], list[str]]:
    """Return the tasks that both ran in the same form, and warnings about the rest.

    Raises:
        UsageError: There are no such tasks.
    """
    both = [task for task in first.tasks if task in set(second.tasks)]
    if not both:
        raise UsageError(f"{first.name} and {second.name} cannot be compared: they have no task in common.")
    forms = {task: (_form(first, task), _form(second, task)) for task in both}
    other_form = [task for task, (one, other) in forms.items() if one != other and "edition ?" not in (one, other)]
    shared = [task for task in both if task not in other_form]
    if not shared:
        one, other = forms[both[0]]
        raise UsageError(
            f"{first.name} and {second.name} cannot be compared: {both[0]} is {one} in the first and {other} in the "
            "second. Run one of them again in the same form."
        )
    warnings = []
    if other_form:
        warnings.append(
            f"Excluded {_named(other_form)}: run in different editions, or as a miniature on one side only."
        )
    for side in (first, second):
        only = [task for task in side.tasks if task not in set(both)]
        if only:
            warnings.append(f"Excluded {_named(only)}: only {side.name} has it.")
    if any("miniature" in forms[task][0] for task in shared):
        warnings.append("Some tasks are fabricated miniatures: their differences say nothing about the real tasks.")
    return shared, warnings + _plan_warnings(first, second)


def _plan_warnings(first: Results, second: Results) -> list[str]:
    unknown = [side.name for side in (first, second) if side.imported]
    if unknown:
        return [f"{' and '.join(unknown)} imported: budget, network and machine may differ."]
    found = [
        f"Different {title}: {_plain(getattr(first.plan, name))} vs. {_plain(getattr(second.plan, name))}."
        for name, title in SAME_PLAN.items()
        if getattr(first.plan, name) != getattr(second.plan, name)
    ]
    systems = [{row.versions for row in side.rows if row.versions} for side in (first, second)]
    if systems[0] != systems[1]:
        found.append(f"Different versions: {_plain(sorted(systems[0]))} vs. {_plain(sorted(systems[1]))}.")
    return found


def _plain(value: Any) -> str:
    """Format a part of a plan."""
    if isinstance(value, BaseModel):
        said = [f"{name} {part}" for name, part in value if part is not None]
        return ", ".join(said) or "no limit"
    if isinstance(value, list):
        return " / ".join(map(str, value)) or "unknown"
    if isinstance(value, tuple):
        return ", ".join(value)
    return {True: "open", False: "closed"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _form(results: Results, task: str) -> str:
    """Return the form in which an experiment ran a task: edition, real data or miniature."""
    rows = [row for row in results.rows if row.task == task and row.reported]
    editions = sorted({row.edition for row in rows if row.edition})
    return f"edition {'/'.join(editions) or '?'}" + (", miniature" if any(row.miniature for row in rows) else "")


def _runs(results: Results, task: str, *, pad: bool) -> list[Row | None]:
    rows: list[Row | None] = [row for row in results.rows if row.task == task and row.counts]
    return rows + [None] * (results.experiment.seeds - len(rows)) if pad else rows


def _unpadded(first: Results, second: Results, tasks: Sequence[str], *, pad: bool) -> list[str]:
    """Return warnings about missing and unreadable runs."""
    found = []
    for side in (first, second):
        rows = [row for row in side.rows if row.task in set(tasks)]
        missing = sum(not row.counts for row in rows)
        if missing:
            runs = f"{side.name}: {plural(missing, 'missing or unfinished run')}"
            found.append(f"{runs} counted as failed." if pad else f"{runs} excluded; --pad counts them as failed.")
        unreadable = sum(row.status == "unreadable" for row in rows)
        if unreadable:
            found.append(f"{side.name}: {plural(unreadable, 'unreadable record')} counted as failed.")
    return found


RowPair = tuple[list[Row | None], list[Row | None]]


def _values(side: Sequence[Row | None], value: Value) -> Numbers:
    found = np.array([value(row) for row in side])
    return np.asarray(found[~np.isnan(found)])


def _difference(name: str, value: Value, pairs: Sequence[RowPair]) -> Difference | None:
    """Compare one measure; return None if no task has known values on both sides."""
    valued = [(_values(first, value), _values(second, value)) for first, second in pairs]
    known = [(first, second) for first, second in valued if len(first) and len(second)]
    if not known:
        return None
    first, second = (np.array([side.mean() for side in column]) for column in zip(*known, strict=True))
    return Difference(
        measure=name,
        first=float(first.mean()),
        second=float(second.mean()),
        difference=float((first - second).mean()),
        interval=bootstrap_interval(first - second),
        p=permutation_p(known),
        tasks=len(known),
        settling=seeds_to_settle(known),
    )


def _by_task(pairs: dict[str, RowPair], value: Value) -> tuple[TaskDifference, ...]:
    found = []
    for task, (first, second) in pairs.items():
        one, other = (float(_values(side, value).mean()) for side in (first, second))
        found.append(TaskDifference(task, one, other, (len(first), len(second))))
    return tuple(sorted(found, key=lambda task: (-abs(task.difference), math.copysign(1, -task.difference), task.task)))


def _named(tasks: Sequence[str]) -> str:
    count = plural(len(tasks), "task")
    return f"{count} ({', '.join(tasks[:3])}{', ...' * (len(tasks) > 3)})"
