"""Opening a file in an untrusted folder neither leaves the folder nor blocks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from podium.safefs.atomic_files import write_atomically
from podium.safefs.open_nofollow import open_folder, open_regular, read_regular

SECRET = "mine"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "outside" / "folder").mkdir(parents=True)
    (tmp_path / "outside" / "folder" / "file").write_text(SECRET)
    return tmp_path / "outside"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "top" / "folder").mkdir(parents=True)
    (tmp_path / "top" / "folder" / "file").write_text("theirs")
    return tmp_path / "top"


def test_a_regular_file_is_read(top: Path) -> None:
    assert read_regular(top / "folder" / "file", 6, top=top) == b"theirs"
    with pytest.raises(OSError, match="the limit is 5"):
        read_regular(top / "folder" / "file", 5, top=top)


def link_file(top: Path, outside: Path) -> None:
    (top / "folder" / "file").unlink()
    (top / "folder" / "file").symlink_to(outside / "folder" / "file")


def link_folder(top: Path, outside: Path) -> None:
    (top / "folder" / "file").unlink()
    (top / "folder").rmdir()
    (top / "folder").symlink_to(outside / "folder")


def make_pipe(top: Path, outside: Path) -> None:
    (top / "folder" / "file").unlink()
    os.mkfifo(top / "folder" / "file")


def make_folder(top: Path, outside: Path) -> None:
    (top / "folder" / "file").unlink()
    (top / "folder" / "file").mkdir()


@pytest.mark.parametrize("attack", [link_file, link_folder, make_pipe, make_folder])
def test_only_regular_files_are_read(top: Path, outside: Path, attack: Callable[[Path, Path], None]) -> None:
    attack(top, outside)
    for flags in (os.O_RDONLY, os.O_RDWR | os.O_CREAT):
        with pytest.raises(OSError, match=r"."):
            open_regular(top / "folder" / "file", flags, top=top)
    assert (outside / "folder" / "file").read_text() == SECRET


def test_a_link_to_the_top_is_followed_as_the_user_named_it(top: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(top)
    assert read_regular(tmp_path / "link" / "folder" / "file", 100, top=tmp_path / "link") == b"theirs"


def test_parent_references_are_refused(top: Path) -> None:
    with pytest.raises(OSError, match="leads out"):
        open_folder(top / "folder" / ".." / "..", top=top)


@pytest.mark.parametrize("attack", [link_file, link_folder])
def test_writing_replaces_a_link_and_follows_none(
    top: Path, outside: Path, attack: Callable[[Path, Path], None]
) -> None:
    attack(top, outside)
    if attack is link_folder:
        with pytest.raises(OSError, match=r"."):
            write_atomically(top / "folder" / "file", "new", top=top)
    else:
        write_atomically(top / "folder" / "file", "new", top=top)
        assert (top / "folder" / "file").read_text() == "new"
    assert (outside / "folder" / "file").read_text() == SECRET
    assert [path.name for path in (outside / "folder").iterdir()] == ["file"]


def test_link_at_a_temporary_name_is_not_followed(top: Path, outside: Path) -> None:
    for process in range(os.getpid() - 5, os.getpid() + 5):
        (top / "folder" / f".file.{process}").symlink_to(outside / "folder" / "file")
    write_atomically(top / "folder" / "file", "new")
    assert (top / "folder" / "file").read_text() == "new"
    assert (outside / "folder" / "file").read_text() == SECRET
