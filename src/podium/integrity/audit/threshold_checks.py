"""Checks of the reference scores: thresholds in order, no medal for the sample, no score better than the answers'."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from podium.integrity.audit.audited_task import AuditedTask, TaskFinding
from podium.integrity.audit.grader_tests import grade_table
from podium.task import Baseline, Leaderboard

MEDALS = ("gold", "silver", "bronze", "median")


def thresholds_in_order(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that gold is at least as hard as silver, silver as bronze, and bronze as the median."""
    reference, metric = task.prepared.reference, task.prepared.task.metric
    if not isinstance(reference, Leaderboard):
        return
    if reference.lower_is_better == metric.higher_is_better:
        better, worse = ("lower", "higher") if reference.lower_is_better else ("higher", "lower")
        reason = f"On the leaderboard {better} scores are better, but by the metric {worse} ones."
        yield task.finding("the metric's direction is wrong", reason, 0.95)
        return
    known = [(name, value) for name in MEDALS if (value := getattr(reference, name)) is not None]
    for (harder, high), (easier, low) in pairwise(known):
        if metric.is_better(low, high):
            reason = f"The threshold for {easier}, {low:.6g}, is harder than that for {harder}, {high:.6g}."
            yield task.finding("thresholds out of order", reason, 0.95)


def sample_wins(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that the sample submission of real data wins no medal. Medals on miniatures mean nothing."""
    if task.prepared.miniature:
        return
    grade = grade_table(task, task.sample)
    if grade.medal:
        reason = f"The sample submission scores {grade.score:.6g}, which wins a {grade.medal} medal."
        yield task.finding("the sample submission wins", reason, 0.9)


def ceiling_is_beaten(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that no score on the leaderboard is better than that of the answers themselves."""
    reference = task.prepared.reference
    if not isinstance(reference, Leaderboard) or task.perfect is None or task.prepared.miniature:
        return
    best = (reference.scores or reference.quantiles or (reference.gold,))[0]
    grade = grade_table(task, task.perfect)
    if best is not None and grade.score is not None and task.prepared.task.metric.is_better(best, grade.score):
        reason = f"The best score on the leaderboard is {best:.6g}, but the answers themselves score {grade.score:.6g}."
        yield task.finding("a ceiling is beaten", reason, 0.8)


def baseline_at_chance(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that starter code is better than the sample submission: otherwise an improvement on it means little."""
    reference = task.prepared.reference
    if not isinstance(reference, Baseline) or not task.prepared.task.is_table:
        return
    grade = grade_table(task, task.sample)
    if grade.score is not None and not task.prepared.task.metric.is_better(reference.score, grade.score):
        reason = f"The starter code scores {reference.score:.6g} and the sample submission {grade.score:.6g}."
        yield task.finding("the baseline is at chance", reason, 0.7, severity="remark")
