"""Metamorphic tests of a grader: changes that must not affect a score, and submissions that must be rejected."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from podium.grading.grade import Grade
from podium.integrity.audit.audited_task import AuditedTask, TaskFinding
from podium.task import Integer, Number

CRASH = "The grader crashed"
_SEEDS = range(3)


def order_of_rows(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that the order of the rows does not affect the score, as the ids identify them."""
    perfect = task.perfect
    if perfect is None or len(perfect) < 2:
        return
    best = grade_table(task, perfect)
    for seed in _SEEDS:
        shuffled = perfect.iloc[np.random.default_rng(seed).permutation(len(perfect))]
        found = grade_table(task, shuffled)
        if not _same(best, found):
            yield task.finding("the grader depends on the order of rows", _difference(best, found), 0.99)
            return


def wrong_values(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that impossible values are rejected and never score better than the answers themselves."""
    perfect = task.perfect
    if perfect is None or not len(perfect):
        return
    best = grade_table(task, perfect)
    if not best.valid or best.score is None:
        yield task.finding("the grader refuses the answers", f"The answers are rejected: {best.error}", 0.9)
        return
    for what, table in _distorted(task, perfect):
        found = grade_table(task, table)
        if found.error and found.error.startswith(CRASH):
            reason = f"{what} crashes the grader with {found.error.removeprefix(f'{CRASH}: ')}"
            yield task.finding("the grader crashes", reason, 0.9)
        if not found.valid or found.score is None or found.score == best.score:
            continue
        if not math.isfinite(found.score):
            reason = f"{what} scores {found.score}."
            yield task.finding("the grader accepts what it should not", reason, 0.95)
        elif _beats(task, found.score, best.score):
            reason = f"{what} scores {found.score:.6g}, better than the answers themselves with {best.score:.6g}."
            yield task.finding("the grader accepts what it should not", reason, 0.95)


def _with(table: pd.DataFrame, column: str, cells: str | pd.Series) -> pd.DataFrame:
    """Return the table with a column replaced; `assign` cannot do so for a column named `self`."""
    changed = table.copy()
    changed[column] = cells
    return changed


def _distorted(task: AuditedTask, perfect: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    form, first = task.form, task.form.targets[0]
    numeric = isinstance(form.rule(first), Number | Integer)
    if numeric:
        for value in ("nan", "inf", "-inf", "1e308", "-1e308"):
            yield f"A submission with '{value}' in every row", _with(perfect, first, value)
        cells = perfect[first].astype(object).copy()
        cells.iloc[0] = "nan"
        yield "A submission with 'nan' in the first row", _with(perfect, first, cells)
    yield "A submission with every row twice", pd.concat([perfect, perfect])
    yield "A submission with the first row a thousand times", pd.concat([perfect, *[perfect.head(1)] * 1000])
    if not form.missing_rows and len(perfect) > 2:
        yield "A submission with only the first half of the rows", perfect.head(len(perfect) // 2)


def direction(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that the answers do not score worse than the sample submission."""
    if task.perfect is None:
        return
    best, first = grade_table(task, task.perfect), grade_table(task, task.sample)
    if best.score is None or first.score is None or math.isclose(best.score, first.score, abs_tol=1e-12):
        return
    if not task.prepared.task.metric.is_better(best.score, first.score):
        reason = f"The sample submission scores {first.score:.6g}, better than the answers with {best.score:.6g}."
        yield task.finding("the metric's direction is wrong", reason, 0.95)


def grade_table(task: AuditedTask, table: pd.DataFrame) -> Grade:
    """Return the grade of a table."""
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        path = Path(folder) / "submission.csv"
        table.to_csv(path, index=False)
        try:
            return task.prepared.grade(path)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            reason = f"{CRASH}: {type(error).__name__}: {error}"
            return Grade(task.id, task.prepared.edition, valid=False, error=reason, miniature=task.prepared.miniature)


def _same(one: Grade, other: Grade) -> bool:
    if one.score is None or other.score is None:
        return one.valid == other.valid
    return math.isclose(one.score, other.score, rel_tol=1e-9, abs_tol=1e-12)


def _beats(task: AuditedTask, score: float, best: float) -> bool:
    return task.prepared.task.metric.is_better(score, best) and not math.isclose(
        score, best, rel_tol=1e-9, abs_tol=1e-9
    )


def _difference(best: Grade, found: Grade) -> str:
    """Return a sentence about the grades of the answers as they are and with their rows in another order."""
    if best.score is not None and found.score is not None:
        return f"The answers score {best.score:.6g}, but {found.score:.6g} with their rows in another order."
    if best.score is not None:
        return f"The answers score {best.score:.6g}, but are rejected with their rows in another order: {found.error}"
    return f"The answers are accepted with their rows in another order, but rejected as they are: {best.error}"
