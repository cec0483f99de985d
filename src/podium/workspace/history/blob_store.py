"""Content-addressed store of compressed blobs: a blob's id is the SHA-256 of its content."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import zstandard

from podium.errors import RecordError
from podium.safefs.locks import take_lock
from podium.safefs.open_nofollow import open_folder, open_folder_at, open_regular_at, read_regular
from podium.workspace.history.blob_reader import BlobReader, check_id
from podium.workspace.history.segments import SEGMENT_NAME, SEGMENTS, SegmentWriter, read_index

_PENDING_BYTES = 32 << 20
"""Size of queued content from which a segment is written at once."""
_MERGED_BYTES = 4 << 20
"""Largest segment that `compact` merges with others."""
_HEAD, _LOCK = "head", "lock"
_LEFTOVER = re.compile(r"tmp_\d+_\d+")


class BlobStore:
    """Writer of a store. One process writes at a time; blobs are visible once their segment is complete."""

    def __init__(self, folder: Path, *, patience_s: float = 30, top: Path | None = None) -> None:
        """
        Args:
            patience_s: how long the first write waits for another writer to end.
            top: folder below which no symbolic link is followed; by default the parent of the store.
        """
        self.folder = folder
        self._top = top
        self.known: set[bytes] = set()
        """Ids of all blobs that are stored or queued; complete once writing has begun."""
        self.size_bytes = 0
        """Size of all segments."""
        self.pending_bytes = 0
        """Size of the queued content."""
        self.added_bytes = 0
        """Size of all content added by this writer, before compression."""
        self._patience_s = patience_s
        self._lock: int | None = None
        self._descriptor = -1
        self._pending: list[tuple[bytes, bytes]] = []
        self._names = itertools.count()
        self._next = 0
        self._compressor = zstandard.ZstdCompressor(level=3)

    def close(self) -> None:
        """Release the lock, so that another process can write."""
        if self._lock is not None:
            os.close(self._lock)
            os.close(self._descriptor)
            self._lock = None

    def begin_writing(self) -> None:
        """Lock the store, create its folders and remove leftovers of a killed writer.

        Raises:
            RecordError: another process writes, or the folder holds files that are not the store's.
        """
        if self._lock is not None:
            return
        with contextlib.ExitStack() as opened:
            self._descriptor = self._open()
            opened.callback(os.close, self._descriptor)
            lock = open_regular_at(self._descriptor, _LOCK, os.O_RDWR | os.O_CREAT)
            opened.callback(os.close, lock)
            take_lock(lock, self.folder / _LOCK, patience_s=self._patience_s)
            self._take_stock()
            opened.pop_all()
        self._lock = lock

    def add(self, data: bytes) -> bytes:
        """Queue a blob for the next `flush`, and return its id."""
        identity = hashlib.sha256(data).digest()
        if identity not in self.known:
            self.known.add(identity)
            self._pending.append((identity, data))
            self.pending_bytes += len(data)
            self.added_bytes += len(data)
            if self.pending_bytes > _PENDING_BYTES:
                self.flush()
        return identity

    def add_stream(self, pieces: Iterator[bytes], size_bytes: int) -> bytes | None:
        """Store a blob in a segment of its own without loading it into memory.

        Returns:
            Its id, or None if there were fewer bytes than announced.
        """
        digest, left = hashlib.sha256(), size_bytes
        with self._segment() as segment:
            frame = self._compressor.compressobj(size=size_bytes)
            for piece in pieces:
                left -= len(piece)
                digest.update(piece)
                segment.write(frame.compress(piece))
            if left:
                return None
            segment.write(frame.flush())
            segment.finish([(digest.digest(), size_bytes, segment.length)])
            self._place(segment)
        self.known.add(digest.digest())
        self.added_bytes += size_bytes
        return digest.digest()

    def flush(self) -> None:
        """Write the queued blobs as one segment; after an error none of them counts as stored."""
        if not self._pending:
            return
        queued, self._pending, self.pending_bytes = self._pending, [], 0
        try:
            with self._segment() as segment:
                index = []
                for identity, data in queued:
                    frame = self._compressor.compress(data)
                    segment.write(frame)
                    index.append((identity, len(data), len(frame)))
                segment.finish(index)
                self._place(segment)
        except BaseException:
            self.known.difference_update(identity for identity, _ in queued)
            raise

    def copy_to(self, folder: Path) -> None:
        """Copy all segments to a new store."""
        new = BlobStore(folder)
        new.begin_writing()
        new.close()
        segments = open_folder(self.folder / SEGMENTS, top=self._top or self.folder.parent)
        try:
            for name in os.listdir(segments):  # noqa: PTH208 an open folder has no path
                if SEGMENT_NAME.fullmatch(name):
                    source = os.fdopen(open_regular_at(segments, name), "rb")
                    with source, (folder / SEGMENTS / name).open("xb") as target:
                        shutil.copyfileobj(source, target)
        finally:
            os.close(segments)

    def compact(self) -> None:
        """Merge small segments into one; a kill leaves the old ones, the new one, or both."""
        self.begin_writing()
        small: list[str] = []
        with self._segment() as merged, self.reader() as blobs:
            index: list[tuple[bytes, int, int]] = []
            for name, locations in blobs.segments():
                if sum(location.length for _, location in locations) > _MERGED_BYTES:
                    continue
                small.append(name)
                for identity, location in locations:
                    merged.write(blobs.frame(location))
                    index.append((identity, location.size_bytes, location.length))
            if len(small) < 2:
                return
            merged.finish(index)
            self._place(merged)
        for name in small:
            path = f"{SEGMENTS}/{name}"
            self.size_bytes -= os.stat(path, dir_fd=self._descriptor, follow_symlinks=False).st_size
            os.unlink(path, dir_fd=self._descriptor)

    def forget_pending(self) -> None:
        """Drop the blobs queued since the last `flush`."""
        self.known.difference_update(identity for identity, _ in self._pending)
        self._pending, self.pending_bytes = [], 0

    def require(self, identity: str) -> str:
        """Return the id of a blob that must already be stored.

        Raises:
            RecordError: it is not.
        """
        if bytes.fromhex(check_id(identity)) not in self.known:
            raise RecordError(f"{self.folder} holds no snapshot {identity}.")
        return identity

    def head(self) -> str | None:
        """Return the id of the latest snapshot, or None."""
        try:
            line = read_regular(self.folder / _HEAD, 100, top=self._top or self.folder.parent)
        except OSError:
            return None
        return check_id(line.decode("ascii", "replace").strip())

    def move_head(self, snapshot: str) -> None:
        """Set the latest snapshot."""
        # Overwriting these bytes is one call; a rename over a file makes some file systems write it to disk.
        file = open_regular_at(self._descriptor, _HEAD, os.O_WRONLY | os.O_CREAT)
        try:
            os.pwrite(file, snapshot.encode() + b"\n", 0)
        finally:
            os.close(file)

    def reader(self) -> BlobReader:
        """Return a reader of the store."""
        return BlobReader(self.folder, top=self._top)

    def _open(self) -> int:
        top = self._top or self.folder.parent
        top.mkdir(parents=True, exist_ok=True)
        try:
            return open_folder(self.folder, top=top, make=True)
        except OSError as error:
            raise RecordError(f"{self.folder} cannot be opened: {error.strerror}.") from error

    def _take_stock(self) -> None:
        """Index all segments, and reject whatever the store did not write: a link could redirect writes."""
        self.known.clear()
        self.size_bytes, self._next = 0, 0
        for name in os.listdir(self._descriptor):  # noqa: PTH208 an open folder has no path
            if name not in (SEGMENTS, _HEAD, _LOCK) and not self._is_leftover(self._descriptor, name):
                raise self._foreign(name)
        segments = open_folder_at(self._descriptor, SEGMENTS, make=True)
        try:
            for name in sorted(os.listdir(segments)):  # noqa: PTH208
                if self._is_leftover(segments, name):
                    continue
                match = SEGMENT_NAME.fullmatch(name)
                if match is None:
                    raise self._foreign(f"{SEGMENTS}/{name}")
                self._next = int(match[1]) + 1
                self._take_segment(segments, name)
        finally:
            os.close(segments)

    def _take_segment(self, folder: int, name: str) -> None:
        try:
            descriptor = open_regular_at(folder, name)
        except OSError as error:
            raise self._foreign(f"{SEGMENTS}/{name}") from error
        try:
            self.size_bytes += os.fstat(descriptor).st_size
            with contextlib.suppress(RecordError):  # `check` reports a damaged segment
                self.known.update(identity for identity, _ in read_index(descriptor, name))
        finally:
            os.close(descriptor)

    def _is_leftover(self, folder: int, name: str) -> bool:
        if not _LEFTOVER.fullmatch(name):
            return False
        os.unlink(name, dir_fd=folder)
        return True

    def _foreign(self, name: str) -> RecordError:
        return RecordError(f"{self.folder} is not a history that Podium wrote: {name!r} does not belong to it.")

    @contextlib.contextmanager
    def _segment(self) -> Iterator[SegmentWriter]:
        """Yield a new segment; it is removed afterwards unless it was put in place."""
        aside = f"tmp_{os.getpid()}_{next(self._names)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(f"{SEGMENTS}/{aside}", flags, 0o644, dir_fd=self._descriptor)
        try:
            yield SegmentWriter(descriptor, aside)
        finally:
            os.close(descriptor)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{SEGMENTS}/{aside}", dir_fd=self._descriptor)

    def _place(self, segment: SegmentWriter) -> None:
        name = f"{SEGMENTS}/{self._next:08}-{segment.digest}.seg"
        os.rename(f"{SEGMENTS}/{segment.name}", name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        self._next += 1
        self.size_bytes += segment.length
