"""Two experiments side by side: paired over tasks, with an interval, a p-value, and what must be equal for that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from pydantic import BaseModel

from podium.catalog.obfuscation.obfuscate import plain_id
from podium.errors import UsageError
from podium.report.aggregate import COMPETITION_VALUES, Value, research_tasks, research_values, words
from podium.report.results import Results, Row
from podium.report.statistics import Interval, Numbers, Settling, bootstrap_interval, permutation_p, seeds_to_settle
from podium.text import plural

LEVEL = 0.05
COMPETITION_MEASURES = ("any_medal", "gold", "above_median", "valid", "percentile")
RESEARCH_MEASURES = ("improved", "success_at_10", "improvement", "valid")
"""The comparison is about the first of each that both sides know; the others explain it."""
SAME_PLAN = {
    "budget": "budget",
    "network": "network",
    "sandbox": "sandbox",
    "limits": "limits of memory, disk and processes",
    "cores": "cores per execution",
    "gpus": "GPUs per execution",
}
"""Parts of a plan that change what a number means."""


@dataclass(frozen=True)
class TaskDifference:
    """How far two experiments are apart on one task, in the measure the comparison is about."""

    task: str
    first: float
    second: float
    runs: tuple[int, int]

    @property
    def difference(self) -> float:
        return self.first - self.second


@dataclass(frozen=True)
class Difference:
    """How far two experiments are apart in one measure, in points; positive: the first is better."""

    measure: str
    first: float
    second: float
    difference: float
    interval: Interval | None
    """By a bootstrap over tasks."""
    p: float
    tasks: int
    settling: Settling

    @property
    def settled(self) -> bool:
        return self.p < LEVEL


@dataclass(frozen=True)
class Comparison:
    """How two experiments compare."""

    first: str
    second: str
    warnings: tuple[str, ...]
    """What differs between the two besides the agents."""
    differences: tuple[Difference, ...]
    tasks: tuple[TaskDifference, ...]
    """Largest difference first."""

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        main = self.differences[0]
        name = words(main.measure)
        if main.difference == 0:
            return f"No difference in {name}: {main.first:.1f} both."
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
    """How many more seeds it takes, for people."""
    if settling.more_seeds is None:
        return "run more seeds to see whether there is a difference"
    if settling.more_seeds == 0:
        return "as many seeds as there are should show a difference of this size; it is the tasks that disagree"
    count = f"{plural(settling.more_seeds, 'more seed')} of every task on each side"
    return f"{'at most ' * settling.at_most}{count} would settle a difference of this size"


def compare(first: Results, second: Results, *, pad: bool = False) -> Comparison:
    """Compares two experiments on the tasks both have in the same form.

    Args:
        pad: count missing runs as failures.

    Raises:
        UsageError: there is nothing that may be compared.
    """
    first, second, warnings = _undisguised(first, second)
    shared, differing = _comparable(first, second)
    warnings += differing
    pairs = {task: (_runs(first, task, pad=pad), _runs(second, task, pad=pad)) for task in shared}
    without = [task for task, sides in pairs.items() if not all(sides)]
    if without:
        warnings.append(f"{_named(without)} left out: one side has no run that ended. --pad counts it as a failure.")
    pairs = {task: sides for task, sides in pairs.items() if all(sides)}
    if not pairs:
        raise UsageError(f"{first.name} and {second.name} share no task that both have finished a run of.")
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
    """The experiments with obfuscated tasks under the ids of the tasks themselves, and what that means."""
    hidden = [side for side in (first, second) if any(task != plain_id(task) for task in side.tasks)]
    told = []
    if len(hidden) == 1:
        told = [
            f"{hidden[0].name} ran obfuscated tasks: the difference shows what knowing a task by its names is worth."
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
    """The tasks that both have in the same form, and what differs otherwise.

    Raises:
        UsageError: there are none.
    """
    both = [task for task in first.tasks if task in set(second.tasks)]
    if not both:
        raise UsageError(f"{first.name} and {second.name} have no task in common: nothing may be compared.")
    forms = {task: (_form(first, task), _form(second, task)) for task in both}
    other_form = [task for task, (one, other) in forms.items() if one != other and "edition ?" not in (one, other)]
    shared = [task for task in both if task not in other_form]
    if not shared:
        one, other = forms[both[0]]
        raise UsageError(
            f"{first.name} and {second.name} may not be compared: {both[0]} is {one} in one and {other} in the other, "
            "which is not the same task. Run one of them again."
        )
    warnings = []
    if other_form:
        warnings.append(f"{_named(other_form)} left out: another edition, or a miniature on one side.")
    for side in (first, second):
        only = [task for task in side.tasks if task not in set(both)]
        if only:
            warnings.append(f"{_named(only)} only in {side.name}: left out.")
    if any("miniature" in forms[task][0] for task in shared):
        warnings.append("Some tasks are fabricated miniatures: differences on them say nothing about the real ones.")
    return shared, warnings + _plan_warnings(first, second)


def _plan_warnings(first: Results, second: Results) -> list[str]:
    unknown = [side.name for side in (first, second) if side.imported]
    if unknown:
        return [f"{' and '.join(unknown)}: imported, so budget, network and machine are not known to be the same."]
    found = [
        f"Different {title}: {_plain(getattr(first.plan, name))} against {_plain(getattr(second.plan, name))}."
        for name, title in SAME_PLAN.items()
        if getattr(first.plan, name) != getattr(second.plan, name)
    ]
    systems = [{row.versions for row in side.rows if row.versions} for side in (first, second)]
    if systems[0] != systems[1]:
        found.append(f"Different versions: {_plain(sorted(systems[0]))} against {_plain(sorted(systems[1]))}.")
    return found


def _plain(value: Any) -> str:
    """A part of a plan in words."""
    if isinstance(value, BaseModel):
        said = [f"{name} {part}" for name, part in value if part is not None]
        return ", ".join(said) or "none"
    if isinstance(value, list):
        return " / ".join(map(str, value)) or "not known"
    if isinstance(value, tuple):
        return ", ".join(value)
    return {True: "open", False: "closed"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _form(results: Results, task: str) -> str:
    """Which form of a task an experiment has: edition, and whether its data is fabricated."""
    rows = [row for row in results.rows if row.task == task and row.reported]
    editions = sorted({row.edition for row in rows if row.edition})
    return f"edition {'/'.join(editions) or '?'}" + (", miniature" if any(row.miniature for row in rows) else "")


def _runs(results: Results, task: str, *, pad: bool) -> list[Row | None]:
    rows: list[Row | None] = [row for row in results.rows if row.task == task and row.counts]
    return rows + [None] * (results.experiment.seeds - len(rows)) if pad else rows


def _unpadded(first: Results, second: Results, tasks: Sequence[str], *, pad: bool) -> list[str]:
    """Says how missing runs were treated."""
    found = []
    for side in (first, second):
        rows = [row for row in side.rows if row.task in set(tasks)]
        missing = sum(not row.counts for row in rows)
        if missing:
            treated = "counted as failures" if pad else "left out; --pad counts them as failures"
            found.append(f"{missing} run{'s' * (missing != 1)} of {side.name} missing or not finished: {treated}.")
        unreadable = sum(row.status == "unreadable" for row in rows)
        if unreadable:
            found.append(f"{plural(unreadable, 'record')} of {side.name} cannot be read: counted as failures.")
    return found


RowPair = tuple[list[Row | None], list[Row | None]]


def _values(side: Sequence[Row | None], value: Value) -> Numbers:
    found = np.array([value(row) for row in side])
    return np.asarray(found[~np.isnan(found)])


def _difference(name: str, value: Value, pairs: Sequence[RowPair]) -> Difference | None:
    """One measure compared; None if there is no task where both sides are known."""
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
