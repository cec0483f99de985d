"""Audit of tasks: checks, without knowledge of known faults, for labels in public files, groups that cross the split,
and graders that accept invalid submissions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from podium.grading.prepared_task import PreparedTask
from podium.integrity.audit import (
    duplicate_rows,
    grader_tests,
    group_leaks,
    label_leaks,
    outline_leaks,
    published_shapes,
    task_consistency,
    threshold_checks,
)
from podium.integrity.audit.audited_task import AuditedTask, TaskFinding, open_task

AuditCheck = Callable[[AuditedTask], Iterator[TaskFinding]]
REFERENCE_CHECKS: Sequence[AuditCheck] = (threshold_checks.thresholds_in_order, threshold_checks.baseline_at_chance)
TABLE_CHECKS: Sequence[AuditCheck] = (
    task_consistency.sample_and_answers,
    task_consistency.files_of_the_brief,
    task_consistency.metadata_predicts,
    label_leaks.labels_in_columns,
    label_leaks.labels_by_presence,
    label_leaks.labels_in_names,
    label_leaks.answers_in_texts,
    label_leaks.answers_in_binaries,
    outline_leaks.outlines_of_masks,
    duplicate_rows.duplicated_files,
    duplicate_rows.duplicated_rows,
    group_leaks.groups_in_columns,
    group_leaks.groups_in_names,
    group_leaks.times_between,
    published_shapes.published_shape,
    published_shapes.miniature_shape,
    grader_tests.order_of_rows,
    grader_tests.wrong_values,
    grader_tests.direction,
    threshold_checks.sample_wins,
    threshold_checks.ceiling_is_beaten,
)
"""Checks of tasks with a table of answers; all checks have one signature."""

__all__ = ["REFERENCE_CHECKS", "TABLE_CHECKS", "AuditCheck", "AuditedTask", "TaskFinding", "audit"]


def audit(prepared: PreparedTask) -> list[TaskFinding]:
    """Run all checks on a prepared task and return the findings, the most severe and certain first."""
    with open_task(prepared) as task:
        checks = [*REFERENCE_CHECKS, *(TABLE_CHECKS if prepared.task.is_table else ())]
        found = {finding: None for check in checks for finding in check(task)}
    return sorted(found, key=lambda finding: (finding.severity, -finding.confidence))
