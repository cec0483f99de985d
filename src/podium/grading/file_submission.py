"""File submissions: a program or weights, copied without following links and evaluated by running the program."""

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
from podium.grading.check_submission import clip, too_large
from podium.grading.submission_form import OpenExecute, WorkspaceFiles
from podium.safefs.atomic_files import sha256
from podium.safefs.open_nofollow import open_regular
from podium.task import Evaluation, Files, Measured

if TYPE_CHECKING:
    from podium.grading.prepared_task import PreparedTask

MAX_FILES = 100_000
MAX_FOLDER_DEPTH = 100
"""Maximum nesting of folders; deeper paths are attacks on path length and recursion limits."""
MAX_NAME_CHARACTERS = 300
"""Maximum number of characters of a file name shown in a message."""


@dataclass(frozen=True)
class FilesForm:
    """Form of a submission that consists of files of the workspace."""

    files: Files

    def max_bytes(self, public: Path) -> int:
        """Return the maximum total size of all files in bytes."""
        return self.files.max_bytes

    def take(self, workspace: WorkspaceFiles, target: Path, limit_bytes: int) -> None:
        """Copy the requested files into a new folder."""
        target.mkdir(parents=True)
        left = limit_bytes
        names = list(filter(self._is_wanted, workspace.names()))
        if len(names) > MAX_FILES:
            raise InvalidSubmission(f"The submission has {len(names):,} files; at most {MAX_FILES:,} are allowed.")
        for name in names:
            shown = clip(name, MAX_NAME_CHARACTERS)
            if name.count("/") > MAX_FOLDER_DEPTH:
                raise InvalidSubmission(f"{shown} is nested more than {MAX_FOLDER_DEPTH} folders deep.")
            try:
                found = workspace.take(name, target / name, left)
            except OSError as error:
                if error.errno != errno.ENAMETOOLONG:  # possible for a path that was created folder by folder
                    raise
                raise InvalidSubmission(f"{shown} cannot be evaluated: its path is too long.") from error
            if not found.is_file:
                raise InvalidSubmission(f"{shown} cannot be evaluated: {found.reason}.")
            left -= found.size_bytes or 0

    @contextmanager
    def from_host(self, path: Path, prepared: PreparedTask) -> Iterator[Path]:
        """Yield a copy of the files in a folder of the host, such as a copy of a workspace."""
        if not path.is_dir():
            names = ", ".join(self.files.names)
            raise InvalidSubmission(f"{path} is not a folder; {prepared.task.id} expects a folder with: {names}.")
        with tempfile.TemporaryDirectory(prefix="podium-submission-") as scratch:
            submission = Path(scratch, "submission")
            self.take(FolderFiles(path), submission, self.files.max_bytes)
            yield submission

    def check(self, submission: Path, prepared: PreparedTask) -> None:
        """Raise InvalidSubmission unless every requested file exists and has content."""
        for name in self.files.names:
            found = submission / name
            if name.endswith("/") and not (found.is_dir() and any(found.iterdir())):
                raise InvalidSubmission(f"The folder {name} is missing or empty in the workspace.")
            if not name.endswith("/") and not (found.is_file() and found.stat().st_size):
                raise InvalidSubmission(f"The file {name} is missing or empty in the workspace.")

    def score(self, submission: Path, prepared: PreparedTask, execute: OpenExecute | None) -> Measured:
        """Return the result of the task's evaluation, which runs the files in sandboxes."""
        task, place = prepared.task, prepared.place
        evaluate = task.parts.evaluate
        assert evaluate is not None, f"{task.id} has no evaluation for its files"
        if execute is None:
            raise UsageError(f"Grading {task.id} runs submitted programs. Pass `execute` to run them in a sandbox.")
        self.check(submission, prepared)
        starter = task.starter.folder if task.starter else None
        with execute(prepared) as run_program:
            evaluation = Evaluation(
                submission, starter, place.public, place.private, prepared.miniature, execute=run_program
            )
            found = evaluate(evaluation)
        return found if isinstance(found, Measured) else Measured(float(found))

    def _is_wanted(self, path: str) -> bool:
        """Return whether a file of the workspace is part of the submission."""
        return any(
            name == "./" or path == name or (name.endswith("/") and path.startswith(name)) for name in self.files.names
        )


@dataclass(frozen=True)
class _Taken:
    """Result for a file that was copied."""

    size_bytes: int
    is_file: bool = True
    reason: str | None = None


@dataclass(frozen=True)
class FolderFiles:
    """Files of a folder of the host. Links are not followed, so a submission cannot include files from elsewhere."""

    folder: Path

    def names(self) -> list[str]:
        """Return all entries that are not folders, and folders that cannot be listed or are nested too deep."""
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
                if is_folder and name.count("/") <= MAX_FOLDER_DEPTH:
                    pending.append(f"{name}/")
                elif is_folder or not entry.is_dir():
                    found.append(name)
        return sorted(found)

    def take(self, name: str, target: Path, limit_bytes: int) -> _Taken:
        """Copy one file.

        Raises:
            InvalidSubmission: It is not a plain file of at most that size.
        """
        with open_plain(self.folder, name, limit_bytes) as source:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(source, file)
        return _Taken(target.stat().st_size)


def open_plain(top: Path, name: str, max_bytes: int) -> IO[bytes]:
    """Open a plain file below `top` without following links; a hostile program may have created it.

    Raises:
        InvalidSubmission: There is no plain file of at most that size.
    """
    shown = clip(name, MAX_NAME_CHARACTERS)
    try:
        file = os.fdopen(open_regular(top / name, top=top), "rb")
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise InvalidSubmission(f"{shown} is not a plain file.") from error
        raise InvalidSubmission(f"{shown} cannot be read: {error.strerror}.") from error
    size = os.fstat(file.fileno()).st_size
    if size > max_bytes:
        file.close()
        raise too_large(shown, size, max_bytes)
    return file


def read_plain(top: Path, name: str, max_bytes: int) -> bytes:
    """Return the content of a plain file below `top`; see `open_plain`."""
    with open_plain(top, name, max_bytes) as file:
        return file.read(max_bytes)


def fingerprint(submission: Path) -> str | None:
    """Return the hash of a submission (of one file, or of all files and their names), or None if it does not exist."""
    if not submission.is_dir():
        return sha256(submission) if submission.exists() else None
    files = (path for path in sorted(submission.rglob("*")) if path.is_file())
    lines = [f"{sha256(path)}  {path.relative_to(submission)}" for path in files]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest() if lines else None


@dataclass
class FinishedProgram:
    """Result of running a submitted program to score it: exit code, output and folder."""

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
