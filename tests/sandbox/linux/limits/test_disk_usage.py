"""Disk usage of untrusted folders."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.sandbox.linux.limits.disk_usage import DiskMeter, measure_disk_usage
from podium.sandbox.spec import MIB, Limits


def test_locked_folders_are_measured_and_stay_locked(tmp_path: Path) -> None:
    inner = tmp_path / "top/locked/inner"
    inner.mkdir(parents=True)
    (inner / "file").write_bytes(b"x" * MIB)
    os.link(inner / "file", inner / "same")
    (tmp_path / "top/link").symlink_to("/")
    for folder, mode in ((inner, 0o000), (inner.parent, 0o300)):
        folder.chmod(mode)
    use = measure_disk_usage([tmp_path / "top"], Limits())
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
    assert measure_disk_usage([tmp_path], Limits()).is_too_deep


def test_newest_files_are_truncated_to_the_limit(tmp_path: Path) -> None:
    for name in ("old", "new", "newest"):
        (tmp_path / name).write_bytes(b"x" * 4 * MIB)
    (tmp_path / "newest").chmod(0o444)
    outside = tmp_path.parent / "outside"
    outside.write_bytes(b"x" * 4 * MIB)
    (tmp_path / "link").symlink_to(outside)
    meter = DiskMeter([tmp_path], Limits(disk_bytes=6 * MIB), nameless=lambda devices: 0)
    assert "disk limit of 6 MiB exceeded" in str(meter.exceeded())
    meter.truncate_to_limits()
    assert [(tmp_path / name).stat().st_size // MIB for name in ("old", "new", "newest")] == [4, 2, 0]
    assert outside.stat().st_size == 4 * MIB
    assert stat.S_IMODE((tmp_path / "newest").stat().st_mode) == 0o444
    assert meter.bytes_left() == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 100 MiB."""
    if os.getuid() != 0:
        pytest.skip("only root can mount one")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "podium", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_free_space_is_reserved(small_disk: Path) -> None:
    meter = DiskMeter([small_disk], Limits(), nameless=lambda devices: 0)
    assert meter.bytes_left() == 98 * MIB
    (small_disk / "file").write_bytes(b"x" * 99 * MIB)
    assert meter.exceeded() == "the disk is nearly full (1 MiB free)"
    assert meter.bytes_left() == 0
    meter.truncate_to_limits()
    assert (small_disk / "file").stat().st_size == 98 * MIB
