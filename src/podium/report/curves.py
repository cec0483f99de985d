"""Score, medals and percentile over time, tokens and steps, from the snapshots that `podium run --curve` graded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from podium.errors import PodiumError
from podium.report.statistics import Numbers
from podium.report.table import Entry, Row, as_number

Axis = Literal["working_s", "tokens", "steps"]
AXES: dict[Axis, str] = {"working_s": "working time", "tokens": "tokens", "steps": "steps"}
POINTS = 200


@dataclass(frozen=True)
class Point:
    """A submission as it stood at some moment of a run."""

    working_s: float
    tokens: float
    steps: float
    valid: bool
    score: float | None
    medal: str | None
    percentile: float | None


@dataclass(frozen=True)
class RunCurve:
    """One run's submissions, oldest first."""

    row: Row
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Curve:
    """What all runs of an experiment had reached together when each had used so much."""

    axis: Axis
    runs: int
    """With a curve; the others are not in it."""
    x: tuple[float, ...]
    any_medal: tuple[float, ...]
    """Percent of runs whose submission at that moment would have earned one."""
    percentile: tuple[float, ...]
    """Mean; 0 without a valid submission."""


def read_curves(entry: Entry) -> list[RunCurve]:
    """The curves of an experiment's runs, of those that have one."""
    found = []
    for row in entry.rows:
        path = row.folder / "curve.json" if row.folder else None
        if path is None or not path.is_file():
            continue
        try:
            points = tuple(_point(point) for point in json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError) as error:
            raise PodiumError(f"{path} is damaged: {error!r}. Repeat podium run with --curve.") from error
        found.append(RunCurve(row, points))
    return found


def _point(point: dict[str, Any]) -> Point:
    used = point["used"]
    return Point(
        working_s=used["working_s"],
        tokens=used["tokens"],
        steps=used["steps"],
        valid=bool(point["valid"]),
        score=as_number(point["score"]),
        medal=point["medal"],
        percentile=point["percentile"],
    )


def overall(curves: Sequence[RunCurve], axis: Axis) -> Curve | None:
    """All runs as one curve over an axis; None if nothing happens along it.

    A run that has ended stays where it was; a submission made worse lowers the curve, as it would have been graded.
    """
    moments = np.unique([getattr(point, axis) for curve in curves for point in curve.points])
    if len(moments) < 2:
        return None
    if len(moments) > POINTS:
        moments = np.unique(np.quantile(moments, np.linspace(0, 1, POINTS), method="nearest"))
    medals = [
        _along(curve, axis, moments, [100.0 * (point.medal is not None) for point in curve.points]) for curve in curves
    ]
    ranks = [_along(curve, axis, moments, [point.percentile or 0.0 for point in curve.points]) for curve in curves]
    return Curve(
        axis=axis,
        runs=len(curves),
        x=tuple(moments.tolist()),
        any_medal=tuple(np.mean(medals, axis=0).tolist()),
        percentile=tuple(np.mean(ranks, axis=0).tolist()),
    )


def _along(curve: RunCurve, axis: Axis, moments: Numbers, values: Sequence[float]) -> Numbers:
    """A run's value at each moment: that of its newest submission, 0 before the first."""
    at = np.array([getattr(point, axis) for point in curve.points], dtype=float)
    newest = np.searchsorted(at, moments, side="right")
    return np.asarray(np.array([0.0, *values])[newest])
