"""Grading of runs: from a snapshot, outside the sandbox, after the agent has ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from podium.catalog.registry import resolve
from podium.grading.grade import Grade
from podium.grading.prepared_task import PreparedTask
from podium.runs.attempt.evaluate_programs import evaluate_in_sandboxes
from podium.runs.records import CurvePoint, Plan
from podium.runs.run_folder import RunFolder
from podium.safefs.remove_tree import remove_tree
from podium.task import SUBMISSION
from podium.workspace.history.extract_file import Extracted
from podium.workspace.history.history import History
from podium.workspace.history.snapshot_manifest import SnapshotEntry
from podium.workspace.journal.events import End, Snapshot, Start, Step
from podium.workspace.journal.journal import JournalReader


def prepared_task(task_id: str, plan: Plan) -> PreparedTask:
    """Return a task of the plan with its prepared data."""
    return resolve(task_id, edition=plan.edition, data_dir=plan.data_dir, miniature=plan.miniature)


def checker(prepared: PreparedTask) -> Callable[[Path], str | None]:
    """Return a function that returns the problem of a submitted table, or None."""

    def check(path: Path) -> str | None:
        if not prepared.task.is_table:
            names = ", ".join(prepared.names)
            return f"This task has no table to validate. Its submission consists of these files in /home: {names}"
        return prepared.validate(path).error

    return check


@dataclass(frozen=True)
class SnapshotFiles:
    """Files of a workspace, as stored in a snapshot."""

    history: History
    commit: str
    entries: dict[str, SnapshotEntry] = field(default_factory=dict)
    """Cache of `names`: looking up each file separately would take quadratic time."""

    def names(self) -> list[str]:
        self.entries.update(self.history.entries(self.commit))
        return [file.path for file in self.history.files(self.commit)]

    def take(self, name: str, target: Path, limit_bytes: int) -> Extracted:
        return self.history.extract(self.commit, name, target, limit_bytes, entry=self.entries.get(name))


def grade_snapshot(history: History, commit: str, prepared: PreparedTask, plan: Plan, target: Path) -> Grade:
    """Grade the submission in a snapshot, and leave a copy of it at `target`, a file or a folder."""
    remove_tree(target)
    execute = evaluate_in_sandboxes(
        backend=plan.sandbox, env=plan.env, limits=plan.limits, cores=plan.cores, gpus=plan.gpus
    )
    return prepared.grade_workspace(SnapshotFiles(history, commit), target, execute)


def write_curve(run: RunFolder, task_id: str, plan: Plan) -> None:
    """Grade every submission during a run, and write the scores over time to `curve.json`."""
    points = grade_curve(run, prepared_task(task_id, plan), plan, run.scratch)
    run.write_curve(points)
    record = run.read_record()
    best = best_improvement(points)
    if record is not None and best is not None:
        run.write_record(record.model_copy(update={"best_improvement": best}))


def grade_curve(run: RunFolder, prepared: PreparedTask, plan: Plan, scratch: Path) -> tuple[CurvePoint, ...]:
    """Grade every submission during a run, in order of time.

    Args:
        scratch: temporary path for submissions while they are graded; removed afterwards.
    """
    points: list[CurvePoint] = []
    known: dict[str, Grade] = {}
    with run.read_history() as history:
        for n, event in run.read_journal().lines():
            if not isinstance(event, Start | Step | Snapshot | End):
                continue
            identity = " ".join(history.identity(event.snapshot, name.rstrip("/")) or "-" for name in prepared.names)
            if points and points[-1].submission == identity:
                continue
            if identity not in known:
                known[identity] = grade_snapshot(history, event.snapshot, prepared, plan, scratch)
            points.append(CurvePoint(line=n, submission=identity, usage=event.usage, grade=known[identity]))
    remove_tree(scratch)
    return tuple(points)


def best_improvement(points: tuple[CurvePoint, ...]) -> float | None:
    """Return the largest improvement of any submission during a run."""
    return max((gain for point in points if (gain := point.grade.improvement) is not None), default=None)


def is_first_submission(history: History, journal: JournalReader) -> bool:
    """Return whether the submitted table existed before the agent began and is unchanged."""
    first = history.identity(journal.start.snapshot, SUBMISSION)
    return first is not None and first == history.identity(journal.snapshot, SUBMISSION)


def graded_path(run: RunFolder, prepared: PreparedTask) -> Path:
    """Return the path of a run's graded submission."""
    return run.submission if prepared.task.is_table else run.files
