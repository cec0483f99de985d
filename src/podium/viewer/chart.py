"""Score over time with medal lines, laid out for a drawing that the template writes as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from podium.errors import PodiumError
from podium.grading.grade import Grade
from podium.runs.models import CurvePoint
from podium.viewer.text import duration_in_words, number_in_words

WIDTH, HEIGHT = 800, 330
LEFT, RIGHT, TOP, BOTTOM = 84, 84, 16, 54
TICKS = 5
LABEL = 14.0
TIMES = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 604800)
"""Steps between the times on an axis."""
_LARGEST = 1e100
Scale = Callable[[float], float]


@dataclass(frozen=True)
class Mark:
    """A submission or a script on the chart."""

    x: float
    y: float
    kind: str
    words: str
    href: str | None = None
    is_below: bool = False
    """Whether its score is too bad for the scale: it is drawn at the edge, with an arrow."""


@dataclass(frozen=True)
class ReferenceLine:
    """A reference score, across the chart."""

    y: float
    name: str
    value: str
    label_y: float
    """Where its name is written without covering another."""


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True)
class ScoreLine:
    """The score of a run's submission over time."""

    name: str
    points: str
    """As SVG writes them."""
    colour: str = ""
    """A class of the style sheet."""


@dataclass(frozen=True)
class Chart:
    """Everything with its coordinates; up is better."""

    paths: list[ScoreLine]
    """Of the submissions' scores."""
    marks: list[Mark]
    lines: list[ReferenceLine]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    higher_is_better: bool
    y_title: str
    x_title: str = "working time"
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True)
class ScriptScore:
    """The validation score that a script measured itself."""

    working_s: float
    score: float
    words: str
    href: str


def draw(
    points: Sequence[CurvePoint],
    scripts: Sequence[ScriptScore],
    references: dict[str, float],
    *,
    higher_is_better: bool,
    end_s: float,
    metric: str = "score",
) -> Chart | None:
    """The chart of a run; None when there is nothing to show.

    Args:
        points: the graded submissions, oldest first.
        scripts: scripts of a search, by what the agent itself measured.
        references: scores that are drawn as lines, by name.
        end_s: working time until now.
        metric: the name of the score, for people.
    """
    scores = [score for point in points if (score := _drawable(point.grade)) is not None]
    scripts = [each for each in scripts if abs(each.score) < _LARGEST]
    shown = [*scores, *(each.score for each in scripts)]
    if not shown:
        return None
    sign = 1.0 if higher_is_better else -1.0
    wanted = [*references.values(), *scores[-1:]]
    low, high = _range([sign * value for value in shown], [sign * value for value in wanted])
    end_s = max([end_s, 1e-9, *(point.usage.working_s for point in points), *(each.working_s for each in scripts)])

    def x(seconds: float) -> float:
        return round(LEFT + (WIDTH - RIGHT - LEFT) * seconds / end_s, 1)

    def y(score: float) -> float:
        share = (sign * score - low) / (high - low)
        return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(1.0, max(0.0, share)), 1)

    def is_below(score: float) -> bool:
        return sign * score < low

    return Chart(
        paths=[ScoreLine("the submission's score", _path(points, x, y, end_s))],
        marks=[
            *(
                Mark(x(each.working_s), y(each.score), "tried", each.words, each.href, is_below(each.score))
                for each in scripts
            ),
            *(_submission(point, x, y, is_below) for point in points),
        ],
        lines=_lines(references, y),
        x_ticks=[Tick(x(at), duration_in_words(at)) for at in _times(end_s)],
        y_ticks=[Tick(y(at), f"{at:.6g}") for at in _numbers(*sorted((sign * low, sign * high)))],
        higher_is_better=higher_is_better,
        y_title=score_title(metric, higher_is_better=higher_is_better),
    )


def score_title(metric: str, *, higher_is_better: bool) -> str:
    """The title of an axis of scores."""
    return f"{metric} ({'higher' if higher_is_better else 'lower'} is better)"


def _times(end_s: float) -> list[float]:
    """A few round times for an axis."""
    return _multiples(0.0, end_s, next((step for step in TIMES if step >= end_s / TICKS), _many_weeks(end_s)))


def _many_weeks(end_s: float) -> float:
    return TIMES[-1] * float(math.ceil(end_s / TICKS / TIMES[-1]))


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
    span = best - floor
    if span <= 1e-9 * abs(best):
        span = abs(best) if abs(best) > 1e-100 else 1.0
    return max(min([*values, *wanted]), floor - 0.4 * span) - 0.04 * span, best + 0.06 * span


def _path(points: Sequence[CurvePoint], x: Scale, y: Scale, end_s: float) -> str:
    """A line that stays where it is until there is a new submission."""
    corners: list[tuple[float, float]] = []
    for point in points:
        score = _drawable(point.grade)
        if score is None:
            continue
        if corners:
            corners.append((x(point.usage.working_s), corners[-1][1]))
        corners.append((x(point.usage.working_s), y(score)))
    if corners:
        corners.append((x(end_s), corners[-1][1]))
    return " ".join(f"{across},{up}" for across, up in corners)


def _lines(references: dict[str, float], y: Scale) -> list[ReferenceLine]:
    lines: list[ReferenceLine] = []
    free = float(TOP)
    for name, value in sorted(references.items(), key=lambda each: y(each[1])):
        at = max(y(value), free)
        lines.append(ReferenceLine(y(value), name, number_in_words(value), at))
        free = at + LABEL
    return lines


def _submission(point: CurvePoint, x: Scale, y: Scale, is_below: Callable[[float], bool]) -> Mark:
    at, score, medal = x(point.usage.working_s), _drawable(point.grade), point.grade.medal
    when = f"after {duration_in_words(point.usage.working_s)}"
    if score is None:
        return Mark(at, HEIGHT - BOTTOM, "invalid", f"no valid submission {when}")
    words = f"submission scores {number_in_words(score)}{f', {medal} medal' if medal else ''} {when}"
    return Mark(at, y(score), medal or "none", words, is_below=is_below(score))


def _drawable(grade: Grade) -> float | None:
    return grade.score if grade.score is not None and abs(grade.score) < _LARGEST else None


@lru_cache(maxsize=256)
def references_of(task: str, edition: str | None, data_dir: Path | None, miniature: bool) -> dict[str, float]:
    """The scores that a run is compared with, by name; none if the task or its field is not here."""
    from podium.report.references import find_references  # brings all that grading needs

    try:
        found = find_references(task, edition, data_dir, miniature)
    except (PodiumError, OSError, ValueError, LookupError):
        return {}
    names = ("ceiling", "gold", "silver", "bronze", "median", "baseline")
    known = {name: getattr(found, name) for name in names}
    return {name: value for name, value in known.items() if value is not None and abs(value) < _LARGEST}
