"""What a table and files have in common as submissions: one protocol, so that nobody else asks which it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from podium.task import Execute, Measured

if TYPE_CHECKING:
    from podium.grading.prepared_task import PreparedTask

OpenExecute = Callable[["PreparedTask"], AbstractContextManager[Execute]]
"""Opens what runs submitted programs for one evaluation; grading itself knows no sandbox."""


class TakenFile(Protocol):
    """What came of asking for one file of a workspace."""

    @property
    def is_file(self) -> bool:
        """Whether it was written."""
        ...

    @property
    def size_bytes(self) -> int | None: ...

    @property
    def reason(self) -> str | None:
        """Why there is no file, as a sentence about it: "it is a named pipe"."""
        ...


class WorkspaceFiles(Protocol):
    """The files of a workspace that an agent has left: in a snapshot, or in a folder of the host."""

    def names(self) -> Iterable[str]:
        """All files, relative to the workspace."""
        ...

    def take(self, name: str, target: Path, limit_bytes: int) -> TakenFile:
        """Writes one file to `target`, all of it or nothing; no link is followed on the way to it."""
        ...


class SubmissionForm(Protocol):
    """How submissions of one form are taken, checked and scored. A submission's fault raises `InvalidSubmission`."""

    def max_bytes(self, public: Path) -> int:
        """The size of the largest submission that is read."""
        ...

    def take(self, workspace: WorkspaceFiles, target: Path, limit_bytes: int) -> None:
        """Leaves the submission of a workspace at `target`: a file, or a folder of files under their names."""
        ...

    def from_host(self, path: Path, prepared: PreparedTask) -> AbstractContextManager[Path]:
        """A submission that somebody has put at a path of the host, as it can be checked and scored."""
        ...

    def check(self, submission: Path, prepared: PreparedTask) -> None:
        """Refuses what is not of the required form; needs no answers."""
        ...

    def score(self, submission: Path, prepared: PreparedTask, execute: OpenExecute | None) -> Measured:
        """The score against the answers, by the task's metric."""
        ...
