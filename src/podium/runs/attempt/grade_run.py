"""Grades what a run has left: outside the sandbox, from a snapshot, after the agent is gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from podium.catalog import resolve
from podium.grading.grade import Grade
from podium.grading.prepared_task import PreparedTask
from podium.runs.attempt.evaluate_programs import in_sandboxes
from podium.runs.records import CurvePoint, Plan
from podium.runs.run_folder import RunFolder
from podium.safefs.remove_tree import remove_tree
from podium.task import SUBMISSION
from podium.workspace.history.extract_file import Extracted
from podium.workspace.history.git.git_objects import TreeEntry
from podium.workspace.history.history import History
from podium.workspace.journal.events import End, Snapshot, Start, Step
from podium.workspace.journal.journal import JournalReader


def prepared_task(task_id: str, plan: Plan) -> PreparedTask:
    """The task that a plan means, with its data."""
    return resolve(task_id, edition=plan.edition, data_dir=plan.data_dir, miniature=plan.miniature)


def checker(prepared: PreparedTask) -> Callable[[Path], str | None]:
    """A function that says what is wrong with a submitted table, if anything."""

    def check(path: Path) -> str | None:
        if not prepared.task.is_table:
            names = ", ".join(prepared.names)
            return f"There is no table to check: what counts are these files in /home: {names}"
        return prepared.validate(path).error

    return check


@dataclass(frozen=True)
class SnapshotFiles:
    """The files of a workspace as a snapshot holds them."""

    history: History
    commit: str
    entries: dict[str, TreeEntry] = field(default_factory=dict)
    """What `names` has seen: looking for each of many files anew would take the square of their number."""

    def names(self) -> list[str]:
        self.entries.update(self.history.entries(self.commit))
        return [file.path for file in self.history.files(self.commit)]

    def take(self, name: str, target: Path, limit_bytes: int) -> Extracted:
        return self.history.extract(self.commit, name, target, limit_bytes, entry=self.entries.get(name))


def grade_snapshot(history: History, commit: str, prepared: PreparedTask, plan: Plan, target: Path) -> Grade:
    """The grade of the submission as it stood in a snapshot; it is left at `target`, a file or a folder."""
    remove_tree(target)
    execute = in_sandboxes(backend=plan.sandbox, env=plan.env, limits=plan.limits, cores=plan.cores, gpus=plan.gpus)
    return prepared.grade_workspace(SnapshotFiles(history, commit), target, execute)


def write_curve(run: RunFolder, task_id: str, plan: Plan) -> None:
    """Grades every submission a run has had, and writes down when it had which score: `curve.json`."""
    points = grade_curve(run, prepared_task(task_id, plan), plan, run.scratch)
    run.write_curve(points)
    record = run.read_record()
    best = best_improvement(points)
    if record is not None and best is not None:
        run.write_record(record.model_copy(update={"best_improvement": best}))


def grade_curve(run: RunFolder, prepared: PreparedTask, plan: Plan, scratch: Path) -> tuple[CurvePoint, ...]:
    """When a run had which submission, and its grade.

    Args:
        scratch: where submissions are put while they are graded; nothing is left there.
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
    """The largest improvement that any submission of a run had."""
    return max((gain for point in points if (gain := point.grade.improvement) is not None), default=None)


def is_first_submission(history: History, journal: JournalReader) -> bool:
    """Whether a table was there before the agent began, and is what it ended with."""
    first = history.identity(journal.start.snapshot, SUBMISSION)
    return first is not None and first == history.identity(journal.snapshot, SUBMISSION)


def graded_place(run: RunFolder, prepared: PreparedTask) -> Path:
    """Where the graded submission of a run lies."""
    return run.submission if prepared.task.is_table else run.files
