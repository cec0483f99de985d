"""Chart of scores over time with medal lines, laid out for an SVG template."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from podium.errors import PodiumError
from podium.grading.grade import Grade
from podium.runs.records import CurvePoint
from podium.viewer.shown_text import duration_in_words, number_in_words

WIDTH, HEIGHT = 800, 330
LEFT, RIGHT, TOP, BOTTOM = 84, 84, 16, 54
TICKS = 5
LABEL = 14.0
TIMES = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 604800)
"""Tick intervals of a time axis, in seconds."""
_MAX_SCORE = 1e100
Scale = Callable[[float], float]


@dataclass(frozen=True)
class Mark:
    """Marker of a submission or a script."""

    x: float
    y: float
    kind: str
    words: str
    href: str | None = None
    is_below: bool = False
    """True if the score is below the visible range and is drawn as an arrow at the edge."""


@dataclass(frozen=True)
class ReferenceLine:
    """Horizontal line of a reference score."""

    y: float
    name: str
    value: str
    label_y: float
    """Vertical position of the label, clear of other labels."""


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True)
class ScoreLine:
    """Line of a run's submission score over time."""

    name: str
    points: str
    """Points in SVG syntax."""
    colour: str = ""
    """CSS class."""


@dataclass(frozen=True)
class Chart:
    """Chart with all its coordinates; up is better."""

    paths: list[ScoreLine]
    """Lines of submission scores."""
    marks: list[Mark]
    lines: list[ReferenceLine]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    higher_is_better: bool
    y_title: str
    x_title: str = "Working time"
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True)
class ScriptScore:
    """Validation score reported by a script."""

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
    """Draw the chart of a run; return None if there is nothing to show.

    Args:
        points: Graded submissions, oldest first.
        scripts: Scripts of a search with the scores that the agent measured.
        references: Scores to draw as lines, by name.
        end_s: Working time so far.
        metric: Display name of the score.
    """
    scores = [score for point in points if (score := _drawable(point.grade)) is not None]
    scripts = [each for each in scripts if abs(each.score) < _MAX_SCORE]
    shown = [*scores, *(each.score for each in scripts)]
    if not shown:
        return None
    end_s = max([end_s, *(point.usage.working_s for point in points), *(each.working_s for each in scripts)])
    wanted = [*references.values(), *scores[-1:]]
    scales = _Scales.over(shown, wanted, end_s=end_s, higher_is_better=higher_is_better)
    tried = [
        Mark(
            scales.x(each.working_s), scales.y(each.score), "tried", each.words, each.href, scales.is_below(each.score)
        )
        for each in scripts
    ]
    line = ScoreLine("submission score", _path(points, scales))
    return scales.chart([line], [*tried, *(_submission(point, scales) for point in points)], references, metric)


@dataclass(frozen=True)
class RunLine:
    """Graded submissions of one of several runs."""

    name: str
    colour: str
    points: Sequence[CurvePoint]


def draw_runs(
    runs: Sequence[RunLine], references: dict[str, float], *, higher_is_better: bool, metric: str
) -> Chart | None:
    """Draw the scores of several runs over time; return None if there is nothing to show."""
    scores = [[score for point in run.points if (score := _drawable(point.grade)) is not None] for run in runs]
    shown = [score for each in scores for score in each]
    if not shown:
        return None
    ends = [each[-1] for each in scores if each]
    end_s = max(point.usage.working_s for run in runs for point in run.points)
    scales = _Scales.over(shown, [*references.values(), *ends], end_s=end_s, higher_is_better=higher_is_better)
    lines = [ScoreLine(run.name, points, run.colour) for run in runs if (points := _path(run.points, scales))]
    return scales.chart(lines, [], references, metric)


@dataclass(frozen=True)
class _Scales:
    """Conversion of times and scores to coordinates."""

    low: float
    """Lower end of the scale, negated if lower is better."""
    high: float
    end_s: float
    higher_is_better: bool

    @classmethod
    def over(cls, shown: Sequence[float], wanted: Sequence[float], *, end_s: float, higher_is_better: bool) -> _Scales:
        """Return scales that show all required scores, and the rest as far as the chart stays readable."""
        sign = 1.0 if higher_is_better else -1.0
        low, high = _range([sign * value for value in shown], [sign * value for value in wanted])
        return cls(low, high, max(1e-9, end_s), higher_is_better)

    @property
    def sign(self) -> float:
        return 1.0 if self.higher_is_better else -1.0

    def x(self, seconds: float) -> float:
        return round(LEFT + (WIDTH - RIGHT - LEFT) * seconds / self.end_s, 1)

    def y(self, score: float) -> float:
        share = (self.sign * score - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(1.0, max(0.0, share)), 1)

    def is_below(self, score: float) -> bool:
        return self.sign * score < self.low

    def chart(self, lines: list[ScoreLine], marks: list[Mark], references: dict[str, float], metric: str) -> Chart:
        """Return the chart of these lines and marks."""
        numbers = round_numbers(*sorted((self.sign * self.low, self.sign * self.high)))
        return Chart(
            paths=lines,
            marks=marks,
            lines=_lines(references, self.y),
            x_ticks=[Tick(self.x(at), duration_in_words(at)) for at in _times(self.end_s)],
            y_ticks=[Tick(self.y(at), f"{at:.6g}") for at in numbers],
            higher_is_better=self.higher_is_better,
            y_title=score_title(metric, higher_is_better=self.higher_is_better),
        )


def score_title(metric: str, *, higher_is_better: bool) -> str:
    """Return the title of a score axis."""
    return f"{metric} ({'higher' if higher_is_better else 'lower'} is better)"


def _times(end_s: float) -> list[float]:
    """Return a few round times for an axis."""
    return _multiples(0.0, end_s, next((step for step in TIMES if step >= end_s / TICKS), _many_weeks(end_s)))


def _many_weeks(end_s: float) -> float:
    return TIMES[-1] * float(math.ceil(end_s / TICKS / TIMES[-1]))


def round_numbers(low: float, high: float) -> list[float]:
    """Return a few round numbers for an axis."""
    least = (high - low) / TICKS
    scale = 10.0 ** math.floor(math.log10(least))
    return _multiples(low, high, scale * next(each for each in (1, 2, 5, 10) if each * scale >= least * (1 - 1e-9)))


def _multiples(low: float, high: float, step: float) -> list[float]:
    return [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _range(values: list[float], wanted: list[float]) -> tuple[float, float]:
    """Return the visible range: all good scores, and bad ones as far as the chart stays readable."""
    best, floor = max([*values, *wanted]), min(wanted or values)
    span = best - floor
    if span <= 1e-9 * abs(best):
        span = abs(best) if abs(best) > 1e-100 else 1.0
    return max(min([*values, *wanted]), floor - 0.4 * span) - 0.04 * span, best + 0.06 * span


def _path(points: Sequence[CurvePoint], scales: _Scales) -> str:
    """Return a step line that holds its value until the next submission."""
    corners: list[tuple[float, float]] = []
    for point in points:
        score = _drawable(point.grade)
        if score is None:
            continue
        at = scales.x(point.usage.working_s)
        if corners:
            corners.append((at, corners[-1][1]))
        corners.append((at, scales.y(score)))
    if corners:
        corners.append((scales.x(scales.end_s), corners[-1][1]))
    return " ".join(f"{across},{up}" for across, up in corners)


def _lines(references: dict[str, float], y: Scale) -> list[ReferenceLine]:
    lines: list[ReferenceLine] = []
    free = float(TOP)
    for name, value in sorted(references.items(), key=lambda each: y(each[1])):
        at = max(y(value), free)
        lines.append(ReferenceLine(y(value), name, number_in_words(value), at))
        free = at + LABEL
    return lines


def _submission(point: CurvePoint, scales: _Scales) -> Mark:
    at, score, medal = scales.x(point.usage.working_s), _drawable(point.grade), point.grade.medal
    time = duration_in_words(point.usage.working_s)
    if score is None:
        return Mark(at, HEIGHT - BOTTOM, "invalid", f"No valid submission after {time}")
    words = f"Submission score {number_in_words(score)}{f', {medal} medal' if medal else ''} after {time}"
    return Mark(at, scales.y(score), medal or "none", words, is_below=scales.is_below(score))


def _drawable(grade: Grade) -> float | None:
    return grade.score if grade.score is not None and abs(grade.score) < _MAX_SCORE else None


@lru_cache(maxsize=256)
def references_of(task: str, edition: str | None, data_dir: Path | None, miniature: bool) -> dict[str, float]:
    """Return a task's reference scores by name, empty if the task or its leaderboard is unknown."""
    from podium.report.score_references import find_references  # imports the whole grading stack

    try:
        found = find_references(task, edition, data_dir, miniature)
    except (PodiumError, OSError, ValueError, LookupError):
        return {}
    names = ("ceiling", "gold", "silver", "bronze", "median", "baseline")
    known = {name: getattr(found, name) for name in names}
    return {name: value for name, value in known.items() if value is not None and abs(value) < _MAX_SCORE}
