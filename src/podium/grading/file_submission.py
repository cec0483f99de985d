"""Files as submissions: a program or weights, taken without following links and evaluated by running them again."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from podium.errors import InvalidSubmission, UsageError
from podium.grading.check_submission import clip
from podium.grading.submission_form import OpenExecute, WorkspaceFiles
from podium.safefs.atomic_files import sha256
from podium.safefs.open_nofollow import open_regular
from podium.task import Evaluation, Files, Measured

if TYPE_CHECKING:
    from podium.grading.prepared_task import PreparedTask

MOST_FILES = 100_000
MOST_FOLDERS_DEEP = 100
"""Deeper ones are made to break programs: paths have an end, and so has recursion."""
LONGEST_NAME = 300
"""Characters of a file's name that a message shows."""


@dataclass(frozen=True)
class FilesForm:
    """A submission that is files of the workspace, under their names there."""

    files: Files

    def max_bytes(self, public: Path) -> int:
        """The size of the largest submission, all files together."""
        return self.files.max_bytes

    def take(self, workspace: WorkspaceFiles, target: Path, limit_bytes: int) -> None:
        """Puts the files that are asked for into a new folder."""
        target.mkdir(parents=True)
        left = limit_bytes
        names = list(filter(self._is_wanted, workspace.names()))
        if len(names) > MOST_FILES:
            raise InvalidSubmission(f"There are {len(names):,} files to evaluate; at most {MOST_FILES:,} are taken.")
        for name in names:
            shown = clip(name, LONGEST_NAME)
            if name.count("/") > MOST_FOLDERS_DEEP:
                raise InvalidSubmission(f"{shown} lies more than {MOST_FOLDERS_DEEP} folders deep.")
            try:
                found = workspace.take(name, target / name, left)
            except OSError as error:
                if error.errno != errno.ENAMETOOLONG:  # which a path can be that was made folder by folder
                    raise
                raise InvalidSubmission(f"{shown} cannot be evaluated: its path is too long.") from error
            if not found.is_file:
                raise InvalidSubmission(f"{shown} cannot be evaluated: {found.reason}.")
            left -= found.size_bytes or 0

    @contextmanager
    def from_host(self, path: Path, prepared: PreparedTask) -> Iterator[Path]:
        """A copy of the files in a folder of the host, such as a copy of a workspace."""
        if not path.is_dir():
            names = ", ".join(self.files.names)
            raise InvalidSubmission(f"{path} is not a folder: {prepared.task.id} asks for these files: {names}.")
        with tempfile.TemporaryDirectory(prefix="podium-submission-") as scratch:
            submission = Path(scratch, "submission")
            self.take(FolderFiles(path), submission, self.files.max_bytes)
            yield submission

    def check(self, submission: Path, prepared: PreparedTask) -> None:
        """Whether every file that is asked for is there."""
        for name in self.files.names:
            found = submission / name
            if name.endswith("/") and not (found.is_dir() and any(found.iterdir())):
                raise InvalidSubmission(f"The folder {name} is missing or empty in the workspace.")
            if not name.endswith("/") and not (found.is_file() and found.stat().st_size):
                raise InvalidSubmission(f"The file {name} is missing or empty in the workspace.")

    def score(self, submission: Path, prepared: PreparedTask, execute: OpenExecute | None) -> Measured:
        """What the task's evaluation says of the files, which it runs in sandboxes."""
        task, place = prepared.task, prepared.place
        evaluate = task.parts.evaluate
        assert evaluate is not None, f"{task.id} does not say how its files are evaluated"
        if execute is None:
            raise UsageError(f"Grading {task.id} runs programs, and nothing was given to run them with.")
        self.check(submission, prepared)
        starter = task.starter.folder if task.starter else None
        with execute(prepared) as run_program:
            evaluation = Evaluation(
                submission, starter, place.public, place.private, prepared.miniature, execute=run_program
            )
            found = evaluate(evaluation)
        return found if isinstance(found, Measured) else Measured(float(found))

    def _is_wanted(self, path: str) -> bool:
        """Whether a file of the workspace is part of the submission."""
        return any(
            name == "./" or path == name or (name.endswith("/") and path.startswith(name)) for name in self.files.names
        )


@dataclass(frozen=True)
class _Taken:
    """A file that was copied."""

    size_bytes: int
    is_file: bool = True
    reason: str | None = None


@dataclass(frozen=True)
class FolderFiles:
    """The files of a folder of the host. Links are not followed: a submission holds what it is, not what it names."""

    folder: Path

    def names(self) -> list[str]:
        """All files, whatever else is not a folder, and folders that cannot be listed or lie too deep."""
        found, pending = [], [""]
        while pending:
            above = pending.pop()
            try:
                with os.scandir(self.folder / above) as listing:
                    entries = list(listing)
            except OSError:
                found.append(above.removesuffix("/"))
                continue
            for entry in entries:
                name = above + entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and name.count("/") <= MOST_FOLDERS_DEEP:
                    pending.append(f"{name}/")
                elif is_folder or not entry.is_dir():
                    found.append(name)
        return sorted(found)

    def take(self, name: str, target: Path, limit_bytes: int) -> _Taken:
        """Copies one file.

        Raises:
            InvalidSubmission: it is not a plain file of at most that size.
        """
        with open_plain(self.folder, name, limit_bytes) as source:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(source, file)
        return _Taken(target.stat().st_size)


def open_plain(top: Path, name: str, max_bytes: int) -> IO[bytes]:
    """Opens a plain file below `top` that a hostile program may have left; no link is followed on the way to it.

    Raises:
        InvalidSubmission: there is no plain file of at most that size.
    """
    shown = clip(name, LONGEST_NAME)
    try:
        file = os.fdopen(open_regular(top / name, top=top), "rb")
    except OSError as error:
        told = "is not a plain file" if error.errno == errno.EINVAL else f"cannot be read: {error.strerror}"
        raise InvalidSubmission(f"{shown} {told}.") from error
    size = os.fstat(file.fileno()).st_size
    if size > max_bytes:
        file.close()
        raise InvalidSubmission(f"{shown} has {size:,} bytes; at most {max_bytes:,} are read.")
    return file


def read_plain(top: Path, name: str, max_bytes: int) -> bytes:
    """The content of a plain file below `top`; see `open_plain`."""
    with open_plain(top, name, max_bytes) as file:
        return file.read(max_bytes)


def fingerprint(submission: Path) -> str | None:
    """The hash of a submission, a file's or one for all files and their names; None where there is none."""
    if not submission.is_dir():
        return sha256(submission) if submission.exists() else None
    files = (path for path in sorted(submission.rglob("*")) if path.is_file())
    lines = [f"{sha256(path)}  {path.relative_to(submission)}" for path in files]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest() if lines else None


@dataclass
class FinishedProgram:
    """A submitted program that was run again to score it: its end, its output and its folder."""

    seconds: float
    exit_code: int
    stopped: str | None
    output: str
    folder: Path

    def read(self, name: str, max_bytes: int = 1 << 30) -> bytes:
        """Return the content of a file in the folder."""
        return read_plain(self.folder, name, max_bytes)


def put_files(files: Mapping[str, Path | bytes], folder: Path) -> None:
    """Fill the folder of a program.

    Args:
        files: paths to copy, or contents, by relative name.
    """
    for name, source in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, bytes):
            target.write_bytes(source)
        elif source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, target, follow_symlinks=False)
