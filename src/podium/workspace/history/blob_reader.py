"""Reader of a blob store: finds blobs by their id and checks their hash, in bounded memory."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

import zstandard

from podium.errors import RecordError
from podium.safefs.open_nofollow import open_folder, open_regular_at
from podium.workspace.history.segments import CHUNK_BYTES, MAX_BLOBS, SEGMENT_NAME, SEGMENTS, BlobLocation, read_index

MAX_BLOB_BYTES = 1 << 28
"""Largest blob that is read into memory."""
_MAX_WINDOW_BYTES = 1 << 27
_MAX_OPEN_FILES = 64


class BlobReader:
    """Reader of a store; also sees segments that a writer adds meanwhile."""

    def __init__(self, folder: Path, *, top: Path | None = None) -> None:
        """
        Args:
            top: folder below which no symbolic link is followed; by default the parent of the store.
        """
        self._path, self._top = folder, top or folder.parent
        self._folder: int | None = None
        self._files: dict[str, int] = {}
        self._indexed: set[str] = set()
        self._locations: dict[bytes, BlobLocation] = {}
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES)

    def __enter__(self) -> BlobReader:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in [*self._files.values(), *([] if self._folder is None else [self._folder])]:
            os.close(descriptor)
        self._files.clear()
        self._folder = None

    def read(self, identity: str, *, limit_bytes: int = MAX_BLOB_BYTES) -> bytes:
        """Return a blob.

        Raises:
            RecordError: it is missing, damaged or too large.
        """
        size_bytes = self.size(identity)
        if size_bytes > limit_bytes:
            raise RecordError(
                f"Blob {identity} of {self._path} has {size_bytes:,} bytes; the limit is {limit_bytes:,}."
            )
        pieces: list[bytes] = []
        self.stream(identity, pieces.append)
        return b"".join(pieces)

    def stream(self, identity: str, sink: Callable[[bytes], object]) -> None:
        """Pass a blob to a function in chunks, and check its hash at the end.

        Raises:
            RecordError: it is missing or damaged.
        """
        for piece in self.pieces(identity):
            sink(piece)

    def pieces(self, identity: str) -> Iterator[bytes]:
        """Yield a blob in chunks, and check its hash at the end.

        Raises:
            RecordError: it is missing or damaged.
        """
        location = self._locate(identity)
        digest, left = hashlib.sha256(), location.size_bytes
        try:
            with self._open_frame(location) as frame:
                while piece := frame.read(min(CHUNK_BYTES, left + 1)):
                    left -= len(piece)
                    if left < 0:
                        break
                    digest.update(piece)
                    yield piece
        except (zstandard.ZstdError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise self._missing(identity) from error
        if left or digest.hexdigest() != identity:
            raise self._missing(identity)

    def size(self, identity: str) -> int:
        """Return the size of a blob as the index has it; `stream` checks it."""
        return self._locate(identity).size_bytes

    def segments(self) -> Iterator[tuple[str, list[tuple[bytes, BlobLocation]]]]:
        """Yield the name and the index of every intact segment."""
        self._index_new()
        for name in sorted(self._indexed):
            with contextlib.suppress(OSError, RecordError):
                yield name, list(read_index(self._file(name), name))

    def frame(self, location: BlobLocation) -> bytes:
        """Return a blob as it is stored, compressed."""
        return os.pread(self._file(location.segment), location.length, location.offset)

    def _open_frame(self, location: BlobLocation) -> zstandard.ZstdDecompressionReader:
        source = _Slice(self._file(location.segment), location.offset, location.length)
        return self._decompressor.stream_reader(
            cast("IO[bytes]", source), read_size=min(CHUNK_BYTES, location.length + 1)
        )

    def _locate(self, identity: str) -> BlobLocation:
        name = bytes.fromhex(check_id(identity))
        if name not in self._locations:
            self._index_new()
        try:
            return self._locations[name]
        except KeyError:
            raise self._missing(identity) from None

    def _index_new(self) -> None:
        """Read the indexes of segments that were not there before."""
        try:
            if self._folder is None:
                self._folder = open_folder(self._path / SEGMENTS, top=self._top)
            names = os.listdir(self._folder)  # noqa: PTH208 an open folder has no path
        except OSError:
            return
        for name in sorted(names):
            if SEGMENT_NAME.fullmatch(name) and name not in self._indexed:
                self._indexed.add(name)
                with contextlib.suppress(OSError, RecordError):
                    for identity, location in read_index(self._file(name), name):
                        self._locations.setdefault(identity, location)
                if len(self._locations) > MAX_BLOBS:
                    raise RecordError(f"{self._path} holds more than {MAX_BLOBS:,} blobs; no more are read.")

    def _file(self, segment: str) -> int:
        if segment not in self._files:
            assert self._folder is not None
            if len(self._files) >= _MAX_OPEN_FILES:
                os.close(self._files.pop(next(iter(self._files))))
            self._files[segment] = open_regular_at(self._folder, segment)
        return self._files[segment]

    def _missing(self, identity: str) -> RecordError:
        return RecordError(f"Blob {identity} of {self._path} is missing or damaged.")


class _Slice(io.RawIOBase):
    """Part of a file."""

    def __init__(self, descriptor: int, offset: int, length: int) -> None:
        super().__init__()
        self._descriptor, self._at, self._end = descriptor, offset, offset + length

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, or none at the end."""
        data = os.pread(self._descriptor, min(size, self._end - self._at), self._at)
        self._at += len(data)
        return data


def check_id(identity: str) -> str:
    """Return the id of a blob if it is well-formed.

    Raises:
        RecordError: it is not.
    """
    if not re.fullmatch(r"[0-9a-f]{64}", identity):
        raise RecordError(f"{identity!r:.100} is not the id of a snapshot: 64 hexadecimal digits are expected.")
    return identity
