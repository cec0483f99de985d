"""Protocol of submissions: tables and files are taken, checked and scored through the same interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from podium.task import Execute, Measured

if TYPE_CHECKING:
    from podium.grading.prepared_task import PreparedTask

OpenExecute = Callable[["PreparedTask"], AbstractContextManager[Execute]]
"""Factory of a function that runs submitted programs for one evaluation; grading itself knows no sandbox."""


class TakenFile(Protocol):
    """Result of copying one file out of a workspace."""

    @property
    def is_file(self) -> bool:
        """True if the file was copied."""
        ...

    @property
    def size_bytes(self) -> int | None: ...

    @property
    def reason(self) -> str | None:
        """Reason why there is no file, as a clause about it: "it is a named pipe"."""
        ...


class WorkspaceFiles(Protocol):
    """Files of a workspace that an agent left: in a snapshot, or in a folder of the host."""

    def names(self) -> Iterable[str]:
        """Return all files, relative to the workspace."""
        ...

    def take(self, name: str, target: Path, limit_bytes: int) -> TakenFile:
        """Write one file to `target`, completely or not at all; links are not followed."""
        ...


class SubmissionForm(Protocol):
    """Steps that take, check and score submissions of one form; faulty submissions raise `InvalidSubmission`."""

    def max_bytes(self, public: Path) -> int:
        """Return the maximum size of a submission in bytes."""
        ...

    def take(self, workspace: WorkspaceFiles, target: Path, limit_bytes: int) -> None:
        """Copy the submission of a workspace to `target`: a file, or a folder of files under their names."""
        ...

    def from_host(self, path: Path, prepared: PreparedTask) -> AbstractContextManager[Path]:
        """Open a submission at a path of the host so that it can be checked and scored."""
        ...

    def check(self, submission: Path, prepared: PreparedTask) -> None:
        """Raise InvalidSubmission if the form is wrong; needs no answers."""
        ...

    def score(self, submission: Path, prepared: PreparedTask, execute: OpenExecute | None) -> Measured:
        """Return the score against the answers, by the task's metric."""
        ...
