"""Histogram of a leaderboard's scores with medal zones and a dot for every run.

Better is always to the right. Runs far outside the leaderboard's range are drawn at the edge and marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.grading.medals import thresholds
from podium.report.statistics import Numbers
from podium.task import Leaderboard
from podium.viewer.drawing.score_chart import Scale, Tick, round_numbers
from podium.viewer.shown_text import number_in_words

WIDTH, LEFT, RIGHT, TOP, BARS = 800, 16, 16, 30, 170
BINS = 48
LANE = 15
LANES = 8
AXIS = 46
LOWEST_SHARE = 0.08
"""Share of the worst leaderboard entries to hide, as their scores are often absurd."""
MEDALS = ("median", "bronze", "silver", "gold")


@dataclass(frozen=True)
class RunScore:
    """Run to be placed on a leaderboard."""

    score: float
    words: str
    href: str | None
    colour: str


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    words: str
    href: str | None
    colour: str
    beyond: int
    """-1 or 1 if the run is beyond the left or the right edge, otherwise 0."""


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    name: str = ""


@dataclass(frozen=True)
class Distribution:
    """Chart with all its coordinates."""

    bars: list[Box]
    zones: list[Box]
    dots: list[Dot]
    ticks: list[Tick]
    height: int
    axis_y: int
    hidden: float
    """Percentage of the leaderboard that is worse than the left edge."""
    width: int = WIDTH
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP


def draw_distribution(board: Leaderboard, runs: Sequence[RunScore]) -> Distribution | None:
    """Draw a leaderboard and runs; return None if the leaderboard has no scores."""
    field = _field(board)
    if field is None:
        return None
    sign = -1.0 if board.lower_is_better else 1.0
    limits = thresholds(board)
    marks = {name: sign * value for name in MEDALS if (value := getattr(limits, name)) is not None}
    low, high = _range(field, list(marks.values()))
    scale = (WIDTH - LEFT - RIGHT) / (high - low)

    def x(value: float) -> float:
        return round(LEFT + scale * (min(high, max(low, value)) - low), 1)

    lanes = min(LANES, max(1, len(runs)))
    axis_y = TOP + BARS + 12 + LANE * lanes
    return Distribution(
        bars=_bars(field, low, high),
        zones=_zones(marks, x(high), x),
        dots=[_dot(run, sign * run.score, low, high, x, number % lanes) for number, run in enumerate(runs)],
        ticks=[Tick(x(sign * at), number_in_words(at)) for at in round_numbers(*sorted((sign * low, sign * high)))],
        height=axis_y + AXIS,
        axis_y=axis_y,
        hidden=100.0 * float(np.mean(field < low)),
    )


def _field(board: Leaderboard) -> Numbers | None:
    """Return equally weighted scores of the leaderboard, negated if lower is better."""
    sign = -1.0 if board.lower_is_better else 1.0
    known = np.asarray(board.scores or board.quantiles or (), dtype=float)
    known = known[np.isfinite(known)]
    if len(known) < 2:
        return None
    if board.scores:
        return np.sort(sign * known)
    shares = np.linspace(0, 1, 20 * len(known))
    return np.asarray(np.quantile(sign * known, shares))


def _range(field: Numbers, marks: list[float]) -> tuple[float, float]:
    """Return the visible range of scores, robust to absurd values at both ends."""
    low, middle, top = (float(np.quantile(field, share)) for share in (LOWEST_SHARE, 0.5, 0.98))
    best = max([top, *marks])
    low = min([max(low, middle - 3 * (best - middle)), *marks])
    high = min(max(float(field[-1]), best), best + (best - middle))
    span = high - low
    if span <= 1e-12 * max(1.0, abs(high)):
        span = abs(high) or 1.0
    return low - 0.02 * span, high + 0.04 * span


def _bars(field: Numbers, low: float, high: float) -> list[Box]:
    counts, _ = np.histogram(field, bins=BINS, range=(low, high))
    width = (WIDTH - LEFT - RIGHT) / BINS
    tallest = max(1, int(counts.max()))
    return [
        Box(
            round(LEFT + number * width + 0.5, 1),
            round(TOP + BARS * (1 - count / tallest), 1),
            round(width - 1, 1),
            round(BARS * count / tallest, 1),
            f"{100 * count / len(field):.1f} % of the leaderboard",
        )
        for number, count in enumerate(counts)
        if count
    ]


def _zones(marks: dict[str, float], right: float, x: Scale) -> list[Box]:
    edges = [(name, x(value)) for name, value in sorted(marks.items(), key=lambda each: each[1])]
    ends = [*(at for _, at in edges[1:]), right]
    return [
        Box(at, TOP - 8, round(max(1.5, end - at), 1), BARS + 8, name)
        for (name, at), end in zip(edges, ends, strict=True)
    ]


def _dot(run: RunScore, value: float, low: float, high: float, x: Scale, lane: int) -> Dot:
    beyond = -1 if value < low else 1 if value > high else 0
    return Dot(x(value), TOP + BARS + 14 + LANE * lane, run.words, run.href, run.colour, beyond)
