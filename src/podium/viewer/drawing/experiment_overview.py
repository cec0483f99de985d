"""Experiment overview: headline, outcomes of runs and a strip of results for every task."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from podium.errors import UsageError
from podium.report.aggregate import Summary, headline, summarise
from podium.report.results import Results, Row
from podium.text import format_duration
from podium.viewer.drawing.score_chart import Scale, Tick, round_numbers
from podium.viewer.http_security import run_address, task_address
from podium.viewer.index.experiment_index import ExperimentIndex
from podium.viewer.shown_text import number_in_words

WIDTH, LEFT, RIGHT, TOP, LINE, AXIS = 800, 250, 70, 12, 24, 48
MAX_TASKS = 80
MAX_DOTS = 12
"""Maximum number of dots per task; more runs are drawn as a range with its median."""


@dataclass(frozen=True)
class StripDot:
    x: float
    kind: str
    words: str
    href: str | None


@dataclass(frozen=True)
class StripLine:
    """Runs of one task."""

    y: int
    task: str
    href: str
    dots: list[StripDot]
    span: tuple[float, float, float] | None
    """Worst, best and median position, if there are too many runs for dots."""
    note: str


@dataclass(frozen=True)
class Strip:
    """Strip chart of the runs of each task; right is better."""

    title: str
    lines: list[StripLine]
    ticks: list[Tick]
    height: int
    width: int = WIDTH
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP


@dataclass(frozen=True)
class Overview:
    """Content at the top of an experiment's page."""

    headline: str
    summary: Summary
    used: list[tuple[str, str]]
    strips: list[Strip]


class Overviews:
    """Cache of overviews, renewed when an experiment changes."""

    def __init__(self, index: ExperimentIndex) -> None:
        self._index = index
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int, Overview | None]] = {}

    def read(self, name: str) -> Overview | None:
        """Return the overview of an experiment, or None if it is unreadable or no run has started."""
        changed = self._index.changes(name)
        known = self._known.get(name)
        if known is None or known[0] != changed:
            results = self._index.results(name)
            known = changed, None if results is None else _overview(results)
            with self._lock:
                self._known[name] = known
        return known[1]


def _overview(results: Results) -> Overview | None:
    try:
        summary = summarise(results)
    except UsageError:
        return None
    return Overview(headline(summary), summary, list(_used(summary)), list(_strips(results)))


def _used(summary: Summary) -> Iterator[tuple[str, str]]:
    """Yield the total usage of all runs."""
    for name, title in (("working_s", "Working time"), ("tokens", "Tokens"), ("cost", "Cost")):
        totals = summary.usage.get(name)
        if totals is None or not totals.total:
            continue
        if name == "cost":
            yield title, f"${totals.total:,.2f}"
        else:
            yield title, format_duration(totals.total) if name == "working_s" else f"{totals.total:,.0f}"


def _strips(results: Results) -> Iterator[Strip]:
    ended = [row for row in results.rows if row.reported]
    medals, research = ([row for row in ended if row.competition is is_medal] for is_medal in (True, False))
    if any(row.percentile is not None for row in medals):
        yield from _strip("Percentile on the task's leaderboard", medals, 0.0, 100.0)
    gains = [row.improvement for row in research if row.improvement is not None]
    if gains:
        low, high = max(-100.0, min(0.0, *gains)), min(400.0, max(20.0, *gains))
        yield from _strip("Improvement over the baseline (%)", research, low, high)


def _strip(title: str, rows: Sequence[Row], low: float, high: float) -> Iterator[Strip]:
    by_task: dict[str, list[Row]] = {}
    for row in rows:
        by_task.setdefault(row.task, []).append(row)
    if len(by_task) > MAX_TASKS:
        return
    scale = (WIDTH - LEFT - RIGHT) / (high - low)

    def x(value: float) -> float:
        return round(LEFT + scale * (min(high, max(low, value)) - low), 1)

    lines = [_line(TOP + LINE * n + LINE // 2, task, found, x) for n, (task, found) in enumerate(by_task.items())]
    ticks = [Tick(x(at), number_in_words(round(at))) for at in round_numbers(low, high)]
    yield Strip(title, lines, ticks, TOP + LINE * len(lines) + AXIS)


def _line(y: int, task: str, ended: Sequence[Row], x: Scale) -> StripLine:
    rows = [row for row in ended if row.percentile is not None or row.improvement is not None]
    values = sorted(x(_value(row)) for row in rows)
    many, without = len(rows) > MAX_DOTS, len(ended) - len(rows)
    return StripLine(
        y,
        task,
        task_address(task),
        dots=[] if many else [_dot(row, x) for row in rows],
        span=(values[0], values[-1], statistics.median(values)) if many else None,
        note=f"{without} invalid" if without else "",
    )


def _dot(row: Row, x: Scale) -> StripDot:
    value = f"percentile {row.percentile:.0f}" if row.percentile is not None else f"{row.improvement:+.1f} %"
    words = f"{row.task}, seed {row.seed}: {number_in_words(row.score)}, {value}{f', {row.medal}' if row.medal else ''}"
    return StripDot(x(_value(row)), row.medal or "none", words, run_address(row.key) if row.folder else None)


def _value(row: Row) -> float:
    return row.percentile if row.percentile is not None else row.improvement or 0.0
