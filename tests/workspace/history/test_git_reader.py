"""Objects are read as git stores them, however they are packed, and nothing that only claims to be one is believed."""

from __future__ import annotations

import hashlib
import os
import random
import struct
import subprocess
import zlib
from pathlib import Path

import pytest
from folders import make

from podium.errors import RecordError
from podium.workspace.history.git import git_objects, git_reader
from podium.workspace.history.git.git_reader import Reader
from podium.workspace.history.history import History


def git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", f"--git-dir={repository}", *arguments], check=True, capture_output=True).stdout


def all_objects(repository: Path) -> dict[str, tuple[bytes, int]]:
    """Return the kind and size of every object, as reported by git."""
    lines = git(repository, "cat-file", "--batch-all-objects", "--batch-check").split(b"\n")[:-1]
    return {name.decode(): (kind, int(size)) for name, kind, size in (line.split() for line in lines)}


def write_versions(history: History, count: int = 60) -> None:
    """Snapshots of files that change a little each time, so that git stores them as differences."""
    dice = random.Random(0)
    text = bytearray(dice.randbytes(120_000))
    commit = None
    for number in range(count):
        text[dice.randrange(len(text))] = number
        make(history.workspace, {b"model.bin": bytes(text), b"folder": {b"%d" % n: b"%d" % n for n in range(number)}})
        (history.workspace / "notes.txt").write_text("\n".join(map(str, range(number * 20))), encoding="utf-8")
        commit = history.snapshot(str(number), commit, time_s=number)


@pytest.mark.parametrize("repack", [(), ("repack", "-adfq", "--depth=50"), ("repack", "-adq", "--max-pack-size=1m")])
def test_every_object_is_read_as_by_git(history: History, repack: tuple[str, ...]) -> None:
    write_versions(history)
    if repack:
        git(history.repository, *repack)
    else:
        history.compact()
    expected = all_objects(history.repository)
    assert len(expected) > 200
    with Reader(history.repository) as opened:
        for name, (kind, size) in expected.items():
            assert opened.size(name) == size
            assert len(opened.read(name, kind)) == size  # and its content hashes to its name
    kept = git(history.repository, "verify-pack", "-v", *map(str, (history.repository / "objects/pack").glob("*.idx")))
    assert b"chain length = 5" in kept, "some objects are differences of differences"


def test_deltas_from_named_objects_are_read(history: History) -> None:
    write_versions(history, 10)
    expected = all_objects(history.repository)
    names = "\n".join(expected)
    command = ["git", f"--git-dir={history.repository}", "pack-objects", "--no-reuse-delta", "--stdout", "-q"]
    packed = subprocess.run(command, input=names.encode(), check=True, capture_output=True).stdout
    for folder in (history.repository / "objects").iterdir():
        if len(folder.name) == 2:
            for file in folder.iterdir():
                file.unlink()
    index = ["git", f"--git-dir={history.repository}", "index-pack", "--stdin"]
    subprocess.run(index, input=packed, check=True, capture_output=True)
    assert any(data >> 4 & 7 == 7 for data in packed), "a difference that names its base"
    with Reader(history.repository) as opened:
        for name, (kind, size) in expected.items():
            assert len(opened.read(name, kind)) == size


def test_objects_packed_during_reading_are_found(history: History) -> None:
    write_versions(history, 5)
    names = list(all_objects(history.repository))
    with Reader(history.repository) as opened:
        opened.size(names[0])
        history.compact()
        for name in names:
            assert opened.size(name) >= 0


def test_many_packs_are_read_with_few_descriptors(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_reader, "_OPEN_PACKS", 2)
    commit = None
    for number in range(6):
        make(history.workspace, {b"%d" % n: b"%d %d" % (n, number) for n in range(60)})
        commit = history.snapshot("", commit, time_s=number)
    assert len(list((history.repository / "objects/pack").glob("*.pack"))) == 6
    assert commit is not None and history.check(commit) == []


def loose_path(history: History, name: str) -> Path:
    return history.repository / "objects" / name[:2] / name[2:]


def put_loose(history: History, data: bytes, packed: bytes) -> str:
    """Create a file with the name of an object and arbitrary content."""
    name = git_objects.object_id(git_objects.BLOB, data).hex()
    path = loose_path(history, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed)
    return name


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"not compressed",
        zlib.compress(b"blob 4\0abc"),
        zlib.compress(b"blob 3\0abd"),
        zlib.compress(b"tree 3\0abc"),
        zlib.compress(b"blob 03\0abc"),
        zlib.compress(b"blob -3\0abc"),
        zlib.compress(b"blob 99999999999999999999\0abc"),
        zlib.compress(b"blob 3\0abc")[:-8],
        zlib.compress(b"a" * 100),
    ],
)
def test_a_file_that_is_an_object_in_name_only_is_rejected(history: History, packed: bytes) -> None:
    history.put(b"")
    name = put_loose(history, b"abc", packed)
    with pytest.raises(RecordError):
        history.get(name)


def test_a_decompression_bomb_is_not_unpacked(history: History) -> None:
    history.put(b"")
    packer = zlib.compressobj(9)
    packed = packer.compress(b"blob %d\0" % (1 << 40)) + b"".join(packer.compress(bytes(1 << 20)) for _ in range(64))
    name = put_loose(history, b"bomb", packed + packer.flush())
    with pytest.raises(RecordError, match="at most"):
        history.get(name)


def test_links_pipes_and_folders_in_place_of_objects_count_as_missing(history: History, tmp_path: Path) -> None:
    identity = history.put(b"abc")
    path, outside = loose_path(history, identity), tmp_path / "outside"
    path.rename(outside)
    for put in (lambda: path.symlink_to(outside), lambda: os.mkfifo(path), path.mkdir):
        put()
        with pytest.raises(RecordError, match="missing"):
            history.get(identity)
        path.rmdir() if path.is_dir() else path.unlink()
    path.parent.rmdir()
    (tmp_path / "folder").mkdir()
    outside.rename(tmp_path / "folder" / path.name)
    path.parent.symlink_to(tmp_path / "folder")
    with pytest.raises(RecordError, match="missing"):
        history.get(identity)


def make_pack(history: History, entries: list[tuple[bytes, bytes]]) -> None:
    """A pack with these entries, each under the name it is given."""
    body = b"PACK" + struct.pack(">II", 2, len(entries))
    placed = []
    for name, entry in entries:
        placed.append((name, zlib.crc32(entry), len(body)))
        body += entry
    checksum = hashlib.sha256(body).digest()
    folder = history.repository / "objects" / "pack"
    (folder / f"pack-{checksum.hex()}.pack").write_bytes(body + checksum)
    (folder / f"pack-{checksum.hex()}.idx").write_bytes(git_objects._encode_index(sorted(placed), checksum))


def entry_of(kind: int, size: int, rest: bytes) -> bytes:
    """An entry of a pack, its size in one to nine bytes."""
    head = bytearray([kind << 4 | size & 15])
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head) + rest


ONE, TWO = bytes([1]) * 32, bytes([2]) * 32
BLOB = zlib.compress(b"abc")


@pytest.mark.parametrize(
    "entry",
    [
        entry_of(3, 3, BLOB),  # not what its name promises
        entry_of(3, 1 << 60, BLOB),
        entry_of(4, 3, BLOB),  # a tag
        entry_of(0, 3, BLOB),
        entry_of(6, 3, b"\x00" + BLOB),  # a difference from itself
        entry_of(6, 3, b"\xff\xff\xff\xff\x7f" + BLOB),  # from before the pack
        entry_of(7, 3, ONE + BLOB),  # from itself by name
        entry_of(7, 3, TWO + BLOB),  # from what is not there
        entry_of(6, 1 << 40, b"\x01" + BLOB),
        b"\xff" * 60,
        b"",
    ],
)
def test_malformed_packs_are_errors(history: History, entry: bytes) -> None:
    history.put(b"")
    make_pack(history, [(ONE, entry)])
    with pytest.raises(RecordError):
        history.get(ONE.hex())


@pytest.mark.parametrize(
    "difference",
    [
        b"",
        b"\x03",
        b"\x03\x05\x05ab",  # new bytes that are not there
        b"\x03\x03\x00",  # the code that means nothing
        b"\x04\x03\x90\x03",  # from something longer
        b"\x03\x09\x91\x02\x09",  # copies beyond the end
        b"\x03\x03\x90\x03\x90\x03",  # more than it says
        b"\x03\x03\xff",
        b"\x03" + b"\xff" * 8 + b"\x01" + b"\x90\x03" * 100,
    ],
)
def test_deltas_that_do_not_fit_are_errors(history: History, difference: bytes) -> None:
    history.put(b"")
    base = entry_of(3, 3, BLOB)
    change = entry_of(6, len(difference), bytes([len(base)]) + zlib.compress(difference))
    make_pack(history, [(TWO, base), (ONE, change)])
    with pytest.raises(RecordError):
        history.get(ONE.hex())


def test_a_delta_truncated_before_its_base_is_an_error(history: History) -> None:
    history.put(b"")
    make_pack(history, [(ONE, entry_of(7, 3, b""))])
    [pack] = (history.repository / "objects" / "pack").glob("*.pack")
    os.truncate(pack, pack.stat().st_size - 32)  # its checksum
    with pytest.raises(RecordError, match="a difference from an object"):
        history.get(ONE.hex())


def test_a_broken_index_is_an_error(history: History) -> None:
    history.put(b"")
    folder = history.repository / "objects" / "pack"
    for index in (b"", b"x" * 2000, b"\xfftOc\0\0\0\2" + b"\xff" * 1024 + b"\0" * 200):
        (folder / f"pack-{'0' * 64}.pack").write_bytes(b"PACK")
        (folder / f"pack-{'0' * 64}.idx").write_bytes(index)
        with pytest.raises(RecordError):
            history.get(ONE.hex())
