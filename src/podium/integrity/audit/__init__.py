"""Are tasks sound? Checks that are told nothing of known faults look for labels in public files, groups that cross the
split, and graders that accept what they should not.
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
from podium.integrity.audit.audited_task import AuditedTask, TaskFinding, opened

AuditCheck = Callable[[AuditedTask], Iterator[TaskFinding]]
OF_ANY: Sequence[AuditCheck] = (threshold_checks.thresholds_in_order, threshold_checks.baseline_at_chance)
OF_TABLES: Sequence[AuditCheck] = (
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
"""All checks have one shape; most look at a table of answers."""

__all__ = ["OF_ANY", "OF_TABLES", "AuditCheck", "AuditedTask", "TaskFinding", "audit"]


def audit(prepared: PreparedTask) -> list[TaskFinding]:
    """What the checks find in a prepared task, the surest first."""
    with opened(prepared) as task:
        checks = [*OF_ANY, *(OF_TABLES if prepared.task.is_table else ())]
        found = {finding: None for check in checks for finding in check(task)}
    return sorted(found, key=lambda finding: (finding.severity, -finding.confidence))
