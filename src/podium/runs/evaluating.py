"""Evaluates submissions that are files: programs run again, weights loaded, in fresh sandboxes, by Podium's clock."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from podium.data.files import remove_tree, sha256
from podium.data.prepare import choose_edition
from podium.errors import InvalidSubmission
from podium.grading.grade import Grade, Validation, grade_score, prepared_data
from podium.leases import Lease, default_pool
from podium.runs.record import Plan
from podium.sandbox.config import BubblewrapConfig
from podium.sandbox.policy import HOME, Mount
from podium.sandbox.sandbox import Sandbox
from podium.task import Edition, Evaluation, Files, Task
from podium.workspace.history import History

OUTPUT_CHARACTERS = 2_000


def evaluate(task: Task, submission: Path, plan: Plan) -> Grade:
    """The grade of submitted files, which lie in a folder under their names."""
    edition = choose_edition(task, plan.edition)
    task = task.in_edition(edition)
    data = prepared_data(task, edition, plan.data_dir)
    form, function = task.submission, task.variants[edition].evaluate
    assert isinstance(form, Files) and function is not None, f"{task.id} does not say how its files are evaluated"

    def find_score() -> float:
        check(form, submission)
        with _bench(plan, data.place.public, name=f"evaluation of {task.id}") as bench:
            starter = task.starter.folder if task.starter else None
            evaluation = Evaluation(submission, starter, data.place.public, data.place.private, data.miniature, bench)
            return float(function(evaluation))

    return grade_score(task, edition, data, find_score)


def grade_folder(task: Task, folder: Path, *, data_dir: Path | None, edition: Edition | None) -> Grade:
    """The grade of files that lie in a folder of the host, such as a copy of a workspace."""
    edition = choose_edition(task, edition)
    plan = Plan(agent="", edition=edition, data_dir=data_dir)
    with tempfile.TemporaryDirectory(prefix="podium-grade-") as scratch:
        submission = Path(scratch, "submission")
        fault = _take(task, edition, folder, submission)
        if fault:
            return Grade(task.id, edition, valid=False, error=fault)
        return evaluate(task, submission, plan)


def validate_folder(task: Task, folder: Path, *, edition: Edition | None) -> Validation:
    """Whether a folder holds the files that are asked for."""
    with tempfile.TemporaryDirectory(prefix="podium-validate-") as scratch:
        fault = _take(task, choose_edition(task, edition), folder, Path(scratch, "submission"))
    return Validation(task.id, valid=fault is None, error=fault)


def _take(task: Task, edition: Edition, folder: Path, target: Path) -> str | None:
    form = task.in_edition(edition).submission
    assert isinstance(form, Files)
    if not folder.is_dir():
        return f"{folder} is no folder: {task.id} asks for these files: {', '.join(form.names)}."
    fault = take_from_folder(folder, form, target)
    try:
        check(form, target)
    except InvalidSubmission as missing:
        return fault or str(missing)
    return fault


def check(form: Files, submission: Path) -> None:
    """Whether every file that is asked for is there.

    Raises:
        InvalidSubmission: one is not.
    """
    for name in form.names:
        found = submission / name
        if name.endswith("/") and not (found.is_dir() and any(found.iterdir())):
            raise InvalidSubmission(f"The folder {name} is missing or empty in the workspace.")
        if not name.endswith("/") and not (found.is_file() and found.stat().st_size):
            raise InvalidSubmission(f"The file {name} is missing or empty in the workspace.")


def take_from_snapshot(history: History, commit: str, form: Files, target: Path) -> str | None:
    """Puts the submitted files of a snapshot into a new folder; what is wrong with them, if anything."""
    remove_tree(target)
    target.mkdir(parents=True)
    left = form.max_bytes
    for file in history.files(commit):
        if not wanted(form, file.path):
            continue
        found = history.extract(commit, file.path, target / file.path, left)
        if not found.is_file:
            return f"{file.path} cannot be evaluated: {found.reason}."
        left -= found.size_bytes or 0
    return None


def take_from_folder(folder: Path, form: Files, target: Path) -> str | None:
    """The same from a folder of the host. Links are not followed: a submission holds what it is, not what it names."""
    target.mkdir(parents=True)
    left = form.max_bytes
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not wanted(form, name) or path.is_dir():
            continue
        try:
            content = read_plain(path, left)
        except InvalidSubmission as fault:
            return str(fault)
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)
        left -= len(content)
    return None


def wanted(form: Files, path: str) -> bool:
    """Whether a file of the workspace is part of the submission."""
    return any(name == "./" or path == name or (name.endswith("/") and path.startswith(name)) for name in form.names)


def fingerprint(submission: Path) -> str | None:
    """One hash for all files of a submission, names included; None where there are none."""
    files = (path for path in sorted(submission.rglob("*")) if path.is_file())
    lines = [f"{sha256(path)}  {path.relative_to(submission)}" for path in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest() if lines else None


@dataclass
class _Ran:
    """What came of a program, with the folder it worked in."""

    seconds: float
    exit_code: int
    stopped: str | None
    output: str
    folder: Path

    def read(self, name: str, max_bytes: int = 1 << 30) -> bytes:
        """A file that it left."""
        return read_plain(self.folder / name, max_bytes, top=self.folder)


@dataclass(frozen=True)
class _Bench:
    """Runs programs in sandboxes of their own, on cores that are leased once."""

    scratch: Path
    plan: Plan
    public: Path
    lease: Lease

    def __call__(
        self, command: Sequence[str], *, files: Mapping[str, Path | bytes], time_s: float, data: bool = False
    ) -> _Ran:
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        for name, source in files.items():
            _put(source, folder / name)
        mounts = (Mount(source=self.public, target=f"{HOME}/data"),) if data else ()
        if data:
            (folder / "data").mkdir()
        config = BubblewrapConfig(
            env=None if self.plan.env is None else Path(self.plan.env),
            mounts=mounts,
            limits=self.plan.limits,
            gpus=self.lease.gpus,
        )
        with Sandbox(config.policy(folder)) as sandbox:
            outcome = sandbox.run(command, environment=self.lease.environment, cores=self.lease.cores, timeout_s=time_s)
        ends = (stream.text[-OUTPUT_CHARACTERS:] for stream in (outcome.stdout, outcome.stderr))
        output = "\n".join(ends).strip()
        return _Ran(outcome.seconds, outcome.exit_code, outcome.stopped, output, folder)


@contextlib.contextmanager
def _bench(plan: Plan, public: Path, *, name: str) -> Iterator[_Bench]:
    scratch = Path(tempfile.mkdtemp(prefix="podium-evaluation-"))
    try:
        with default_pool().take(plan.cores, plan.gpus, name=name) as lease:
            yield _Bench(scratch, plan, public, lease)
    finally:
        remove_tree(scratch)


def _put(source: Path | bytes, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(source, bytes):
        target.write_bytes(source)
    elif source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target, follow_symlinks=False)


def read_plain(path: Path, max_bytes: int, top: Path | None = None) -> bytes:
    """The content of a plain file that a hostile program may have left; no link is followed on the way from `top`.

    Raises:
        InvalidSubmission: there is no plain file of at most that size.
    """
    top = top or path.parent
    name = path.relative_to(top)
    opened = [os.open(top, os.O_RDONLY | os.O_DIRECTORY)]
    try:
        for part in name.parts[:-1]:
            opened.append(os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[-1]))
        # Without O_NONBLOCK a pipe would hold us until somebody writes to it.
        opened.append(os.open(name.parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=opened[-1]))
        status = os.fstat(opened[-1])
        if not stat.S_ISREG(status.st_mode):
            raise InvalidSubmission(f"{name} is no plain file.")
        if status.st_size > max_bytes:
            raise InvalidSubmission(f"{name} has {status.st_size:,} bytes; at most {max_bytes:,} are read.")
        with os.fdopen(os.dup(opened[-1]), "rb") as file:
            return file.read(max_bytes)
    except OSError as error:
        raise InvalidSubmission(f"{name} cannot be read: {error.strerror}.") from error
    finally:
        for descriptor in opened:
            os.close(descriptor)
