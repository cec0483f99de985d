"""A writer killed at any moment, or out of disk, leaves every earlier snapshot whole."""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import crashing
import pytest
from crashing import run_and_kill

from podium.errors import RecordError
from podium.workspace.history.history import History


def work(repository: Path, workspace: Path, seed: int, report: int, *, compacting: bool) -> None:
    """Changes files and takes snapshots for ever, telling each one's id."""
    dice = random.Random(seed)
    history = History(repository, workspace)
    commit, step = history.head(), 0
    while True:
        for _ in range(dice.choice([1, 3, 80])):
            (workspace / str(dice.randrange(200))).write_bytes(dice.randbytes(dice.randrange(3000)))
        commit = history.snapshot(f"{step}", commit, time_s=step)
        os.write(report, commit.encode())
        step += 1
        if compacting and step % 3 == 0:
            history.compact()


@pytest.mark.parametrize("kills", [8, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("compacting", [False, True])
def test_kill_9_at_any_moment_leaves_a_valid_history(
    tmp_path: Path, workspace: Path, compacting: bool, kills: int
) -> None:
    repository, told = tmp_path / "history", []
    for seed in range(kills):
        working = partial(work, repository, workspace, seed, compacting=compacting)
        report = run_and_kill(working, seed=seed, within_s=0.25).decode()
        told += [report[start : start + 64] for start in range(0, len(report), 64)]
    assert told
    with History(repository, workspace) as history:
        head = history.head()
        assert head is not None
        history.put(b"opening for writing clears away what was left")
        assert [path for path in repository.rglob("*") if "tmp" in path.name] == []
        assert history.check(head) == []
        assert set(told) <= set(history.chain(head))
        history.restore(told[len(told) // 2])


def fill_up(repository: Path, workspace: Path) -> None:
    """Takes snapshots until the disk is full, then proves that the last one is whole and that room is all it takes."""
    history = History(repository, workspace)
    (workspace / "ballast").write_bytes(bytes(300_000))
    (workspace / "small").write_bytes(b"1")
    commit = history.snapshot("", None, time_s=0)
    with pytest.raises(RecordError, match="disk is full"):
        for step in range(1000):
            (workspace / "file").write_bytes(os.urandom(50_000))
            commit = history.snapshot("", commit, time_s=step)
    assert list(repository.rglob("tmp_*")) == []
    assert (history.head(), history.check(commit)) == (commit, [])
    (workspace / "ballast").unlink()
    last = history.snapshot("", commit, time_s=0)
    assert history.check(last) == []
    history.close()
    with History(repository, workspace) as again:
        assert again.head() == last


def run_child(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_full_disk_is_explained_and_loses_nothing(tmp_path: Path) -> None:
    """On a file system of 4 MB of its own, where we may make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=4m none {disk} && mkdir {disk}/workspace"
    if not shutil.which("unshare") or run_child("unshare", "-rm", "sh", "-c", mount).returncode:
        pytest.skip("this machine does not let us mount a small file system")
    python = f"PYTHONPATH={Path(crashing.__file__).parent} {sys.executable} {__file__} {disk}/history {disk}/workspace"
    child = run_child("unshare", "-rm", "sh", "-c", f"{mount} && {python}")
    assert child.returncode == 0, child.stderr


def test_a_file_size_limit_is_reported_as_a_full_disk(history: History) -> None:
    (history.workspace / "small").write_bytes(b"1")
    commit = history.snapshot("", None, time_s=0)
    (history.workspace / "file").write_bytes(os.urandom(50_000))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, limits[1]))
    try:
        with pytest.raises(RecordError, match="disk is full"):
            history.snapshot("", commit, time_s=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (history.head(), history.check(commit)) == (commit, [])
    assert list(history.folder.rglob("tmp_*")) == []
    assert history.check(history.snapshot("", commit, time_s=2)) == []


if __name__ == "__main__":
    fill_up(Path(sys.argv[1]), Path(sys.argv[2]))
