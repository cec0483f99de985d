"""Medals and percentile over time, tokens and steps, from snapshots graded by `podium run --curve`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from podium.errors import RecordError
from podium.report.results import Row
from podium.report.statistics import Numbers
from podium.runs.records import CurvePoint
from podium.runs.run_folder import RunFolder

Axis = Literal["working_s", "tokens", "steps"]
AXES: dict[Axis, str] = {"working_s": "working time", "tokens": "tokens", "steps": "steps"}
POINTS = 200


@dataclass(frozen=True)
class RunCurve:
    """Graded submissions of one run, oldest first."""

    row: Row
    points: tuple[CurvePoint, ...]
    error: str | None = None
    """Reason why they cannot be read."""


@dataclass(frozen=True)
class Curve:
    """Mean result of an experiment's runs at each amount of a resource used."""

    axis: Axis
    runs: int
    """Number of runs with a curve; others are excluded."""
    x: tuple[float, ...]
    any_medal: tuple[float, ...]
    """Percentage of runs whose submission at that point would have earned a medal."""
    percentile: tuple[float, ...]
    """Mean percentile; 0 without a valid submission."""


def read_curves(rows: Sequence[Row]) -> list[RunCurve]:
    """Return the curves of the runs that have one."""
    return [curve for row in rows if (curve := read_curve(row)) is not None]


def read_curve(row: Row) -> RunCurve | None:
    """Return the curve of a run, or None if its submissions were not graded step by step."""
    if row.folder is None:
        return None
    try:
        points = RunFolder(row.folder).read_curve()
    except RecordError as error:
        return RunCurve(row, (), error=str(error))
    return None if points is None else RunCurve(row, points)


def overall(curves: Sequence[RunCurve], axis: Axis) -> Curve | None:
    """Return the mean curve of all runs over an axis, or None if it has fewer than two points.

    A run keeps its last value after its end; a worse later submission lowers the curve.
    """
    curves = [curve for curve in curves if curve.points]
    moments = np.unique([getattr(point.usage, axis) for curve in curves for point in curve.points])
    if len(moments) < 2:
        return None
    if len(moments) > POINTS:
        moments = np.unique(np.quantile(moments, np.linspace(0, 1, POINTS), method="nearest"))
    medals = [
        _along(curve, axis, moments, [100.0 * (point.grade.medal is not None) for point in curve.points])
        for curve in curves
    ]
    ranks = [
        _along(curve, axis, moments, [point.grade.percentile or 0.0 for point in curve.points]) for curve in curves
    ]
    return Curve(
        axis=axis,
        runs=len(curves),
        x=tuple(moments.tolist()),
        any_medal=tuple(np.mean(medals, axis=0).tolist()),
        percentile=tuple(np.mean(ranks, axis=0).tolist()),
    )


def _along(curve: RunCurve, axis: Axis, moments: Numbers, values: Sequence[float]) -> Numbers:
    """Return a run's value at each point: that of its newest submission, 0 before the first."""
    at = np.array([getattr(point.usage, axis) for point in curve.points], dtype=float)
    newest = np.searchsorted(at, moments, side="right")
    return np.asarray(np.array([0.0, *values])[newest])
