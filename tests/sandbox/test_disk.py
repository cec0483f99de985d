"""Disk space of folders that somebody hostile has filled."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from podium.sandbox.disk import disk_use
from podium.sandbox.spec import MIB, Limits


def test_locked_folders_are_measured_and_stay_locked(tmp_path: Path) -> None:
    inner = tmp_path / "top/locked/inner"
    inner.mkdir(parents=True)
    (inner / "file").write_bytes(b"x" * MIB)
    os.link(inner / "file", inner / "same")
    (tmp_path / "top/link").symlink_to("/")
    for folder, mode in ((inner, 0o000), (inner.parent, 0o300)):
        folder.chmod(mode)
    use = disk_use([tmp_path / "top"], Limits())
    assert MIB <= use.size < 2 * MIB
    assert use.files == 5
    assert stat.S_IMODE(inner.parent.stat().st_mode) == 0o300
    inner.parent.chmod(0o700)
    assert stat.S_IMODE(inner.stat().st_mode) == 0o000
    inner.chmod(0o700)


def test_folders_too_deep_to_measure_are_reported(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(250):
        folder = folder / "d"
        folder.mkdir()
    assert disk_use([tmp_path], Limits()).is_too_deep
