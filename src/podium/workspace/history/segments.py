"""Segments: files that hold the blobs of one write.

A segment is a row of zstandard frames, followed by an index and a footer. It is written aside and renamed, and never
changes afterwards, so a kill leaves either the whole segment or a temporary file. Sizes and offsets in the index of a
stranger's segment are untrusted.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from podium.errors import RecordError
from podium.safefs.locks import write_all

SEGMENTS = "segments"
"""Folder of a store's segments."""
SEGMENT_NAME = re.compile(r"(\d{8})-[0-9a-f]{16}\.seg")
"""A number, and the start of the hash of the index: two writers that took one number do not clash."""
CHUNK_BYTES = 1 << 20
MAX_BLOBS = 2_000_000
"""Largest number of blobs that a history is read with: their locations are held in memory."""
_RECORD = struct.Struct("<32sQQQ")
_FOOTER = struct.Struct("<QQ8s")
_MAGIC = b"podium01"


class BlobLocation(NamedTuple):
    """Position of a blob in a segment."""

    segment: str
    offset: int
    length: int
    """Compressed size."""
    size_bytes: int


class SegmentWriter:
    """A segment that is being written."""

    def __init__(self, descriptor: int, name: str) -> None:
        self._descriptor, self.name, self.length = descriptor, name, 0
        self.digest = ""
        """Start of the hash of the index."""
        self._buffer: list[bytes] = []
        self._buffered = 0

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._buffer.append(data)
        self._buffered += len(data)
        self.length += len(data)
        if self._buffered > CHUNK_BYTES:
            self._write_out()

    def finish(self, blobs: list[tuple[bytes, int, int]]) -> None:
        """Append the index and the footer.

        Args:
            blobs: id, size and compressed size of each blob, in their order in the segment.
        """
        starts = itertools.accumulate((length for _, _, length in blobs), initial=0)
        records = [_RECORD.pack(identity, at, length, size) for at, (identity, size, length) in zip(starts, blobs)]  # noqa: B905
        offset, index = self.length, b"".join(records)
        self.digest = hashlib.sha256(index).hexdigest()[:16]
        self.write(index)
        self.write(_FOOTER.pack(offset, len(records), _MAGIC))
        self._write_out()

    def _write_out(self) -> None:
        write_all(self._descriptor, b"".join(self._buffer))
        self._buffer, self._buffered = [], 0


def read_index(descriptor: int, segment: str) -> Iterator[tuple[bytes, BlobLocation]]:
    """Yield the ids and locations of a segment's blobs.

    Raises:
        RecordError: the segment is damaged.
    """
    end = os.fstat(descriptor).st_size - _FOOTER.size
    footer = os.pread(descriptor, _FOOTER.size, max(end, 0))
    offset, count, magic = _FOOTER.unpack(footer) if len(footer) == _FOOTER.size else (0, 0, b"")
    size_bytes = count * _RECORD.size
    if magic != _MAGIC or count > MAX_BLOBS or offset + size_bytes != end:
        raise RecordError(f"Segment {segment} of a history is damaged.")
    records = os.pread(descriptor, size_bytes, offset)
    for identity, start, length, size in _RECORD.iter_unpack(records[: len(records) - len(records) % _RECORD.size]):
        if start + length > offset:
            raise RecordError(f"Segment {segment} of a history is damaged.")
        yield identity, BlobLocation(segment, start, length, size)
