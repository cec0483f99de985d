"""Are tasks sound? Checks that are told nothing of known faults look for labels in public files, groups that cross the
split, and graders that accept what they should not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from podium.grading.prepared import PreparedTask
from podium.integrity.audit import duplicates, form, graders, groups, labels, outlines, references, shapes
from podium.integrity.audit.audited import AuditedTask, TaskFinding, opened

AuditCheck = Callable[[AuditedTask], Iterator[TaskFinding]]
OF_ANY: Sequence[AuditCheck] = (references.thresholds_in_order, references.baseline_at_chance)
OF_TABLES: Sequence[AuditCheck] = (
    form.sample_and_answers,
    form.files_of_the_brief,
    form.metadata_predicts,
    labels.labels_in_columns,
    labels.labels_by_presence,
    labels.labels_in_names,
    labels.answers_in_texts,
    labels.answers_in_binaries,
    outlines.outlines_of_masks,
    duplicates.duplicated_files,
    duplicates.duplicated_rows,
    groups.groups_in_columns,
    groups.groups_in_names,
    groups.times_between,
    shapes.published_shape,
    shapes.miniature_shape,
    graders.order_of_rows,
    graders.wrong_values,
    graders.direction,
    references.sample_wins,
    references.ceiling_is_beaten,
)
"""All checks have one shape; most look at a table of answers."""

__all__ = ["OF_ANY", "OF_TABLES", "AuditCheck", "AuditedTask", "TaskFinding", "audit"]


def audit(prepared: PreparedTask) -> list[TaskFinding]:
    """What the checks find in a prepared task, the surest first."""
    with opened(prepared) as task:
        checks = [*OF_ANY, *(OF_TABLES if prepared.task.is_table else ())]
        found = {finding: None for check in checks for finding in check(task)}
    return sorted(found, key=lambda finding: (finding.severity, -finding.confidence))
