"""Metamorphic tests of a grader: what must not change a score, and what must never be accepted."""

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

CRASH = "the grader crashed"
_SEEDS = range(3)


def order_of_rows(task: AuditedTask) -> Iterator[TaskFinding]:
    """The same rows in another order must score the same: ids say which row is meant."""
    perfect = task.perfect
    if perfect is None or len(perfect) < 2:
        return
    best = grade_table(task, perfect)
    for seed in _SEEDS:
        shuffled = perfect.iloc[np.random.default_rng(seed).permutation(len(perfect))]
        found = grade_table(task, shuffled)
        if not _same(best, found):
            reason = f"the answers score {_words(best)}, and {_words(found)} with their rows in another order"
            yield task.finding("the grader depends on the order of rows", reason, 0.99)
            return


def wrong_values(task: AuditedTask) -> Iterator[TaskFinding]:
    """Submissions with impossible values must be refused, and never be better than the answers themselves."""
    perfect = task.perfect
    if perfect is None or not len(perfect):
        return
    best = grade_table(task, perfect)
    if not best.valid or best.score is None:
        yield task.finding("the grader refuses the answers", f"{best.error}", 0.9)
        return
    for what, table in _distorted(task, perfect):
        found = grade_table(task, table)
        if found.error and found.error.startswith(CRASH):
            yield task.finding("the grader crashes", f"{what}: {found.error}", 0.9)
        if not found.valid or found.score is None or found.score == best.score:
            continue
        if not math.isfinite(found.score):
            yield task.finding("the grader accepts what it should not", f"{what}: the score is {found.score}", 0.95)
        elif _beats(task, found.score, best.score):
            reason = f"{what} scores {found.score:.6g}, the answers themselves {best.score:.6g}"
            yield task.finding("the grader accepts what it should not", reason, 0.95)


def _with(table: pd.DataFrame, column: str, cells: str | pd.Series) -> pd.DataFrame:
    """The table with other cells in a column, whatever that is called: `assign` takes none called `self`."""
    changed = table.copy()
    changed[column] = cells
    return changed


def _distorted(task: AuditedTask, perfect: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    form, first = task.form, task.form.targets[0]
    numeric = isinstance(form.rule(first), Number | Integer)
    if numeric:
        for value in ("nan", "inf", "-inf", "1e308", "-1e308"):
            yield f"'{value}' in every row", _with(perfect, first, value)
        cells = perfect[first].astype(object).copy()
        cells.iloc[0] = "nan"
        yield "'nan' in the first row", _with(perfect, first, cells)
    yield "every row twice", pd.concat([perfect, perfect])
    yield "the first row a thousand times", pd.concat([perfect, *[perfect.head(1)] * 1000])
    if not form.missing_rows and len(perfect) > 2:
        yield "only the first half of the rows", perfect.head(len(perfect) // 2)


def direction(task: AuditedTask) -> Iterator[TaskFinding]:
    """The answers must not score worse than the sample submission."""
    if task.perfect is None:
        return
    best, first = grade_table(task, task.perfect), grade_table(task, task.sample)
    if best.score is None or first.score is None or math.isclose(best.score, first.score, abs_tol=1e-12):
        return
    if not task.prepared.task.metric.is_better(best.score, first.score):
        reason = f"the sample submission scores {first.score:.6g}, better than the answers with {best.score:.6g}"
        yield task.finding("the metric's direction is wrong", reason, 0.95)


def grade_table(task: AuditedTask, table: pd.DataFrame) -> Grade:
    """The grade of a table."""
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


def _words(grade: Grade) -> str:
    return f"{grade.score:.6g}" if grade.score is not None else f"are refused ({grade.error})"
