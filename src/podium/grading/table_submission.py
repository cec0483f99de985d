"""Table submissions: rows are aligned with the answers, and the metric compares the target columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from podium.data.formats.archives import opened_member
from podium.errors import InvalidSubmission
from podium.grading.check_submission import align, clip, convert, list_some, name_rows
from podium.grading.read_submission import read_submission, size_limit
from podium.grading.submission_form import OpenExecute, WorkspaceFiles
from podium.task import SUBMISSION, Columns, Measured, Task, Text

if TYPE_CHECKING:
    from podium.grading.prepared_task import PreparedTask


@dataclass(frozen=True)
class TableForm:
    """Form of a submission that is one file with rows and columns."""

    columns: Columns

    def max_bytes(self, public: Path) -> int:
        """Return the maximum size of a table in bytes."""
        return size_limit(self.columns, (public / self.columns.sample).stat().st_size)

    def take(self, workspace: WorkspaceFiles, target: Path, limit_bytes: int) -> None:
        """Copy the table to `target`."""
        found = workspace.take(SUBMISSION, target, limit_bytes)
        if not found.is_file:
            raise InvalidSubmission(f"There is no submission at {SUBMISSION} ({found.reason}).")

    @contextmanager
    def from_host(self, path: Path, prepared: PreparedTask) -> Iterator[Path]:
        """Yield the path itself, since reading is bounded; raise InvalidSubmission for a link to the answers."""
        if _leads_to_answers(path, prepared.place.root.parent):
            raise InvalidSubmission(f"{clip(path.name)} is a link to prepared answers; a regular file is expected.")
        yield path

    def check(self, submission: Path, prepared: PreparedTask) -> None:
        """Compare ids and cells with the sample submission in the public folder."""
        sample = prepared.place.public / self.columns.sample
        with prepared.explain_damage(str(sample)), opened_member(sample) as file:
            ids = pd.read_csv(file, dtype=str, keep_default_na=False)[list(self.columns.ids)]
        self._read_aligned(submission, prepared, ids)

    def score(self, submission: Path, prepared: PreparedTask, execute: OpenExecute | None) -> Measured:
        """Align the rows with the answers and apply the task's own score or its metric."""
        form, task, private = self.columns, prepared.task, prepared.place.private
        parts = task.parts
        with prepared.explain_damage(f"The private folder of {task.id}"):
            answers = parts.answers(private) if parts.answers else read_answers(private / form.answers, form)
            ids = answers[list(form.ids)]
            truth = answers if parts.score else convert_answers(form, answers)
        table = self._read_aligned(submission, prepared, ids)
        score = parts.score(truth, table) if parts.score else apply_metric(task, truth, table)
        best = math.inf if task.metric.higher_is_better else -math.inf
        if not math.isfinite(score) and score != best:
            raise InvalidSubmission(_describe_score(task.metric.title, score, list(form.targets)))
        return Measured(float(score))

    def _read_aligned(self, path: Path, prepared: PreparedTask, ids: pd.DataFrame) -> pd.DataFrame:
        form, sample = self.columns, prepared.place.public / self.columns.sample
        with prepared.explain_damage(str(sample)):
            limit = self.max_bytes(prepared.place.public)
            expected = max(len(ids), _count_rows(sample)) if form.extra_rows else len(ids)
        table = read_submission(path, form, expected_rows=expected, max_bytes=limit)
        return align(table, form, ids[list(form.ids)])


def _leads_to_answers(path: Path, data: Path) -> bool:
    """Return whether a link leads into a task's private folder; naming a file there directly is allowed."""
    try:
        found = path.resolve(strict=True)
    except (OSError, ValueError, RuntimeError):  # reading the file will raise the error to show
        return False
    return _is_private(found, data.resolve()) and not _is_private(path.absolute(), data.absolute())


def _is_private(path: Path, data: Path) -> bool:
    return path.is_relative_to(data) and path.relative_to(data).parts[1:2] == ("private",)


def _describe_score(title: str, score: float, targets: list[str]) -> str:
    """Return the message for a score that is undefined or infinite."""
    columns = f"column{'s' * (len(targets) > 1)} {list_some([repr(name) for name in targets], 3)}"
    if math.isnan(score):
        return f"{title} is undefined for this submission. Check whether the values in {columns} are constant."
    return f"{title} is infinite for this submission. Check whether the values in {columns} are too large."


def convert_answers(form: Columns, answers: pd.DataFrame) -> pd.DataFrame:
    """Return the target columns of the answers under their names in a submission, converted by the form's rules."""
    names = zip(_answer_names(form), form.targets, strict=True)
    return pd.DataFrame({target: convert(answers[name], form.rule(target), name) for name, target in names})


def apply_metric(task: Task, truth: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Return the metric over the target columns of two aligned tables."""
    form, metric = task.form, task.metric
    if metric.takes_row_names:
        metric = metric.using(names=name_rows(submission[list(form.ids)]))
    columns: Any = form.targets[0] if len(form.targets) == 1 else list(form.targets)
    return metric(truth[columns].to_numpy(), submission[columns].to_numpy())


def read_answers(path: Path, form: Columns) -> pd.DataFrame:
    """Read the answers: ids and text targets as text, everything else as pandas infers it."""
    names = zip(_answer_names(form), form.targets, strict=True)
    texts = [name for name, target in names if isinstance(form.rule(target), Text)]
    # Exact numbers, parsed as in a submission, so that the answers themselves score perfectly.
    return pd.read_csv(path, converters=dict.fromkeys((*form.ids, *texts), str), float_precision="round_trip")


def _count_rows(sample: Path) -> int:
    with opened_member(sample) as file:
        return sum(1 for _ in file)


def _answer_names(form: Columns) -> tuple[str, ...]:
    names = form.answers_target or form.target
    return (names,) if isinstance(names, str) else names
