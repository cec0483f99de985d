"""Score over time with medal lines, laid out for a drawing that the template writes as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from podium.errors import PodiumError
from podium.report.curves import Point
from podium.report.table import Entry, Row
from podium.runs.record import Plan
from podium.text import format_duration
from podium.viewer.text import number_in_words

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 84, 16, 36
TICKS = 5
LABEL = 14.0
TIMES = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 604800)
"""Steps between the times on an axis."""
Scale = Callable[[float], float]


@dataclass(frozen=True)
class Mark:
    """A submission or a script on the chart."""

    x: float
    y: float
    kind: str
    words: str
    href: str | None = None


@dataclass(frozen=True)
class Line:
    """A score that means something, across the chart."""

    y: float
    name: str
    value: str
    label_y: float
    """Where its name stands without covering another."""


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """Everything at its place; up is better."""

    path: str
    """Of the submission's score, as the points of a line."""
    marks: list[Mark]
    lines: list[Line]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    higher_is_better: bool
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True)
class Tried:
    """A script whose own validation score is known."""

    working_s: float
    score: float
    words: str
    href: str


def draw(
    points: Sequence[Point],
    tried: Sequence[Tried],
    limits: dict[str, float],
    *,
    higher_is_better: bool,
    end_s: float,
) -> Chart | None:
    """The chart of a run; None when there is nothing to show.

    Args:
        points: the graded submissions, oldest first.
        tried: scripts of a search, by what the agent itself measured.
        limits: scores that are drawn as lines, by name.
        end_s: working time until now.
    """
    scores = [point.score for point in points if point.score is not None and math.isfinite(point.score)]
    shown = [*scores, *(each.score for each in tried)]
    if not shown:
        return None
    sign = 1.0 if higher_is_better else -1.0
    low, high = _range([sign * value for value in shown], [sign * value for value in (*limits.values(), *scores[-1:])])
    end_s = max([end_s, 1e-9, *(point.working_s for point in points), *(each.working_s for each in tried)])

    def x(seconds: float) -> float:
        return round(LEFT + (WIDTH - RIGHT - LEFT) * seconds / end_s, 1)

    def y(score: float) -> float:
        share = (sign * score - low) / (high - low)
        return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(1.0, max(0.0, share)), 1)

    return Chart(
        path=_path(points, x, y, end_s),
        marks=[
            *(Mark(x(each.working_s), y(each.score), "tried", each.words, each.href) for each in tried),
            *(_submission(point, x, y) for point in points),
        ],
        lines=_lines(limits, y),
        x_ticks=[Tick(x(at), format_duration(at)) for at in _times(end_s)],
        y_ticks=[Tick(y(at), f"{at:.6g}") for at in _numbers(*sorted((sign * low, sign * high)))],
        higher_is_better=higher_is_better,
    )


def _times(end_s: float) -> list[float]:
    """A few round times for an axis."""
    return _multiples(0.0, end_s, next((step for step in TIMES if step >= end_s / TICKS), TIMES[-1]))


def _numbers(low: float, high: float) -> list[float]:
    """A few round numbers for an axis."""
    least = (high - low) / TICKS
    scale = 10.0 ** math.floor(math.log10(least))
    return _multiples(low, high, scale * next(each for each in (1, 2, 5, 10) if each * scale >= least * (1 - 1e-9)))


def _multiples(low: float, high: float, step: float) -> list[float]:
    return [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _range(values: list[float], wanted: list[float]) -> tuple[float, float]:
    """What is worth showing: everything good, and of what is bad as much as leaves the rest readable."""
    best, floor = max([*values, *wanted]), min(wanted or values)
    span = (best - floor) or abs(best) or 1.0
    return max(min([*values, *wanted]), floor - 0.4 * span) - 0.04 * span, best + 0.06 * span


def _path(points: Sequence[Point], x: Scale, y: Scale, end_s: float) -> str:
    """A line that stays where it is until there is a new submission."""
    corners: list[tuple[float, float]] = []
    for point in points:
        if point.score is None or not math.isfinite(point.score):
            continue
        if corners:
            corners.append((x(point.working_s), corners[-1][1]))
        corners.append((x(point.working_s), y(point.score)))
    if corners:
        corners.append((x(end_s), corners[-1][1]))
    return " ".join(f"{across},{up}" for across, up in corners)


def _lines(limits: dict[str, float], y: Scale) -> list[Line]:
    lines: list[Line] = []
    free = float(TOP)
    for name, value in sorted(limits.items(), key=lambda each: y(each[1])):
        at = max(y(value), free)
        lines.append(Line(y(value), name, number_in_words(value), at))
        free = at + LABEL
    return lines


def _submission(point: Point, x: Scale, y: Scale) -> Mark:
    when = f"after {format_duration(point.working_s)}"
    if point.score is None or not math.isfinite(point.score):
        return Mark(x(point.working_s), HEIGHT - BOTTOM, "invalid", f"no valid submission {when}")
    medal = f", {point.medal} medal" if point.medal else ""
    words = f"submission scores {number_in_words(point.score)}{medal} {when}"
    return Mark(x(point.working_s), y(point.score), point.medal or "none", words)


def limits_of(row: Row, plan: Plan | None) -> dict[str, float]:
    """The scores that a run is measured against, by name; none if the task or its field is not here."""
    data_dir = None if plan is None or plan.data_dir is None else str(plan.data_dir)
    return dict(_limits(row.task, row.edition, data_dir))


@lru_cache(maxsize=256)
def _limits(task: str, edition: str | None, data_dir: str | None) -> tuple[tuple[str, float], ...]:
    from podium.report.references import read_lines  # brings all that grading needs

    facts: dict[str, Any] = {"agent": "", "model": None, "kind": "", "complexity": None, "competition": True}
    row = Row(experiment="", task=task, seed=0, status="finished", edition=edition, **facts)
    entry = Entry("", Path(), "", None, (task,), 1, None, (row,), plan={"data_dir": data_dir})
    try:
        lines = read_lines(entry)[task]
    except (PodiumError, OSError, ValueError, LookupError):
        return ()
    named = {name: getattr(lines, name) for name in ("ceiling", "gold", "silver", "bronze", "median", "baseline")}
    return tuple((name, value) for name, value in named.items() if value is not None and math.isfinite(value))
