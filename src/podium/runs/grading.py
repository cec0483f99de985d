"""Grades what a run has left: outside the sandbox, from a snapshot, after the agent is gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from podium.catalog import load
from podium.data.files import remove_tree, sha256, write_atomically
from podium.data.home import locate
from podium.data.prepare import choose_edition
from podium.grading.grade import Grade, grade_submission, validate_submission
from podium.grading.reading import size_limit
from podium.runs import evaluating
from podium.runs.record import Plan, RunFolder
from podium.task import Edition, Files, Task
from podium.workspace.history import History
from podium.workspace.journal import read_journal
from podium.workspace.layout import SUBMISSION


def submission_limit(task: Task, plan: Plan) -> int:
    """The size of the largest table that is read."""
    form = task.submission
    if isinstance(form, Files):
        return form.max_bytes
    sample = locate(task.id, edition=choose_edition(task, plan.edition), data_dir=plan.data_dir).public / form.sample
    return size_limit(form, sample.stat().st_size)


def checker(task: Task, data_dir: Path | None, edition: Edition) -> Callable[[Path], str | None]:
    """A function that says what is wrong with a submitted table, if anything."""

    def check(path: Path) -> str | None:
        if isinstance(task.in_edition(edition).submission, Files):
            return f"There is no table to check: what counts are these files in /home: {', '.join(submitted(task))}"
        return validate_submission(task, path, data_dir=data_dir, edition=edition).error

    return check


def submitted(task: Task) -> tuple[str, ...]:
    """The files and folders of the workspace that are graded."""
    return task.submission.names if isinstance(task.submission, Files) else (SUBMISSION,)


def grade_snapshot(history: History, commit: str, task_id: str, plan: Plan, target: Path) -> Grade:
    """The grade of the submission as it stood in a snapshot; it is left at `target`, a file or a folder."""
    task = load(task_id)
    edition = choose_edition(task, plan.edition)
    form = task.in_edition(edition).submission
    _clear(target)
    if isinstance(form, Files):
        fault = evaluating.take_from_snapshot(history, commit, form, target)
        return Grade(task_id, edition, valid=False, error=fault) if fault else evaluating.evaluate(task, target, plan)
    found = history.extract(commit, SUBMISSION, target, submission_limit(task.in_edition(edition), plan))
    if not found.is_file:
        return Grade(task_id, edition, valid=False, error=f"No submission at {SUBMISSION}: {found.reason}.")
    return grade_submission(task, target, data_dir=plan.data_dir, edition=edition)


def write_curve(run: RunFolder, task_id: str, plan: Plan) -> None:
    """Grades every submission a run has had, and writes down when it had which score: `curve.json`."""
    points: list[dict[str, Any]] = []
    known: dict[str, Grade] = {}
    task = load(task_id)
    names = submitted(task.in_edition(choose_edition(task, plan.edition)))
    with History(run.history, run.workspace) as history:
        for line in read_journal(run.journal):
            snapshot, used = line.fields.get("snapshot"), line.fields.get("used")
            if snapshot is None or used is None:
                continue
            identity = " ".join(history.identity(snapshot, name.rstrip("/")) or "-" for name in names)
            if points and points[-1]["submission"] == identity:
                continue
            if identity not in known:
                known[identity] = grade_snapshot(history, snapshot, task_id, plan, run.scratch)
            points.append({"line": line.n, "submission": identity, "used": used, **known[identity].to_dict()})
    _clear(run.scratch)
    write_atomically(run.curve, json.dumps(points, indent=1, allow_nan=False) + "\n")
    record = run.read_record()
    gains = [grade.improvement for grade in known.values() if grade.improvement is not None]
    if record is not None and gains:
        run.write_record(record.model_copy(update={"best_improvement": max(gains)}))


def graded_place(run: RunFolder, task_id: str, plan: Plan) -> Path:
    """Where the graded submission of a run lies."""
    task = load(task_id)
    form = task.in_edition(choose_edition(task, plan.edition)).submission
    return run.files if isinstance(form, Files) else run.submission


def fingerprint(path: Path) -> str | None:
    """The hash of a graded submission, or None when there is none."""
    if path.is_dir():
        return evaluating.fingerprint(path)
    return sha256(path) if path.exists() else None


def _clear(path: Path) -> None:
    if path.is_dir():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)
