"""Reader of git packs (version 2, SHA-256): locates objects and resolves their deltas.

A pack may be hostile: every size is checked before memory is allocated for it.
"""

from __future__ import annotations

import bisect
import itertools
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podium.errors import RecordError
from podium.safefs.open_nofollow import open_regular_at
from podium.workspace.history.git.git_objects import BLOB, COMMIT, ID_BYTES, TREE, check_index

CHUNK_BYTES = 1 << 16
_START_BYTES = 1 << 12
_INDEX_BYTES = 1 << 30
_DIFFERENCE_BYTES = 1 << 25
"""`Store.compact` has git store as differences only what is much smaller."""
_KEPT_BYTES = 1 << 26
_MAX_CHAIN = 256
"""Git's default chain length is 50."""
_KINDS = {1: COMMIT, 2: TREE, 3: BLOB}
_OFFSET_DIFFERENCE, _NAMED_DIFFERENCE = 6, 7
_IDS = 8 + 256 * 4


class Content(NamedTuple):
    """An object on its way out of the repository; its size is what it claims to have."""

    kind: bytes
    size_bytes: int
    pieces: Iterator[bytes]


class _Item(NamedTuple):
    """The head of an object in a pack."""

    type: int
    size_bytes: int
    data: int
    """Offset of its compressed data."""
    start: bytes
    """Beginning of that data, read together with the head."""
    base: int | None
    """Offset of the base object of a delta."""


class Pack:
    """One pack: its index is in memory, its data is read from disk."""

    def __init__(self, folder: int, name: str) -> None:
        """
        Args:
            folder: the descriptor of its folder.
            name: without its ending.

        Raises:
            OSError: there is no such pack.
            RecordError: its index is malformed.
        """
        self.name = name
        with os.fdopen(open_regular_at(folder, f"{name}.idx"), "rb") as file:
            self._index = file.read(_INDEX_BYTES)
        self._count = check_index(self._index)
        self._descriptor = -1
        self._kept: dict[int, tuple[bytes, bytes]] = {}
        self._kept_bytes = 0

    def open(self, folder: int) -> None:
        """Open the pack's data for reading until `close`."""
        self._descriptor = open_regular_at(folder, f"{self.name}.pack")

    def close(self) -> None:
        os.close(self._descriptor)
        self._kept.clear()
        self._kept_bytes = 0

    def find(self, identity: bytes) -> int | None:
        """Return the offset of an object in the pack, or None."""
        first = struct.unpack_from(">I", self._index, 8 + 4 * (identity[0] - 1))[0] if identity[0] else 0
        (end,) = struct.unpack_from(">I", self._index, 8 + 4 * identity[0])
        numbers = range(min(first, self._count), min(end, self._count))
        place = bisect.bisect_left(numbers, identity, key=self._id)
        if place == len(numbers) or self._id(numbers[place]) != identity:
            return None
        return self._offset(numbers[place])

    def size(self, offset: int) -> int:
        """Return the claimed size of the object at an offset."""
        item = self._item(offset)
        if item.base is None:
            return item.size_bytes
        start = b"".join(self._inflate(item, min(item.size_bytes, 64)))
        _, position = _varint(start, 0)
        return _varint(start, position)[0]

    def read(self, offset: int) -> Content:
        """Return the object at an offset."""
        item = self._item(offset)
        if item.base is None:
            return Content(_KINDS[item.type], item.size_bytes, self._inflate(item, item.size_bytes))
        kind, data = self._applied(offset)
        return Content(kind, len(data), iter((data,)))

    def _applied(self, offset: int) -> tuple[bytes, bytes]:
        """Return the kind and content of an object after applying its deltas."""
        chain: list[tuple[int, _Item]] = []
        while offset not in self._kept:
            item = self._item(offset)
            if item.base is None:
                self._keep(offset, _KINDS[item.type], self._whole(item))
                break
            chain.append((offset, item))
            if len(chain) > _MAX_CHAIN:
                raise RecordError("A pack of the history holds an endless chain of differences.")
            offset = item.base
        kind, data = self._kept[offset]
        for place, item in reversed(chain):
            data = _apply(data, self._whole(item))
            self._keep(place, kind, data)
        return kind, data

    def _keep(self, offset: int, kind: bytes, data: bytes) -> None:
        """Cache an object, since others are deltas from it."""
        self._kept_bytes += len(data)
        if self._kept_bytes > _KEPT_BYTES:
            self._kept.clear()
            self._kept_bytes = len(data)
        self._kept[offset] = kind, data

    def _whole(self, item: _Item) -> bytes:
        if item.size_bytes > _DIFFERENCE_BYTES:
            raise RecordError("A pack of the history holds a difference that Podium would not make: it is too large.")
        data = b"".join(self._inflate(item, item.size_bytes))
        if len(data) != item.size_bytes:
            raise RecordError("A pack of the history is damaged.")
        return data

    def _item(self, offset: int) -> _Item:
        head = os.pread(self._descriptor, _START_BYTES, offset)
        if not head:
            raise RecordError("A pack of the history is shorter than its index says.")
        kind, (size, position) = head[0] >> 4 & 7, _item_size(head)
        base = None
        if kind == _OFFSET_DIFFERENCE:
            distance, position = _distance(head, position)
            base = offset - distance
            if not 0 < distance <= offset:
                raise RecordError("A pack of the history is malformed: a difference from nothing.")
        elif kind == _NAMED_DIFFERENCE:
            name = head[position : position + ID_BYTES]
            base = self.find(name) if len(name) == ID_BYTES else None
            position += ID_BYTES
            if base is None:
                raise RecordError("A pack of the history is malformed: a difference from an object it does not hold.")
        elif kind not in _KINDS:
            raise RecordError("A pack of the history holds something else than files, folders and snapshots.")
        return _Item(kind, size, offset + position, head[position:], base)

    def _inflate(self, item: _Item, size_bytes: int) -> Iterator[bytes]:
        """Return the first bytes of an object's uncompressed data."""
        offsets = itertools.count(item.data + len(item.start), CHUNK_BYTES)
        chunks = (os.pread(self._descriptor, CHUNK_BYTES, offset) for offset in offsets)
        return inflate(itertools.chain((item.start,), itertools.takewhile(bool, chunks)), size_bytes)

    def _id(self, number: int) -> bytes:
        return self._index[_IDS + number * ID_BYTES : _IDS + (number + 1) * ID_BYTES]

    def _offset(self, number: int) -> int:
        small = _IDS + self._count * (ID_BYTES + 4)
        (offset,) = struct.unpack_from(">I", self._index, small + 4 * number)
        if offset < 1 << 31:
            return int(offset)
        try:
            large = small + 4 * self._count + 8 * (offset - (1 << 31))
            return int(struct.unpack_from(">Q", self._index, large)[0]) & (1 << 62) - 1
        except struct.error as error:
            raise RecordError("The index of a pack of the history is malformed.") from error


def inflate(chunks: Iterable[bytes], size_bytes: int) -> Iterator[bytes]:
    """Yield the first bytes of compressed data in pieces; fewer if it ends early or is damaged."""
    packed = zlib.decompressobj()
    for chunk in chunks:
        pending = chunk
        while pending and size_bytes and not packed.eof:
            try:
                piece = packed.decompress(pending, min(size_bytes, 16 * CHUNK_BYTES))
            except zlib.error:
                return
            pending = packed.unconsumed_tail
            size_bytes -= len(piece)
            yield piece
        if not size_bytes or packed.eof:
            return


def _item_size(head: bytes) -> tuple[int, int]:
    """Return the size in an object's head, and the position after it."""
    size, shift, position = head[0] & 0x0F, 4, 1
    while head[position - 1] & 0x80:
        if position == len(head) or shift > 60:
            raise RecordError("A pack of the history is malformed.")
        size |= (head[position] & 0x7F) << shift
        shift, position = shift + 7, position + 1
    return size, position


def _distance(head: bytes, position: int) -> tuple[int, int]:
    """Return the distance from a delta back to its base, and the position after it."""
    distance = -1
    for end, byte in enumerate(head[position : position + 9], position + 1):
        distance = (distance + 1) << 7 | byte & 0x7F
        if not byte & 0x80:
            return distance, end
    raise RecordError("A pack of the history is malformed.")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for count, byte in enumerate(data[position : position + 9]):
        value |= (byte & 0x7F) << 7 * count
        if not byte & 0x80:
            return value, position + count + 1
    raise RecordError("A pack of the history is malformed.")


def _apply(base: bytes, difference: bytes) -> bytes:
    """Return the object that results from applying a delta to another: copied and new pieces."""
    expected, position = _varint(difference, 0)
    size, position = _varint(difference, position)
    if expected != len(base) or size > _DIFFERENCE_BYTES:
        raise RecordError("A pack of the history is malformed: a difference from something else.")
    made = bytearray()
    while position < len(difference) and len(made) < size:
        code = difference[position]
        if code & 0x80:
            start, length, position = _copied(difference, position)
            piece = base[start : start + length]
        else:
            piece = difference[position + 1 : position + 1 + code]
            position += 1 + code
        if not piece:
            break
        made += piece
    if len(made) != size or position != len(difference):
        raise RecordError("A pack of the history is malformed: a difference that does not fit.")
    return bytes(made)


def _copied(difference: bytes, position: int) -> tuple[int, int, int]:
    """Return the offset and size of a copy instruction, and the position after it; zero bytes are omitted."""
    code = difference[position]
    numbers = [0] * 7
    for bit in range(7):
        if code & 1 << bit:
            position += 1
            numbers[bit] = difference[position] if position < len(difference) else 0
    start, length = int.from_bytes(bytes(numbers[:4]), "little"), int.from_bytes(bytes(numbers[4:]), "little")
    return start, length or 0x10000, position + 1
