"""A task with its data, resolved once: its edition, its place and its manifest. It validates and grades."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from podium.data.home import Place, locate
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
    """A task in one of its editions whose data is there."""

    task: Task
    """As it stands in that edition."""
    place: Place
    manifest: Manifest
    command: str
    """What prepares the data again, for messages."""

    @property
    def edition(self) -> Edition:
        return self.task.edition

    @property
    def miniature(self) -> bool:
        """Whether the data is a fabricated miniature."""
        return self.manifest.miniature

    @property
    def data_sha256(self) -> str:
        """Says which data this is."""
        return content_sha256(self.manifest)

    @property
    def names(self) -> tuple[str, ...]:
        """The files and folders of a workspace that are graded."""
        return self.task.submission.names

    @property
    def submission_limit(self) -> int:
        """The size of the largest submission that is read."""
        with self.damage_explained("The public folder is"):
            return self.form.max_bytes(self.place.public)

    @property
    def reference(self) -> Reference | None:
        """What scores are compared with; read anew, since a baseline may be measured at any time."""
        return find_reference(self.task, self.place)

    @cached_property
    def form(self) -> SubmissionForm:
        """How submissions are taken, checked and scored."""
        submission = self.task.submission
        return FilesForm(submission) if isinstance(submission, Files) else TableForm(submission)

    def validate(self, path: Path) -> Validation:
        """Whether a submission has the right form: the file of a table, or the folder where files lie."""
        try:
            with self.form.from_host(path, self) as submission:
                self.form.check(submission, self)
        except InvalidSubmission as fault:
            return Validation(self.task.id, valid=False, error=str(fault), miniature=self.miniature)
        return Validation(self.task.id, valid=True, miniature=self.miniature)

    def grade(self, path: Path, execute: OpenExecute | None = None) -> Grade:
        """Score, medal and rank of a submission of the host: the file of a table, or the folder where files lie.

        Args:
            execute: what runs submitted programs, needed only where files are submitted.
        """

        def find_score() -> Measured:
            with self.form.from_host(path, self) as submission:
                return self.form.score(submission, self, execute)

        return self._grade(find_score)

    def grade_workspace(self, workspace: WorkspaceFiles, target: Path, execute: OpenExecute | None = None) -> Grade:
        """The grade of what lies in a workspace as its submission, which is left at `target`: a file or a folder."""

        def find_score() -> Measured:
            self.form.take(workspace, target, self.submission_limit)
            return self.form.score(target, self, execute)

        return self._grade(find_score)

    def _grade(self, find_score: Callable[[], Measured]) -> Grade:
        """The grade of a score that has yet to be found; a submission's fault on the way there becomes the result."""
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
    def damage_explained(self, what: str) -> Iterator[None]:
        """Says that prepared files are to blame, not a submission, if what is done with them fails."""
        try:
            yield
        except FileNotFoundError as error:
            raise NotPreparedError(f"{error.filename} is missing. Run: {self.command}") from error
        except (ValueError, LookupError) as error:
            reason = str(error).rstrip(".") if isinstance(error, ValueError) else repr(error)
            advice = f"Delete {self.place.manifest} and run: {self.command}"
            raise PodiumError(f"{what} damaged ({reason}). {advice}") from error


def find_prepared(
    task: Task, *, edition: Edition | None = None, data_dir: Path | None = None, miniature: bool | None = None
) -> PreparedTask:
    """A task with its data.

    Args:
        miniature: whether the fabricated stand-in is meant; None: only where there is no real data.

    Raises:
        NotPreparedError: the data is not there.
        UsageError: the task has no such edition.
    """
    chosen = task.in_edition(edition)
    command = f"podium prepare {task.id}" + ("" if chosen.edition == task.edition else f" --edition {chosen.edition}")
    kinds = (False,) if task.generated else (False, True) if miniature is None else (miniature,)
    for kind in kinds:
        place = locate(task.id, edition=chosen.edition, data_dir=data_dir, miniature=kind)
        manifest = read_manifest(place)
        # Earlier versions kept miniatures in the place of real data: those count as not prepared.
        if manifest is not None and (manifest.miniature == kind or task.generated):
            return PreparedTask(chosen, place, manifest, command + " --miniature" * kind)
    raise NotPreparedError(_missing(chosen, data_dir, command, miniature=miniature))


def _missing(task: Task, data_dir: Path | None, command: str, *, miniature: bool | None) -> str:
    """What to say where data is not there."""
    real, fabricated = (
        locate(task.id, edition=task.edition, data_dir=data_dir, miniature=kind) for kind in (False, True)
    )
    if miniature:
        return f"The miniature of {task.id} is not prepared in {fabricated.root}. Run: {command} --miniature"
    if miniature is False and fabricated.manifest.exists():
        return (
            f"Only the miniature of {task.id} is prepared, and its data is fabricated. Add --miniature to use it, or "
            f"get the real data with: {command}"
        )
    hint = ", or add --miniature to try it with a fabricated stand-in" if miniature is False and task.fabricator else ""
    return f"{task.id} is not prepared in {real.root}. Run: {command}{hint}"
