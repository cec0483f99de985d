"""Removal of folders that resist it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from podium.safefs.remove_tree import remove_tree


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Create a file outside, which the hostile folder links to."""
    file = tmp_path / "victim"
    file.write_text("precious")
    file.chmod(0o640)
    return file


@pytest.fixture
def hostile(tmp_path: Path, victim: Path) -> Path:
    folder = tmp_path / "hostile"
    inner = folder / "locked" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    (folder / "locked" / "link").symlink_to(victim)
    (folder / "locked" / "up").symlink_to(victim.parent)
    inner.chmod(0)
    (folder / "locked").chmod(0o500)
    return folder


def test_locked_folders_are_removed_and_links_not_followed(hostile: Path, victim: Path) -> None:
    before = victim.parent.stat().st_mode
    remove_tree(hostile)
    assert not hostile.exists()
    assert victim.read_text() == "precious"
    assert victim.stat().st_mode & 0o777 == 0o640
    assert victim.parent.stat().st_mode == before


def test_deeply_nested_folders_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tmp_path / "top"
    top.mkdir()
    monkeypatch.chdir(top)
    name = "name" * 10
    for _ in range(1200):
        os.mkdir(name)  # noqa: PTH102
        os.chdir(name)
    monkeypatch.chdir(tmp_path)
    remove_tree(top)
    assert not top.exists()


def test_a_missing_folder_changes_nothing(tmp_path: Path) -> None:
    before = tmp_path.stat().st_mode
    remove_tree(tmp_path / "missing")
    remove_tree(tmp_path / "missing" / "inside")
    assert tmp_path.stat().st_mode == before


def test_links_are_removed_but_not_their_targets(tmp_path: Path, hostile: Path, victim: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(hostile)
    remove_tree(link)
    remove_tree(victim)
    assert list(tmp_path.iterdir()) == [hostile]


REMOVE = """
import sys; from pathlib import Path; from podium.safefs.remove_tree import remove_tree
try: remove_tree(Path(sys.argv[1]))
except OSError as error: print(error.strerror)
"""


def test_failed_removal_is_reported_after_the_rest_is_removed(tmp_path: Path) -> None:
    bubblewrap = shutil.which("bwrap") or pytest.skip("needs bubblewrap")
    for name in ("a", "b", "c"):
        (tmp_path / "top" / name / "inner").mkdir(parents=True)
    mounts = ["--dev-bind", "/", "/", "--tmpfs", str(tmp_path / "top" / "b")]
    command = [bubblewrap, *mounts, sys.executable, "-c", REMOVE, str(tmp_path / "top")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "Device or resource busy\n", done.stderr
    assert [path.name for path in (tmp_path / "top").iterdir()] == ["b"]
