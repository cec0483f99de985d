"""Grades what a run has left: outside the sandbox, from a snapshot, after the agent is gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from podium.catalog import load
from podium.data.files import sha256, write_atomically
from podium.data.home import locate
from podium.grading.grade import Grade, grade_submission
from podium.grading.reading import size_limit
from podium.runs.record import Plan, RunFolder
from podium.workspace.history import History
from podium.workspace.journal import read_journal
from podium.workspace.layout import SUBMISSION


def submission_limit(task_id: str, plan: Plan) -> int:
    """The size of the largest submission that is read."""
    form = load(task_id).in_edition(plan.edition).submission
    sample = locate(task_id, edition=plan.edition, data_dir=plan.data_dir).public / form.sample
    return size_limit(form, sample.stat().st_size)


def grade_snapshot(history: History, commit: str, task_id: str, plan: Plan, target: Path) -> Grade:
    """The grade of the submission as it stood in a snapshot; it is left at `target`."""
    target.unlink(missing_ok=True)
    found = history.extract(commit, SUBMISSION, target, submission_limit(task_id, plan))
    if not found.is_file:
        return Grade(task_id, plan.edition, valid=False, error=f"No submission at {SUBMISSION}: {found.reason}.")
    return grade_submission(load(task_id), target, data_dir=plan.data_dir, edition=plan.edition)


def write_curve(run: RunFolder, task_id: str, plan: Plan) -> None:
    """Grades every submission a run has had, and writes down when it had which score: `curve.json`."""
    points: list[dict[str, Any]] = []
    known: dict[str | None, Grade] = {}
    with History(run.history, run.workspace) as history:
        for line in read_journal(run.journal):
            snapshot, used = line.fields.get("snapshot"), line.fields.get("used")
            if snapshot is None or used is None:
                continue
            identity = history.identity(snapshot, SUBMISSION)
            if points and points[-1]["submission"] == identity:
                continue
            if identity not in known:
                known[identity] = grade_snapshot(history, snapshot, task_id, plan, run.scratch)
            points.append({"line": line.n, "submission": identity, "used": used, **known[identity].to_dict()})
    run.scratch.unlink(missing_ok=True)
    write_atomically(run.curve, json.dumps(points, indent=1, allow_nan=False) + "\n")


def fingerprint(path: Path) -> str | None:
    """The hash of a graded submission, or None when there is none."""
    return sha256(path) if path.exists() else None
