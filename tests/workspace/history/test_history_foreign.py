"""A history that a stranger made leads nowhere else, is not written to, and is read in bounded memory."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from folders import describe, make

from podium.errors import RecordError
from podium.workspace.history import blob_reader, restore
from podium.workspace.history.file_records import SnapshotRecord
from podium.workspace.history.history import History
from podium.workspace.history.snapshot_manifest import MAX_CHAIN, SnapshotEntry, SnapshotManifest

EMPTY = SnapshotRecord().encode()


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Files that a link could lead to."""
    make(tmp_path / "outside", {b"file": b"mine", b"tmp_1_1": b"mine", b"00000000": b"mine", b"empty": b""})
    return tmp_path / "outside"


def put_manifest(history: History, manifest: SnapshotManifest | bytes) -> str:
    history.put(EMPTY)
    return history.put(manifest if isinstance(manifest, bytes) else manifest.encode())


def manifest(entries: dict[bytes, SnapshotEntry | None], **changes: object) -> SnapshotManifest:
    record = hashlib.sha256(EMPTY).hexdigest()
    settings = {"parent": None, "message": "", "time_s": 0, "record": record, "chain": 0} | changes
    return SnapshotManifest(**settings, changes=entries)  # type: ignore[arg-type]


def file(history: History, data: bytes) -> SnapshotEntry:
    return SnapshotEntry("file", history.put(data), len(data))


@pytest.mark.parametrize("path", [b"..", b".", b"", b"a/../b", b"/etc/passwd", b"a//b", b"a/", b"/".join([b"d"] * 201)])
def test_a_path_that_leads_out_of_its_folder_is_refused(history: History, tmp_path: Path, path: bytes) -> None:
    commit = put_manifest(history, manifest({path: file(history, b"evil")}))
    with pytest.raises(RecordError, match=r"impossible path|malformed"):
        history.check_out(commit, tmp_path / "in" / "copy")
    assert list((tmp_path / "in").iterdir()) == [tmp_path / "in" / "copy"]
    assert history.check(commit) != []


@pytest.mark.parametrize("names", [(b"a", b"a/b"), (b"a/b", b"a")])
def test_a_file_that_is_also_a_folder_is_refused(history: History, tmp_path: Path, names: tuple[bytes, bytes]) -> None:
    entry = file(history, b"")
    commit = put_manifest(history, manifest(dict.fromkeys(names, entry)))
    with pytest.raises(RecordError, match=r"which is a file|as a file and as a folder"):
        history.check_out(commit, tmp_path / "copy")
    assert history.check(commit) != []


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[" * 100_000,
        b'{"format": 2}',
        b'{"chain": 0, "format": 1, "message": "", "parent": "..", "record": "", "time_s": 0}',
        manifest({}).encode() + b"\0nonsense",
        manifest({}).encode() + b"\0",
        manifest({}).encode() + b"\0f " + b"0" * 64 + b" -1 a",
    ],
)
def test_malformed_manifests_are_refused(history: History, text: bytes) -> None:
    commit = put_manifest(history, text)
    for look in (history.files, history.chain, history.entries, lambda commit: history.diff(None, commit)):
        with pytest.raises(RecordError):
            look(commit)
    assert history.check(commit) != []


def test_manifests_that_build_on_nothing_or_on_too_many_are_refused(history: History) -> None:
    alone = put_manifest(history, manifest({}, chain=3))
    with pytest.raises(RecordError, match="builds on"):
        history.files(alone)
    parent: str | None = None
    for number in range(MAX_CHAIN + 3):
        parent = put_manifest(history, manifest({}, parent=parent, chain=min(number, 1)))
    with pytest.raises(RecordError, match="builds on"):
        history.files(str(parent))


@pytest.mark.parametrize(
    "record",
    [
        b'{"large": [{"path": 1}]}',
        b'{"large": 1}',
        b"[" * 100_000,
        b'{"left_out": [["a"]]}',
        b'{"large": [], "left_out": [{"path": "a", "kind": "odd", "reason": ""}], "unlisted": 0}',
        b'{"large": [], "left_out": [], "unlisted": -1}',
    ],
)
def test_records_of_the_wrong_types_are_refused(history: History, record: bytes) -> None:
    commit = put_manifest(history, manifest({}, record=history.put(record)))
    with pytest.raises(RecordError, match="malformed"):
        history.files(commit)


def test_one_large_file_under_many_names_is_not_written_without_end(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(history.workspace, {b"%d" % number: bytes(100_000) for number in range(20)})
    commit = history.snapshot("", None, time_s=0)
    monkeypatch.setattr(restore, "MAX_RESTORED_BYTES", 1_000_000)
    with pytest.raises(RecordError, match="exceed the limit of 1,000,000 bytes"):
        history.check_out(commit, tmp_path / "copy")
    assert len(list((tmp_path / "copy").iterdir())) == 10
    monkeypatch.setattr(restore, "_SPARE_BYTES", 1 << 60)
    monkeypatch.setattr(restore, "_SPARE_SHARE", 1)  # all of the disk
    with pytest.raises(RecordError, match="no room"):
        history.check_out(commit, tmp_path / "other")
    assert list((tmp_path / "other").iterdir()) == []


def segment(frame: bytes, identity: bytes, *, offset: int = 0, length: int | None = None, size: int = 1) -> bytes:
    record = struct.pack("<32sQQQ", identity, offset, len(frame) if length is None else length, size)
    return frame + record + struct.pack("<QQ8s", len(frame), 1, b"podium01")


def test_a_frame_that_expands_without_end_is_read_up_to_its_size(history: History) -> None:
    history.put(b"")
    bomb = zstandard.ZstdCompressor(level=19).compress(bytes(1 << 30))
    identity = hashlib.sha256(b"x").digest()
    (history.folder / "segments" / "00000007-0000000000000000.seg").write_bytes(segment(bomb, identity, size=1))
    with pytest.raises(RecordError, match="missing or damaged"):
        history.get(identity.hex())
    (history.folder / "segments" / "00000008-0000000000000000.seg").write_bytes(segment(bomb, b"\1" * 32, size=1 << 62))
    with pytest.raises(RecordError, match="bytes"):
        history.get("01" * 32)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"podium01",
        struct.pack("<QQ8s", 0, 1 << 60, b"podium01"),
        struct.pack("<QQ8s", 1 << 60, 0, b"podium01"),
        segment(b"x", b"\1" * 32, offset=0, length=1 << 50),
        segment(b"x", b"\1" * 32, offset=(1 << 64) - 1, length=2),
        segment(b"not zstandard", b"\1" * 32),
        segment(zstandard.compress(b"other"), b"\1" * 32, size=5),
        segment(zstandard.compress(b"other"), b"\1" * 32, size=0),
    ],
)
def test_damaged_segments_hold_nothing(history: History, content: bytes) -> None:
    good = history.put(b"good")
    (history.folder / "segments" / "00000009-0000000000000000.seg").write_bytes(content)
    with pytest.raises(RecordError, match="missing or damaged"):
        history.get("01" * 32)
    assert history.get(good) == b"good"
    history.close()
    with History(history.folder, history.workspace) as again:
        assert again.get(again.put(b"more")) == b"more"


SEGMENT = "segments/00000001-0000000000000000.seg"


def test_more_blobs_than_fit_into_memory_are_refused(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        history.put(b"%d" % number)
    monkeypatch.setattr(blob_reader, "MAX_BLOBS", 4)
    with pytest.raises(RecordError, match="more than 4 blobs"):
        history.get("01" * 32)


def link(name: str) -> Callable[[Path, Path], None]:
    """Put a link in the place of a part of the store."""

    def put(store: Path, outside: Path) -> None:
        path = store / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.symlink_to(outside if name in ("segments", "hooks") else outside / "file")

    return put


def pipe(name: str) -> Callable[[Path, Path], None]:
    def put(store: Path, outside: Path) -> None:
        (store / name).unlink(missing_ok=True)
        os.mkfifo(store / name)

    return put


def write(name: str) -> Callable[[Path, Path], None]:
    def put(store: Path, outside: Path) -> None:
        (store / name).write_bytes(b"")

    return put


@pytest.mark.parametrize(
    "attack",
    [
        *(link(name) for name in ("segments", "lock", SEGMENT, "hooks")),
        *(pipe(name) for name in ("lock", SEGMENT)),
        *(write(name) for name in ("config", "segments/pack", "segments/00000001")),
    ],
)
def test_writing_into_a_history_with_foreign_files_is_refused(
    history: History, outside: Path, attack: Callable[[Path, Path], None]
) -> None:
    history.snapshot("", None, time_s=0)
    history.close()
    before = describe(outside)
    attack(history.folder, outside)
    for change in (
        History.compact,
        lambda opened: opened.put(b"x"),
        lambda opened: opened.snapshot("", None, time_s=1),
    ):
        with History(history.folder, history.workspace) as opened, pytest.raises((RecordError, OSError)):
            change(opened)
    assert describe(outside) == before


@pytest.mark.parametrize("attack", [link("head"), pipe("head")])
def test_a_head_that_is_no_file_is_not_written(
    history: History, outside: Path, attack: Callable[[Path, Path], None]
) -> None:
    history.snapshot("", None, time_s=0)
    history.close()
    before = describe(outside)
    attack(history.folder, outside)
    with History(history.folder, history.workspace) as opened:
        assert opened.head() is None
        with pytest.raises((RecordError, OSError)):
            opened.snapshot("", None, time_s=1)
    assert describe(outside) == before


def test_a_history_behind_a_link_is_not_opened(history: History, tmp_path: Path) -> None:
    commit = history.snapshot("", None, time_s=0)
    history.close()
    (tmp_path / "link").symlink_to(history.folder)
    reading = History(tmp_path / "link", history.workspace)
    with pytest.raises(RecordError, match="missing"):
        reading.files(commit)
    with pytest.raises(RecordError, match="cannot be opened"):
        reading.put(b"x")


def test_leftovers_of_a_killed_writer_are_removed(history: History) -> None:
    history.put(b"")
    history.close()
    leftover = history.folder / "segments" / "tmp_1_1"
    leftover.write_bytes(b"half")
    with History(history.folder, history.workspace) as again:
        again.put(b"x")
    assert not leftover.exists()


def test_names_that_are_not_utf_8_survive_in_records(history: History, tmp_path: Path) -> None:
    os.mkfifo(os.fsencode(history.workspace) + b"/\xff")
    (history.workspace / os.fsdecode(b"\xfe")).write_bytes(bytes(20 << 20))
    commit = history.snapshot("", None, time_s=0)
    assert [os.fsencode(note.path) for note in history.record(commit).left_out] == [b"\xff"]
    assert [os.fsencode(note.path) for note in history.record(commit).large] == [b"\xfe"]
    assert history.check(commit) == []
    assert history.restore(commit).left_alone == (os.fsdecode(b"\xff"),)
    assert json.loads(history.record(commit).encode())["unlisted"] == 0
