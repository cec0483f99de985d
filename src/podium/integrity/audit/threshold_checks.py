"""What scores are compared with: thresholds in order, no medal for the sample, no score beyond the answers' own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from podium.integrity.audit.audited_task import AuditedTask, TaskFinding
from podium.integrity.audit.grader_tests import grade_table
from podium.task import Baseline, Leaderboard

MEDALS = ("gold", "silver", "bronze", "median")


def thresholds_in_order(task: AuditedTask) -> Iterator[TaskFinding]:
    """Gold must not be easier than silver, nor silver than bronze, nor bronze than the median."""
    reference, metric = task.prepared.reference, task.prepared.task.metric
    if not isinstance(reference, Leaderboard):
        return
    if reference.lower_is_better == metric.higher_is_better:
        said = "lower" if reference.lower_is_better else "higher"
        yield task.finding("the metric's direction is wrong", f"the leaderboard says {said} is better", 0.95)
        return
    known = [(name, value) for name in MEDALS if (value := getattr(reference, name)) is not None]
    for (harder, high), (easier, low) in pairwise(known):
        if metric.is_better(low, high):
            yield task.finding(
                "thresholds out of order", f"{easier} ({low:.6g}) is harder than {harder} ({high:.6g})", 0.95
            )


def sample_wins(task: AuditedTask) -> Iterator[TaskFinding]:
    """The sample submission of real data must not win a medal. On miniatures medals mean nothing."""
    if task.prepared.miniature:
        return
    grade = grade_table(task, task.sample)
    if grade.medal:
        yield task.finding("the sample submission wins", f"{grade.score:.6g} is worth a {grade.medal} medal", 0.9)


def ceiling_is_beaten(task: AuditedTask) -> Iterator[TaskFinding]:
    """Nobody on the leaderboard may be better than the answers themselves."""
    reference = task.prepared.reference
    if not isinstance(reference, Leaderboard) or task.perfect is None or task.prepared.miniature:
        return
    best = (reference.scores or reference.quantiles or (reference.gold,))[0]
    grade = grade_table(task, task.perfect)
    if best is not None and grade.score is not None and task.prepared.task.metric.is_better(best, grade.score):
        reason = f"the leaderboard begins with {best:.6g}, the answers themselves score {grade.score:.6g}"
        yield task.finding("a ceiling is beaten", reason, 0.8)


def baseline_at_chance(task: AuditedTask) -> Iterator[TaskFinding]:
    """Starter code must be better than the sample submission, or improving on it means little."""
    reference = task.prepared.reference
    if not isinstance(reference, Baseline) or not task.prepared.task.is_table:
        return
    grade = grade_table(task, task.sample)
    if grade.score is not None and not task.prepared.task.metric.is_better(reference.score, grade.score):
        reason = f"the starter code scores {reference.score:.6g}, the sample submission {grade.score:.6g}"
        yield task.finding("the baseline is at chance", reason, 0.7, severity="remark")
