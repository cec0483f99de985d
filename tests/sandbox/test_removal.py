"""Folders that do not want to go."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from podium.sandbox.removal import remove_tree


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file outside, which the hostile folder points at."""
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


def test_locked_folders_go_and_links_are_not_followed(hostile: Path, victim: Path) -> None:
    before = victim.parent.stat().st_mode
    remove_tree(hostile)
    assert not hostile.exists()
    assert victim.read_text() == "precious"
    assert victim.stat().st_mode & 0o777 == 0o640
    assert victim.parent.stat().st_mode == before


def test_folders_deeper_than_recursion_and_paths_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert tmp_path.stat().st_mode == before
