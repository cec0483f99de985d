"""Snapshots contain every change a program makes, even concealed ones."""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from folders import make, read_afresh, wait_until_not_racy

from podium.workspace.history import file_stamps
from podium.workspace.history.history import History
from podium.workspace.history.scan_workspace import Bounds

CONTENT = {
    b"a": b"aaaa",
    b"b": b"bbbb",
    b"link": "a",
    b"sub": {b"c": b"cccc", b"d": b"dddd"},
    b"other": {b"c": b"CCCC"},
}


@contextlib.contextmanager
def covered_up(workspace: Path) -> Iterator[None]:
    """Gives every changed name back the times that a program can set."""
    times = {path: path.lstat() for path in (workspace, *workspace.rglob("*"))}
    yield
    for path, status in times.items():
        if os.path.lexists(path) and path.lstat().st_mtime_ns != status.st_mtime_ns:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns), follow_symlinks=False)


def write_through_a_map(workspace: Path) -> None:
    with (workspace / "sub" / "c").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:2] = b"xx"


def write_through_another_name(workspace: Path) -> None:
    os.link(workspace / "sub" / "c", workspace.parent / "elsewhere")
    (workspace.parent / "elsewhere").write_bytes(b"xxxx")


def swap_files(workspace: Path) -> None:
    (workspace / "a").rename(workspace / "aside")
    (workspace / "b").rename(workspace / "a")
    (workspace / "aside").rename(workspace / "b")


def replace_by_a_rename(workspace: Path) -> None:
    (workspace.parent / "elsewhere").write_bytes(b"xxxx")
    (workspace.parent / "elsewhere").replace(workspace / "sub" / "c")


def replace_by_a_hard_link(workspace: Path) -> None:
    (workspace / "sub" / "c").unlink()
    os.link(workspace / "a", workspace / "sub" / "c")


def replace_by_a_link(workspace: Path) -> None:
    (workspace / "sub" / "c").unlink()
    (workspace / "sub" / "c").symlink_to("dddd")


def replace_by_a_pipe(workspace: Path) -> None:
    (workspace / "sub" / "c").unlink()
    os.mkfifo(workspace / "sub" / "c")


def replace_by_a_folder(workspace: Path) -> None:
    (workspace / "sub" / "c").unlink()
    (workspace / "sub" / "c").mkdir()


def turn_a_link(workspace: Path) -> None:
    (workspace / "link").unlink()
    (workspace / "link").symlink_to("b")


def turn_a_folder_into_a_link_to_itself(workspace: Path) -> None:
    (workspace / "sub").rename(workspace.parent / "elsewhere")
    (workspace / "sub").symlink_to(workspace.parent / "elsewhere")


def swap_folders(workspace: Path) -> None:
    (workspace / "sub").rename(workspace / "aside")
    (workspace / "other").rename(workspace / "sub")
    (workspace / "aside").rename(workspace / "other")


def remake_a_folder(workspace: Path) -> None:
    shutil.rmtree(workspace / "sub")
    make(workspace / "sub", {b"c": b"cccc", b"d": b"xxxx"})


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda workspace: (workspace / "sub" / "c").write_bytes(b"xxxx"),
    "written through a map": write_through_a_map,
    "written through another name": write_through_another_name,
    "made executable": lambda workspace: (workspace / "sub" / "c").chmod(0o755),
    "removed": lambda workspace: (workspace / "sub" / "c").unlink(),
    "renamed": lambda workspace: (workspace / "sub" / "c").rename(workspace / "sub" / "e"),
    "moved": lambda workspace: (workspace / "sub" / "c").rename(workspace / "other" / "d"),
    "moved over another": lambda workspace: (workspace / "sub" / "c").rename(workspace / "other" / "c"),
    "swapped": swap_files,
    "replaced by a rename": replace_by_a_rename,
    "replaced by a hard link": replace_by_a_hard_link,
    "replaced by a link": replace_by_a_link,
    "replaced by a pipe": replace_by_a_pipe,
    "replaced by a folder": replace_by_a_folder,
    "new file": lambda workspace: (workspace / "sub" / "e").touch(),
    "new folder": lambda workspace: (workspace / "sub" / "e").mkdir(),
    "new hard link": lambda workspace: os.link(workspace / "a", workspace / "sub" / "e"),
    "link turned elsewhere": turn_a_link,
    "folder moved": lambda workspace: (workspace / "sub").rename(workspace / "other" / "sub"),
    "folders swapped": swap_folders,
    "folder made again": remake_a_folder,
    "folder turned into a link to itself": turn_a_folder_into_a_link_to_itself,
}


@pytest.fixture(params=["at a glance", "one by one"])
def looking(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the C library's help and without."""
    if request.param == "one by one":
        monkeypatch.setattr(file_stamps, "_statx", None)
    else:
        assert file_stamps._statx is not None


@pytest.mark.usefixtures("looking")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_concealed_change_is_detected(history: History, change: Callable[[Path], object]) -> None:
    make(history.workspace, CONTENT)
    wait_until_not_racy()
    before = history.snapshot("", None, time_s=0)
    assert history.snapshot("", None, time_s=0) == before
    with covered_up(history.workspace):
        change(history.workspace)
    after = history.snapshot("", None, time_s=0)
    assert after != before
    assert after == read_afresh(history.workspace)


def test_a_name_created_right_after_a_snapshot_is_detected(history: History) -> None:
    commit = None
    for number in range(60):
        (history.workspace / str(number)).touch()
        commit = history.snapshot("", commit, time_s=number)
        assert len(history.files(commit)) == number + 1


def test_folders_with_unchanged_names_are_not_listed_again(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    make(history.workspace, CONTENT)
    wait_until_not_racy()
    history.snapshot("", None, time_s=0)
    (history.workspace / "sub" / "c").write_bytes(b"longer")
    with monkeypatch.context() as patch:
        patch.delattr(os, "scandir")
        after = history.snapshot("", None, time_s=0)
    assert after == read_afresh(history.workspace)


def test_files_without_content_are_listed_by_every_snapshot(tmp_path: Path, workspace: Path) -> None:
    make(workspace, CONTENT)
    (workspace / "sub" / "model").write_bytes(b"m" * 2000)
    wait_until_not_racy()
    with History(tmp_path / "history", workspace, bounds=Bounds(large_bytes=1000)) as history:
        records = [history.record(history.snapshot("", None, time_s=0)) for _ in range(3)]
    assert [note.path for note in records[0].large] == ["sub/model"]
    assert records == records[:1] * 3


def test_bulk_stat_agrees_with_stat(workspace: Path) -> None:
    make(workspace, {**CONTENT, b"\xff": b"", **{b"%d" % number: b"x" * number for number in range(600)}})
    os.mkfifo(workspace / "pipe")
    os.utime(workspace / "a", ns=(0, -1_500_000_000))
    os.truncate(workspace / "b", 1 << 40)
    names = [os.fsencode(path.name) for path in workspace.iterdir()]
    descriptor = os.open(workspace, os.O_RDONLY)
    try:
        seen = file_stamps.BulkStat().at(descriptor, names)
        assert seen is not None
        assert file_stamps.unpack_stamps(seen) == [file_stamps.stamp_at(descriptor, name) for name in names]
        assert file_stamps.BulkStat().at(descriptor, [*names, b"nothing"]) is None
        assert isinstance(file_stamps.stamp_at(descriptor, b"nothing"), FileNotFoundError)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(
    ("changed_ns", "read_after_ns", "is_trusted"),
    [
        (1_000_500_000_000, 10_000_000, False),
        (1_000_500_000_000, 50_000_000, True),
        (1_000_000_000_000, 50_000_000, False),
        (1_000_000_000_000, 1_999_000_000, False),
        (1_000_000_000_000, 2_200_000_000, True),
    ],
)
def test_times_in_whole_seconds_are_trusted_later(changed_ns: int, read_after_ns: int, is_trusted: bool) -> None:
    stamp = file_stamps.stamp_of(os.stat_result((0,) * 10, {"st_ctime_ns": changed_ns, "st_mtime_ns": 0}))
    assert (file_stamps.stable_stamp(stamp, changed_ns + read_after_ns) is not None) == is_trusted
