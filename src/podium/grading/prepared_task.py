"""Prepared task: a task with its edition, data folder and manifest; validates and grades submissions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from podium.data.home import DataFolder, locate
from podium.data.manifest import Manifest, content_sha256, read_manifest
from podium.errors import InvalidSubmission, NotPreparedError, PodiumError
from podium.grading.file_submission import FilesForm
from podium.grading.grade import DECIMALS, Grade, Validation
from podium.grading.reference import compare_score, find_reference
from podium.grading.submission_form import OpenExecute, SubmissionForm, WorkspaceFiles
from podium.grading.table_submission import TableForm
from podium.task import Edition, Files, Measured, Reference, Task


@dataclass(frozen=True)
class PreparedTask:
    """Task in one of its editions, with prepared data."""

    task: Task
    """The task in that edition."""
    place: DataFolder
    manifest: Manifest
    command: str
    """Command that prepares the data again, for messages."""

    @property
    def edition(self) -> Edition:
        return self.task.edition

    @property
    def miniature(self) -> bool:
        """True if the data is a fabricated miniature."""
        return self.manifest.miniature

    @property
    def data_sha256(self) -> str:
        """Hash of the data's content."""
        return content_sha256(self.manifest)

    @property
    def names(self) -> tuple[str, ...]:
        """The files and folders of a workspace that are graded."""
        return self.task.submission.names

    @property
    def submission_limit(self) -> int:
        """Maximum size of a submission in bytes."""
        with self.explain_damage(f"The public folder of {self.task.id}"):
            return self.form.max_bytes(self.place.public)

    @property
    def reference(self) -> Reference | None:
        """Reference that scores are compared with; not cached, since a baseline may be measured at any time."""
        return find_reference(self.task, self.place)

    @cached_property
    def form(self) -> SubmissionForm:
        """Form of submissions: takes, checks and scores them."""
        submission = self.task.submission
        return FilesForm(submission) if isinstance(submission, Files) else TableForm(submission)

    def validate(self, path: Path) -> Validation:
        """Check the form of a submission: the file of a table, or the folder that contains the files."""
        try:
            with self.form.from_host(path, self) as submission:
                self.form.check(submission, self)
        except InvalidSubmission as fault:
            return Validation(self.task.id, valid=False, error=str(fault), miniature=self.miniature)
        return Validation(self.task.id, valid=True, miniature=self.miniature)

    def grade(self, path: Path, execute: OpenExecute | None = None) -> Grade:
        """Grade a submission on the host: the file of a table, or the folder that contains the files.

        Args:
            execute: runs submitted programs; needed only for file submissions.
        """

        def find_score() -> Measured:
            with self.form.from_host(path, self) as submission:
                return self.form.score(submission, self, execute)

        return self._grade(find_score)

    def grade_workspace(self, workspace: WorkspaceFiles, target: Path, execute: OpenExecute | None = None) -> Grade:
        """Copy the submission of a workspace to `target` (a file or a folder) and grade it."""

        def find_score() -> Measured:
            self.form.take(workspace, target, self.submission_limit)
            return self.form.score(target, self, execute)

        return self._grade(find_score)

    def _grade(self, find_score: Callable[[], Measured]) -> Grade:
        """Compute a score and return its grade; InvalidSubmission becomes the grade's error."""
        task = self.task
        try:
            found = find_score()
        except InvalidSubmission as fault:
            return Grade(task.id, self.edition, valid=False, error=str(fault), miniature=self.miniature)
        return Grade(
            task=task.id,
            edition=self.edition,
            valid=True,
            score=found.score,
            score_rounded=round(found.score, DECIMALS),
            interval=found.interval,
            higher_is_better=task.metric.higher_is_better,
            miniature=self.miniature,
            **compare_score(found, found.baseline or self.reference, higher_is_better=task.metric.higher_is_better),
        )

    @contextmanager
    def explain_damage(self, subject: str) -> Iterator[None]:
        """Turn errors raised in the block into errors about damaged prepared files, not about a submission."""
        try:
            yield
        except FileNotFoundError as error:
            raise NotPreparedError(f"{error.filename} is missing. Run: {self.command}") from error
        except (ValueError, LookupError) as error:
            reason = str(error).rstrip(".") if isinstance(error, ValueError) else repr(error)
            advice = f"Delete {self.place.manifest} and run: {self.command}"
            raise PodiumError(f"{subject} is damaged ({reason}). {advice}") from error


def find_prepared(
    task: Task, *, edition: Edition | None = None, data_dir: Path | None = None, miniature: bool | None = None
) -> PreparedTask:
    """Find the prepared data of a task.

    Args:
        miniature: True for the fabricated stand-in; None to use it only if there is no real data.

    Raises:
        NotPreparedError: The data is not prepared.
        UsageError: The task has no such edition.
    """
    chosen = task.in_edition(edition)
    command = f"podium prepare {task.id}" + ("" if chosen.edition == task.edition else f" --edition {chosen.edition}")
    kinds = (False,) if task.generated else (False, True) if miniature is None else (miniature,)
    for kind in kinds:
        place = locate(task.id, edition=chosen.edition, data_dir=data_dir, miniature=kind)
        manifest = read_manifest(place)
        # A miniature in the folder of real data counts as not prepared.
        if manifest is not None and (manifest.miniature == kind or task.generated):
            return PreparedTask(chosen, place, manifest, command + " --miniature" * kind)
    raise NotPreparedError(_missing(chosen, data_dir, command, miniature=miniature))


def _missing(task: Task, data_dir: Path | None, command: str, *, miniature: bool | None) -> str:
    """Return the message for missing data, with the command that prepares it."""
    real, fabricated = (
        locate(task.id, edition=task.edition, data_dir=data_dir, miniature=kind) for kind in (False, True)
    )
    if miniature:
        return f"The miniature of {task.id} is not prepared in {fabricated.root}. Run: {command} --miniature"
    if miniature is False and fabricated.manifest.exists():
        return (
            f"Only the miniature of {task.id} is prepared, which has fabricated data. Add --miniature to use it, or "
            f"get the real data. Run: {command}"
        )
    hint = ", or add --miniature to use fabricated data" if miniature is False and task.fabricator else ""
    return f"{task.id} is not prepared in {real.root}. Run: {command}{hint}"
