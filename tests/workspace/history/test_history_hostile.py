"""Snapshots of hostile workspaces: they do not leave the folder, block or fail."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import random
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from folders import describe, make, read_afresh, wait_until_not_racy

from podium.errors import RecordError
from podium.workspace.history import file_records, scan_workspace
from podium.workspace.history.history import History
from podium.workspace.history.scan_workspace import Bounds

SECRET = b"the answers"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    make(tmp_path / "outside", {b"file": SECRET, b"folder": {b"file": SECRET}})
    return tmp_path / "outside"


@contextlib.contextmanager
def repeating(action: Callable[[], None]) -> Iterator[None]:
    """Does something over and over in another thread."""
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            with contextlib.suppress(FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError):
                action()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def swap(path: Path, link_to: Path) -> Callable[[], None]:
    """Puts a link in place of something, and takes it away again."""
    aside = path.with_name("aside")

    def action() -> None:
        path.rename(aside)
        try:
            path.symlink_to(link_to)
            path.unlink()
        finally:
            aside.rename(path)

    return action


@pytest.mark.parametrize("name", ["file", "folder"])
def test_a_link_swapped_in_during_a_scan_is_not_followed(history: History, outside: Path, name: str) -> None:
    make(history.workspace, {b"file": b"mine", b"folder": {b"file": b"mine"}})
    commit = None
    with repeating(swap(history.workspace / name, outside / name)):
        for number in range(150):
            commit = history.snapshot("", commit, time_s=number, thorough=True)
    assert commit is not None and history.check(commit) == []
    with pytest.raises(RecordError, match="missing"):
        history.get(hashlib.sha256(SECRET).hexdigest())


def test_a_link_swapped_in_during_a_restore_is_not_followed(history: History, outside: Path) -> None:
    make(history.workspace, {b"folder": {b"file": b"mine", b"more": {b"file": b"mine"}}})
    commit = history.snapshot("", None, time_s=0)
    before = describe(outside)
    with repeating(swap(history.workspace / "folder", outside)):
        for _ in range(20):
            with contextlib.suppress(OSError):
                (history.workspace / "folder" / "more" / "file").unlink()
            with contextlib.suppress(RecordError):
                history.restore(commit)
    assert describe(outside) == before
    history.restore(commit)
    assert (history.workspace / "folder" / "more" / "file").read_bytes() == b"mine"


def test_restore_does_not_follow_a_link_that_replaced_a_folder(history: History, outside: Path) -> None:
    make(history.workspace, {b"folder": {b"file": b"mine", b"new": b"mine"}})
    commit = history.snapshot("", None, time_s=0)
    before = describe(outside)
    shutil.rmtree(history.workspace / "folder")
    (history.workspace / "folder").symlink_to(outside)
    (history.workspace / "extra").symlink_to(outside)
    history.restore(commit)
    assert describe(outside) == before
    assert describe(history.workspace)[b"folder/new"] == ("file", b"mine")


def test_pipes_sockets_and_devices_are_listed_and_kept(history: History) -> None:
    os.mkfifo(history.workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(history.workspace / "socket"))
        commit = history.snapshot("", None, time_s=0)
    assert {note.path: note.kind for note in history.record(commit).left_out} == {"pipe": "fifo", "socket": "socket"}
    assert history.restore(commit).left_alone == ("pipe", "socket")
    assert (history.workspace / "pipe").is_fifo()


def test_a_pipe_swapped_in_for_a_file_does_not_block(history: History) -> None:
    file = history.workspace / "file"
    file.write_bytes(b"mine")

    def action() -> None:
        file.rename(history.workspace / "aside")
        os.mkfifo(file)
        (history.workspace / "aside").replace(file)

    with repeating(action):
        for number in range(150):
            history.snapshot("", None, time_s=number, thorough=True)


def test_a_huge_sparse_file_is_recorded_without_being_read(tmp_path: Path, workspace: Path) -> None:
    for name in ("submission.csv", "model.bin"):
        with (workspace / name).open("wb") as file:
            file.truncate(20 * 10**9)
    with History(tmp_path / "history", workspace, always=["submission.csv"]) as history:
        commit = history.snapshot("", None, time_s=0)
        assert [note.size_bytes for note in history.record(commit).large] == [20 * 10**9] * 2
        extracted = history.extract(commit, "submission.csv", tmp_path / "out", 10**9)
        assert (extracted.kind, extracted.size_bytes) == ("large", 20 * 10**9)
        assert history.restore(commit).unsure == ("model.bin", "submission.csv")


def test_many_sparse_files_are_not_all_read(tmp_path: Path, workspace: Path) -> None:
    for number in range(100):
        with (workspace / str(number)).open("wb") as file:
            file.truncate(1_000_000)
    with History(tmp_path / "history", workspace, bounds=Bounds(hashed_bytes=10_000_000)) as history:
        commit = history.snapshot("", None, time_s=0)
        assert len(history.record(commit).left_out) == 90


def make_deep(folder: Path, depth: int) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=descriptor)
        inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)


def test_folders_too_deep_to_follow_are_left_out_and_can_be_removed(tmp_path: Path, in_memory: Path) -> None:
    with History(tmp_path / "history", in_memory) as history:
        empty = history.snapshot("", None, time_s=0)
        make_deep(in_memory, 3000)
        commit = history.snapshot("", empty, time_s=1)
        (note,) = history.record(commit).left_out
        assert (note.kind, note.path) == ("deep", "/".join(["d"] * 65))
        assert history.restore(commit).left_alone == (note.path,)
        history.restore(empty)
        assert list(in_memory.iterdir()) == []


def test_a_crowded_workspace_is_recorded_in_part_and_restored_without_loss(tmp_path: Path, workspace: Path) -> None:
    make(workspace, {b"a": {b"%d" % n: b"" for n in range(50)}, b"b": {b"%d" % n: b"" for n in range(50)}})
    wait_until_not_racy()
    with History(tmp_path / "history", workspace, bounds=Bounds(entries=60)) as history:
        first = history.snapshot("", None, time_s=0)
        commit = history.snapshot("", first, time_s=1)
        assert len(history.files(commit)) <= 65
        assert {note.kind for note in history.record(commit).left_out} == {"crowded"}
        before = describe(workspace)
        history.restore(commit)
        assert describe(workspace) == before


def test_names_with_a_meaning_elsewhere_are_plain_names(history: History, tmp_path: Path) -> None:
    names = [b".git", b".GIT", b"git~1", b"-rf", b"--", b"\n", b"\xff\xfe", b"a\tb", b'"', b"\\", b" ", b"con", b"*"]
    make(history.workspace, {name: {name: name} for name in names})
    commit = history.snapshot("", None, time_s=0)
    history.check_out(commit, tmp_path / "copy")
    assert describe(tmp_path / "copy") == describe(history.workspace)
    assert {os.fsencode(file.path) for file in history.files(commit)} == {name + b"/" + name for name in names}


def test_blobs_do_not_use_up_the_limits_of_a_snapshot(history: History) -> None:
    numbers, commit = itertools.count(), None

    def put() -> None:
        history.put(b"%d" % next(numbers))

    with repeating(put):
        for number in range(10):
            make(history.workspace, {b"%d-%d" % (number, n): b"%d-%d" % (number, n) for n in range(300)})
            commit = history.snapshot("", commit, time_s=0)
    assert commit is not None and history.check(commit) == []


def test_a_million_pipes_do_not_make_a_million_lines(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_records, "_LISTED", 100)
    for number in range(150):
        os.mkfifo(workspace / str(number))
    with History(tmp_path / "history", workspace) as history:
        commit = history.snapshot("", None, time_s=0)
        told = history.record(commit)
        assert (len(told.left_out), told.unlisted) == (100, 50)
        assert history.restore(commit).removed == ()


def test_long_names_of_large_files_do_not_make_a_record_unreadable(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_workspace, "MAX_RECORD_BYTES", 20_000)
    for folder in ("a", "b"):
        (workspace / folder).mkdir()
        for number in range(10):
            with (workspace / folder / f"{number}{'x' * 200}").open("wb") as file:
                file.truncate(2000)
    wait_until_not_racy()
    with History(tmp_path / "history", workspace, bounds=Bounds(large_bytes=1000)) as history:
        commit = history.snapshot("", history.snapshot("", None, time_s=0), time_s=0)
        for time_s in (1, 2):
            told = history.record(commit)
            assert len(told.encode()) < 20_000 and told.large and len(told.large) + told.unlisted == 20
            before = describe(workspace)
            assert (history.restore(commit).removed, history.restore(commit).lost) == ((), ())
            assert describe(workspace) == before
            commit = history.snapshot("", commit, time_s=time_s)


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder of our own, and no power over modes while it is used."""
    with tempfile.TemporaryDirectory() as name:
        if os.geteuid() != 0:
            yield Path(name)
            return
        os.chown(name, 65534, 65534)
        os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            os.seteuid(0)


def test_unreadable_files_are_listed_and_do_not_stop_a_restore(unprivileged: Path) -> None:
    workspace = unprivileged / "workspace"
    make(workspace, {b"file": b"1", b"folder": {b"x": b"2"}, b"locked": {b"y": b"3"}})
    with History(unprivileged / "history", workspace) as history:
        commit = history.snapshot("", None, time_s=0)
        before = describe(workspace)
        make(workspace / "more", {b"deep": {b"deeper": b""}})
        make(workspace / "listed", {b"z": b"4"})
        for path in ("file", "folder", "more/deep", "more"):
            (workspace / path).chmod(0)
        (workspace / "listed").chmod(0o400)
        (workspace / "locked").chmod(0o500)
        second = history.snapshot("", commit, time_s=1)
        notes = {note.path: note.reason for note in history.record(second).left_out}
        assert notes == dict.fromkeys(["file", "folder", "listed/z", "more"], "it cannot be read: Permission denied")
        assert history.extract(second, "folder/x", unprivileged / "out", 10).kind == "left out"
        history.restore(second)
        history.restore(commit)
        assert describe(workspace) == before


def test_a_workspace_that_never_stops_changing_can_be_recorded(history: History) -> None:
    make(history.workspace, {b"%d" % n: b"x" * 1000 for n in range(50)})

    def action() -> None:
        for number in range(50):
            path = history.workspace / str(number)
            path.write_bytes(os.urandom(number * 100))
            path.rename(history.workspace / f"{number}-moved")
            (history.workspace / f"{number}-moved").rename(path)
            (history.workspace / "folder").mkdir()
            (history.workspace / "folder").rmdir()

    commit = None
    with repeating(action):
        for number in range(40):
            commit = history.snapshot("", commit, time_s=number)
    assert commit is not None and history.check(commit) == []


def test_changes_during_a_scan_are_in_the_next_snapshot(history: History) -> None:
    folders = [history.workspace / str(number) for number in range(8)]
    for folder in folders:
        make(folder, {b"%d" % number: b"0" for number in range(8)})
    dice = random.Random(0)

    def action() -> None:
        for _ in range(30):
            path, other = (dice.choice(folders) / str(dice.randrange(12)) for _ in range(2))
            kind = dice.choice(["move", "make", "remove", "write"])
            if kind == "move":
                path.replace(other)
            elif kind == "make":
                path.touch()
            elif kind == "remove":
                path.unlink()
            else:
                path.write_bytes(b"1")
        time.sleep(dice.uniform(0, 0.06))

    for _ in range(4):
        with repeating(action):
            for _ in range(10):
                history.snapshot("", None, time_s=0)
                time.sleep(dice.uniform(0, 0.03))
        assert history.snapshot("", None, time_s=0) == read_afresh(history.workspace)
