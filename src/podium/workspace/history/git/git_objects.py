"""Git's object formats as bytes: names, loose objects, trees, commits, packs and their indexes.

Objects are named by SHA-256 (git's `objectformat = sha256`): a journal line that names a snapshot then pins its content
against a program that can make SHA-1 collide, and hashing costs the same.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from podium.errors import RecordError

ID_BYTES = 32
BLOB, TREE, COMMIT = b"blob", b"tree", b"commit"
FILE, EXECUTABLE, LINK, FOLDER = b"100644", b"100755", b"120000", b"40000"
MAX_NAME_BYTES = 255
"""Maximum length of a file name in bytes."""

_PACK_TYPES = {COMMIT: 1, TREE: 2, BLOB: 3}
_SAMPLE_BYTES = 32 * 1024
_FANOUT_END = 8 + 256 * 4


class TreeEntry(NamedTuple):
    """One name in a tree object."""

    mode: bytes
    name: bytes
    id: bytes


class Packable(NamedTuple):
    """An object on its way into the repository."""

    id: bytes
    kind: bytes
    size_bytes: int
    data: bytes


def header(kind: bytes, size_bytes: int) -> bytes:
    """Return the header that git puts before an object's content."""
    return b"%s %d\0" % (kind, size_bytes)


def object_id(kind: bytes, data: bytes) -> bytes:
    """Return the id of an object."""
    digest = hashlib.sha256(header(kind, len(data)))
    digest.update(data)
    return digest.digest()


EMPTY_TREE = object_id(TREE, b"")


def level_for(data: bytes) -> int:
    """Return the zlib level for some data: 0 if a sample does not compress, as with model weights."""
    sample = data[:_SAMPLE_BYTES]
    if len(data) > _SAMPLE_BYTES and len(zlib.compress(sample, 1)) > 0.9 * len(sample):
        return 0
    return 1


def encode_loose(item: Packable) -> bytes:
    """Return the content of a loose object file."""
    # Names of objects make up most of a tree and do not shrink; `History.compact` stores trees as differences anyway.
    level = 0 if item.kind == TREE else level_for(item.data)
    packer = zlib.compressobj(level)
    return packer.compress(header(item.kind, item.size_bytes)) + packer.compress(item.data) + packer.flush()


def tree_key(name: bytes, mode: bytes) -> bytes:
    """Return the key by which git sorts tree entries."""
    return name + b"/" if mode == FOLDER else name


def tree_line(mode: bytes, name: bytes, identity: bytes) -> bytes:
    """Return the encoded entry of a tree object."""
    return b"%s %s\0%s" % (mode, name, identity)


def encode_tree(entries: Iterable[TreeEntry]) -> bytes:
    """Return the content of a tree object."""
    ordered = sorted(entries, key=lambda entry: tree_key(entry.name, entry.mode))
    return b"".join(tree_line(*entry) for entry in ordered)


def decode_tree(data: bytes) -> list[TreeEntry]:
    """Return the entries of a tree object.

    Raises:
        RecordError: the tree is malformed, or holds a name that would lead out of its folder.
    """
    entries: list[TreeEntry] = []
    seen: set[bytes] = set()
    position = 0
    while position < len(data):
        end = data.find(b"\0", position)
        mode, space, name = data[position:end].partition(b" ")
        position = end + 1 + ID_BYTES
        if end < 0 or position > len(data) or not space or mode not in (FILE, EXECUTABLE, LINK, FOLDER):
            raise RecordError("A tree of the history is malformed.")
        if name in (b"", b".", b"..") or b"/" in name or name in seen or len(name) > MAX_NAME_BYTES:
            raise RecordError(f"A tree of the history holds the impossible name {name[:MAX_NAME_BYTES]!r}.")
        seen.add(name)
        entries.append(TreeEntry(mode, name, data[end + 1 : position]))
    return entries


def encode_commit(tree: bytes, parents: Sequence[str], *, message: str, time_s: int) -> bytes:
    """Return the content of a commit object."""
    who = f"Podium <podium@localhost> {time_s} +0000"
    lines = [f"tree {tree.hex()}", *(f"parent {parent}" for parent in parents), f"author {who}", f"committer {who}"]
    text = "\n".join(lines) + "\n\n" + message.replace("\0", "�").rstrip("\n") + "\n"
    return text.encode("utf-8", "backslashreplace")


class Commit(NamedTuple):
    """A snapshot as git stores it."""

    tree: str
    parents: tuple[str, ...]


def decode_commit(data: bytes) -> Commit:
    """Return the parts of a commit object used here."""
    head = data.partition(b"\n\n")[0].decode("utf-8", "replace")
    lines = [line.partition(" ") for line in head.split("\n")]
    trees = [value for key, _, value in lines if key == "tree"]
    if len(trees) != 1:
        raise RecordError("A commit of the history is malformed.")
    parents = tuple(value for key, _, value in lines if key == "parent")
    return Commit(trees[0], parents)


class PackBytes(NamedTuple):
    """A pack and its index, ready to be written."""

    name: str
    content: bytes
    table: bytes


def encode_pack(items: Sequence[Packable]) -> PackBytes:
    """Return a pack (version 2) of distinct objects, with its index (version 2)."""
    pieces = [b"PACK" + struct.pack(">II", 2, len(items))]
    offset = len(pieces[0])
    placed: list[tuple[bytes, int, int]] = []
    for item in items:
        piece = _pack_header(item) + zlib.compress(item.data, level_for(item.data))
        placed.append((item.id, zlib.crc32(piece), offset))
        pieces.append(piece)
        offset += len(piece)
    body = b"".join(pieces)
    checksum = hashlib.sha256(body).digest()
    return PackBytes(checksum.hex(), body + checksum, _encode_index(sorted(placed), checksum))


def _pack_header(item: Packable) -> bytes:
    size = item.size_bytes
    byte = _PACK_TYPES[item.kind] << 4 | size & 0x0F
    size >>= 4
    encoded = bytearray()
    while size:
        encoded.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    encoded.append(byte)
    return bytes(encoded)


def _encode_index(placed: list[tuple[bytes, int, int]], pack_checksum: bytes) -> bytes:
    counts = [0] * 256
    for identity, _, _ in placed:
        counts[identity[0]] += 1
    fanout = itertools.accumulate(counts)
    body = b"".join(
        [
            b"\xfftOc" + struct.pack(">I", 2),
            struct.pack(">256I", *fanout),
            *(identity for identity, _, _ in placed),
            *(struct.pack(">I", crc) for _, crc, _ in placed),
            *(struct.pack(">I", offset) for _, _, offset in placed),
            pack_checksum,
        ]
    )
    return body + hashlib.sha256(body).digest()


def check_index(index: bytes) -> int:
    """Return the number of objects in a pack index.

    Raises:
        RecordError: it is malformed.
    """
    if index[:8] == b"\xfftOc\0\0\0\2" and len(index) >= _FANOUT_END:
        (count,) = struct.unpack(">I", index[_FANOUT_END - 4 : _FANOUT_END])
        if len(index) >= _FANOUT_END + count * (ID_BYTES + 8) + 2 * ID_BYTES:
            return int(count)
    raise RecordError("The index of a pack of the history is malformed.")


def ids_of_index(index: bytes) -> list[bytes]:
    """Return the ids of the objects in a pack index."""
    end = _FANOUT_END + check_index(index) * ID_BYTES
    return [index[start : start + ID_BYTES] for start in range(_FANOUT_END, end, ID_BYTES)]
