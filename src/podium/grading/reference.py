"""Reference of a score (leaderboard or baseline), and the comparison with it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from podium.data.home import DataFolder
from podium.data.mlebench_checkout import imported_leaderboard
from podium.grading.baseline_score import beyond_noise, improvement, read_baseline
from podium.grading.leaderboard import find_position, read_leaderboard, read_leaderboard_csv
from podium.grading.medals import thresholds
from podium.task import Baseline, Leaderboard, Measured, Reference, Task

LEADERBOARD_FILE = "leaderboard.json"


def find_reference(task: Task, place: DataFolder) -> Reference | None:
    """Return the reference of a task: a measured field or baseline, an imported leaderboard, or the task's own.

    Args:
        task: the task in one of its editions.
    """
    measured = place.private / LEADERBOARD_FILE
    if measured.exists():
        return read_leaderboard(measured)
    if isinstance(task.reference, Baseline) and task.reference.by_definition:
        return task.reference
    baseline = read_baseline(place)
    if baseline:
        return baseline
    imported = imported_leaderboard(task.id)
    if imported:
        return read_leaderboard_csv(imported, lower_is_better=not task.metric.higher_is_better)
    return task.reference


def compare_score(found: Measured, reference: Reference | None, *, higher_is_better: bool) -> dict[str, Any]:
    """Return the fields of a grade that compare a score with its reference."""
    score = found.score
    match reference:
        case Leaderboard():
            limits, position = thresholds(reference), find_position(score, reference)
            return {
                "medal": limits.medal(score),
                "above_median": limits.above_median(score),
                "field": reference.measured,
                **asdict(position),
            }
        case Baseline():
            gain = improvement(score, reference.score, higher_is_better=higher_is_better)
            clear = beyond_noise(found, reference, higher_is_better=higher_is_better)
            success = None if gain is None else gain > reference.success_at and clear is not False
            return {"improvement": gain, "success": success, "beyond_noise": clear}
        case None:
            return {}
