"""Harbor verifier: `grade.py TASK EDITION WORKSPACE REWARD` grades a workspace and writes Harbor's rewards.

`podium export --format harbor` copies this file into the verifier's container as `/tests/grade.py`, beside the answers
and Podium's grading code. Submitted programs run there as users who can read neither.
"""

from __future__ import annotations

import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import cast

from podium import errors
from podium.catalog.registry import resolve
from podium.grading.file_submission import FinishedProgram, FolderFiles, put_files
from podium.grading.grade import Grade
from podium.grading.prepared_task import PreparedTask
from podium.safefs.remove_tree import remove_tree
from podium.task import SUBMISSION, Edition

HERE = Path(__file__).resolve().parent
FIRST_USER = 20_000
LIMITS = {resource.RLIMIT_NPROC: 512, resource.RLIMIT_FSIZE: 8 << 30, resource.RLIMIT_CORE: 0}
SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/logs/agent", "/logs/artifacts", "/logs/verifier")
"""Folders that every user can write to."""
OUTPUT_BYTES = 4_000


@contextmanager
def as_other_users(prepared: PreparedTask) -> Iterator[_Execute]:
    """Provide a function that runs each submitted program as a separate user, which is removed afterwards.

    Raises:
        PodiumError: the process is not root, so the programs could read the answers.
    """
    if os.geteuid() != 0:
        raise errors.PodiumError("Submitted programs run as other users. Start the verifier's container as root.")
    scratch = Path(tempfile.mkdtemp(prefix="podium-evaluation-"))
    try:
        scratch.chmod(0o711)
        yield _Execute(scratch, prepared.place.public)
    finally:
        remove_tree(scratch)


@dataclass(frozen=True)
class _Execute:
    """Runs programs; implements `podium.task.Execute`."""

    scratch: Path
    public: Path
    users: Iterator[int] = field(default_factory=lambda: count(FIRST_USER))

    def __call__(
        self, command: Sequence[str], *, files: Mapping[str, Path | bytes], time_s: float, data: bool = False
    ) -> FinishedProgram:
        user = next(self.users)
        folder = self.scratch / str(user)
        folder.mkdir(mode=0o700)
        put_files(files, folder)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)
        if data:
            remove_tree(folder / "data")
            (folder / "data").symlink_to(self._shown_data())
        return _run(command, folder, user, time_s)

    def _shown_data(self) -> Path:
        """Return a copy of the public data that every user can read and none can change."""
        copy = self.scratch / "data"
        if not copy.exists():
            shutil.copytree(self.public, copy)
            subprocess.run(["chmod", "-R", "a+rX,go-w", copy], check=True)
        return copy


def _run(command: Sequence[str], folder: Path, user: int, time_s: float) -> FinishedProgram:
    path = os.environ.get("PATH", os.defpath)
    environment = {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"}
    stopped = None
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        program = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=user,
            group=user,
            extra_groups=[],
            start_new_session=True,
            preexec_fn=_limit,
        )
        try:
            program.wait(time_s)
        except subprocess.TimeoutExpired:
            stopped = f"it ran longer than {time_s:g} seconds"
        seconds = time.perf_counter() - started
        _remove_user(user)
        exit_code = program.wait()
        output.seek(-min(OUTPUT_BYTES, output.seek(0, os.SEEK_END)), os.SEEK_END)
        text = output.read().decode("utf-8", "replace").strip()
    return FinishedProgram(seconds, exit_code, stopped, text, folder)


def _limit() -> None:
    for what, most in LIMITS.items():
        resource.setrlimit(what, (most, most))


def _remove_user(user: int) -> None:
    """Kill all processes of a user, and remove its files from shared folders."""
    child = os.fork()
    if child == 0:
        try:
            os.setresuid(user, user, user)
            os.kill(-1, signal.SIGKILL)  # all processes of the user at once, so that none can start another
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    for place in filter(os.path.isdir, SHARED):
        with os.scandir(place) as entries:
            left = [Path(entry) for entry in entries if entry.stat(follow_symlinks=False).st_uid == user]
        for path in left:
            remove_tree(path)


def rewards_of(grade: Grade, *, submitted: bool) -> dict[str, float]:
    """Convert a grade to numbers; the reward itself is the percentile in the field, or the improvement, as a share."""
    facts = {name: getattr(grade, name) for name in ("score", "percentile", "improvement")}
    numbers = {name: number for name, number in facts.items() if number is not None and math.isfinite(number)}
    value = numbers.get("percentile", numbers.get("improvement", 0.0))
    return {
        "reward": value / 100,
        "valid": float(grade.valid),
        "submitted": float(submitted),
        "above_median": float(bool(grade.above_median)),
        **{f"{medal}_medal": float(grade.medal == medal) for medal in ("gold", "silver", "bronze")},
        **({} if grade.success is None else {"success": float(grade.success)}),
        "miniature": float(grade.miniature),
        **numbers,
    }


def main(task: str, edition: str, workspace: str, reward: str) -> None:
    """Grade the submission, and write the rewards after all submitted programs have ended."""
    os.environ["PODIUM_HOME"] = str(HERE / "home")
    if (HERE / "tasks").is_dir():
        os.environ["PODIUM_TASKS"] = str(HERE / "tasks")
    for folder in (HERE, Path(errors.__file__).parent):  # must not be readable by submitted programs
        folder.chmod(0o700)
    prepared = resolve(task, edition=cast("Edition", edition), data_dir=HERE / "data")
    submitted = any(os.path.lexists(Path(workspace, name)) for name in prepared.names)
    with tempfile.TemporaryDirectory(prefix="podium-submission-") as scratch:  # a link in it may lead to the answers
        grade = prepared.grade_workspace(FolderFiles(Path(workspace)), Path(scratch, SUBMISSION), as_other_users)
    target = Path(reward)
    target.parent.mkdir(parents=True, exist_ok=True)
    for old in target.parent.glob("reward.*"):
        remove_tree(old)
    target.write_text(json.dumps(rewards_of(grade, submitted=submitted)), encoding="utf-8")
    sys.stdout.write(f"{grade.error or f'score {grade.score}'}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
