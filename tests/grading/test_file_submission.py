"""Files that a hostile program may have left are listed and read without following links."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from podium.errors import InvalidSubmission
from podium.grading import file_submission
from podium.grading.file_submission import FilesForm, FolderFiles, fingerprint, read_plain
from podium.task import Files


def test_all_files_are_listed_and_linked_folders_are_not_entered(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "deep").touch()
    (tmp_path / "a").touch()
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "root").symlink_to("/")
    os.mkfifo(tmp_path / "pipe")
    assert FolderFiles(tmp_path).names() == ["a", "b/c/deep", "link", "pipe"]


def test_a_link_on_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("content")
    (tmp_path / "linked").symlink_to("real")
    assert read_plain(tmp_path, "real/file", 100) == b"content"
    with pytest.raises(InvalidSubmission, match="linked/file cannot be read: Not a directory"):
        read_plain(tmp_path, "linked/file", 100)


def test_names_in_messages_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    name = "\x1b[2Jwiped"
    os.mkfifo(tmp_path / name)
    with pytest.raises(InvalidSubmission) as fault:
        read_plain(tmp_path, name, 100)
    assert str(fault.value).isprintable()


def test_a_name_that_is_not_utf_8_has_a_fingerprint(tmp_path: Path) -> None:
    Path(tmp_path, os.fsdecode(b"caf\xe9.txt")).write_text("a")
    line = hashlib.sha256(b"a").hexdigest().encode() + b"  caf\xe9.txt"
    assert fingerprint(tmp_path) == hashlib.sha256(line).hexdigest()


def test_a_fingerprint_covers_names_and_content(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, name in ((one, "a"), (other, "b")):
        folder.mkdir()
        (folder / name).write_text("same")
    assert fingerprint(one) != fingerprint(other)
    (other / "b").rename(other / "a")
    assert fingerprint(one) == fingerprint(other)
    assert fingerprint(one / "a") != fingerprint(one)
    assert fingerprint(tmp_path / "nowhere") is None


def test_more_files_than_can_be_taken_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_submission, "MAX_FILES", 2)
    for name in ("weights/a", "weights/b", "other"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    form = FilesForm(Files(names=("weights/",), max_bytes=100))
    form.take(FolderFiles(tmp_path), tmp_path / "taken", 100)
    (tmp_path / "weights" / "c").touch()
    with pytest.raises(InvalidSubmission, match=r"The submission has 3 files; at most 2 are allowed\."):
        form.take(FolderFiles(tmp_path), tmp_path / "again", 100)
