"""Incremental, race-safe scan of the workspace, which hostile programs may be changing at the same time.

Every name is looked up relative to the descriptor of its folder and never through a symbolic link, so the scan cannot
leave the workspace, even if names are swapped under it (TOCTOU). No content of the workspace makes it block or raise;
only storing may fail.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import stat
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from podium.safefs.remove_tree import ENTER
from podium.workspace.history.blob_store import BlobStore
from podium.workspace.history.file_records import (
    MAX_RECORD_BYTES,
    LargeFile,
    LeftOut,
    LeftOutKind,
    SnapshotRecord,
    note_bytes,
)
from podium.workspace.history.file_stamps import (
    BulkStat,
    Stamp,
    stable_stamp,
    stamp_at,
    stamp_mode,
    stamp_of,
    unpack_stamps,
)
from podium.workspace.history.snapshot_manifest import FOLDER, EntryKind, SnapshotEntry

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_IN_MEMORY_BYTES = 16 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a snapshot; files beyond them are recorded by name."""

    large_bytes: int = 16 * 1024**2
    """Larger files are recorded by name, size and hash."""
    always_bytes: int = 1024**3
    """Size limit of files that are always stored, such as the submission."""
    hashed_bytes: int = 2 * 1024**3
    """Maximum number of bytes of large files hashed per snapshot; sparse files have large sizes at no cost."""
    step_bytes: int = 4 * 1024**3
    """Maximum size of new content per snapshot."""
    history_bytes: int = 64 * 1024**3
    """Maximum size of the history; files that are always stored may take it to twice that."""
    entries: int = 200_000
    """Maximum number of names per snapshot."""
    depth: int = 64
    """Maximum folder depth."""


class ScanEntry(NamedTuple):
    """Scan result of one name."""

    stamp: Stamp | None
    """Stamp when it was read; None if it must be read again."""
    entry: SnapshotEntry | None = None
    """Entry of the manifest, if there is one."""
    folder: ScannedFolder | None = None
    note: LargeFile | LeftOut | None = None


@dataclass(slots=True)
class ScannedFolder:
    """Scan result of one folder, used as the stat cache of the next scan."""

    stamp: Stamp | None
    """Stamp of the folder when it was listed; None if it must be listed again."""
    entries: dict[bytes, ScanEntry]
    seen: bytes | None
    """Packed stat records of its entries; None if some must be read again."""
    notes: list[LargeFile | LeftOut]
    """Notes of its entries."""


@dataclass(slots=True)
class WorkspaceScan:
    """A scan of the workspace that stores new content."""

    store: BlobStore
    bounds: Bounds
    always: frozenset[str]
    always_below: tuple[str, ...]
    _glance: BulkStat = field(default_factory=BulkStat)
    _notes: list[LargeFile | LeftOut] = field(default_factory=list)
    _note_bytes: int = 0
    _unlisted: int = 0
    _entries: int = 0
    _hashed_bytes: int = 0
    _added_before: int = field(init=False)

    def __post_init__(self) -> None:
        self._added_before = self.store.added_bytes

    def record(self) -> SnapshotRecord:
        """Return the record of the files without stored content."""
        large = [note for note in self._notes if isinstance(note, LargeFile)]
        left_out = [note for note in self._notes if isinstance(note, LeftOut)]
        return SnapshotRecord.of(large, left_out, unlisted=self._unlisted)

    def _may_list(self, notes: Collection[LargeFile | LeftOut]) -> bool:
        """Add notes to the record if they fit, and return whether they did."""
        size_bytes = sum(map(note_bytes, notes))
        if self._note_bytes + size_bytes > MAX_RECORD_BYTES:
            return False
        self._note_bytes += size_bytes
        self._notes += notes
        return True

    def _listed(self, entry: ScanEntry) -> ScanEntry:
        """Return the entry, without its note if the record is full."""
        if entry.note is None or self._may_list([entry.note]):
            return entry
        self._unlisted += 1
        return entry._replace(stamp=None, note=None)  # the next scan may have room

    def folder(self, descriptor: int, path: str, depth: int, before: ScannedFolder | None) -> ScannedFolder:
        """Scan the folder behind a descriptor; `path` is relative to the workspace and ends with a slash."""
        stamp, names = self._list(descriptor, path, before)
        seen = self._glance.at(descriptor, names)
        # Fast path: an unchanged folder costs no more than this.
        if (
            before is not None
            and names is before.entries
            and seen is not None
            and seen == before.seen
            and self._may_list(before.notes)
        ):
            return before
        earlier = before.entries if before is not None else {}
        stamps = unpack_stamps(seen) if seen is not None else [stamp_at(descriptor, name) for name in names]
        entries: dict[bytes, ScanEntry] = {}
        for name, now in zip(names, stamps, strict=True):
            entry = earlier.get(name)
            if entry is None or entry.stamp != now:
                entry = self._look(descriptor, name, path + os.fsdecode(name), depth, now, entry)
            if entry is not None:
                entries[name] = self._listed(entry)
        notes = [entry.note for entry in entries.values() if entry.note is not None]
        if len(entries) != len(names):
            stamp = None  # some names were skipped, so the next scan must list the folder again
        if stamp is None or any(entry.stamp is None for entry in entries.values()):
            seen = None
        return ScannedFolder(stamp, entries, seen, notes)

    def _list(self, descriptor: int, path: str, before: ScannedFolder | None) -> tuple[Stamp | None, Collection[bytes]]:
        """Return a folder's stamp and the names to read; the stamp is None if there are too many names."""
        started_ns = time.time_ns()
        now = stamp_of(os.fstat(descriptor))
        stamp: Stamp | None
        names: Collection[bytes]
        # Creating, removing or renaming a name changes the times of its folder.
        if before is not None and before.stamp == now:
            stamp, names = now, before.entries
        else:
            stamp = stable_stamp(now, started_ns)
            with os.scandir(descriptor) as listing:
                names = [os.fsencode(item.name) for item in itertools.islice(listing, self.bounds.entries + 1)]
        room = self.bounds.entries - self._entries
        if len(names) > room:
            reason = f"the workspace contains more than {self.bounds.entries:,} names"
            self._unlisted += not self._may_list([LeftOut(path.rstrip("/"), "crowded", reason)])
            stamp, names = None, list(names)[:room]
        self._entries += len(names)
        return stamp, names

    def _look(
        self, parent: int, name: bytes, path: str, depth: int, stamp: Stamp | OSError, was: ScanEntry | None
    ) -> ScanEntry | None:
        if isinstance(stamp, OSError):
            return _unreadable(path, stamp)
        kind = stat.S_IFMT(stamp_mode(stamp))
        try:
            if kind == stat.S_IFDIR:
                return self._folder(parent, name, path, depth, was)
            if kind == stat.S_IFREG:
                return self._file(parent, name, path)
            if kind == stat.S_IFLNK:
                return self._link(parent, name, stamp)
        except Unreadable as error:
            return _unreadable(path, error.error)
        special: dict[int, tuple[LeftOutKind, str]] = {
            stat.S_IFIFO: ("fifo", "it is a named pipe"),
            stat.S_IFSOCK: ("socket", "it is a socket"),
        }
        return _left_out(path, *special.get(kind, ("device", "it is a device")))

    def _folder(self, parent: int, name: bytes, path: str, depth: int, was: ScanEntry | None) -> ScanEntry:
        if depth >= self.bounds.depth:
            return _left_out(path, "deep", f"it is more than {self.bounds.depth} folders deep")
        with readable():
            descriptor = os.open(name, ENTER, dir_fd=parent)
        try:
            folder = self.folder(descriptor, path + "/", depth + 1, was.folder if was else None)
        finally:
            os.close(descriptor)
        return ScanEntry(None, FOLDER, folder)

    def _link(self, parent: int, name: bytes, stamp: Stamp) -> ScanEntry:
        started_ns = time.time_ns()
        with readable():
            target = os.readlink(name, dir_fd=parent)
        identity = self.store.add(target)
        return ScanEntry(stable_stamp(stamp, started_ns), SnapshotEntry("link", identity.hex(), len(target)))

    def _file(self, parent: int, name: bytes, path: str) -> ScanEntry:
        with readable():
            descriptor = os.open(name, READ, dir_fd=parent)
        try:
            return self._content(descriptor, path)
        finally:
            os.close(descriptor)

    def _content(self, descriptor: int, path: str) -> ScanEntry:
        wanted = path in self.always or path.startswith(self.always_below)
        for _ in range(_ATTEMPTS):
            started_ns = time.time_ns()
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                break
            if status.st_size > (self.bounds.always_bytes if wanted else self.bounds.large_bytes):
                return self._large(descriptor, path, started_ns)
            if not self._may_read_holes(status):
                return _left_out(path, "full", "the workspace contains too many sparse files")
            refusal = self._refusal(status, wanted)
            identity = self._stored(descriptor, status.st_size, refused=refusal is not None)
            if identity is not None:
                after = os.fstat(descriptor)
                kind: EntryKind = "executable" if after.st_mode & stat.S_IXUSR else "file"
                return ScanEntry(stable_stamp(stamp_of(after), started_ns), SnapshotEntry(kind, *identity))
            if refusal is not None:
                return _left_out(path, "full", refusal)
        return _left_out(path, "changing", "it kept changing while it was being read")

    def _may_read_holes(self, status: os.stat_result) -> bool:
        """Charge the holes of sparse files to the hashing limit: unlike disk space, they cost nothing to create."""
        self._hashed_bytes += max(0, status.st_size - status.st_blocks * 512)
        return self._hashed_bytes <= self.bounds.hashed_bytes

    def _refusal(self, status: os.stat_result, wanted: bool) -> str | None:
        added = self.store.added_bytes - self._added_before
        room = self.bounds.history_bytes * (2 if wanted else 1)
        if self.store.size_bytes + self.store.pending_bytes + status.st_size > room:
            return f"the history has reached its limit of {self.bounds.history_bytes:,} bytes"
        if not wanted and added + status.st_size > self.bounds.step_bytes:
            return f"more than {self.bounds.step_bytes:,} bytes were new in this step"
        return None

    def _stored(self, descriptor: int, size_bytes: int, *, refused: bool) -> tuple[str, int] | None:
        """Store a file's content and return its id and size; None if it is refused and not stored, or shrank."""
        if not refused and size_bytes <= _IN_MEMORY_BYTES:
            data = read_up_to(descriptor, size_bytes)
            return self.store.add(data).hex(), len(data)
        identity = sha256_of(descriptor, size_bytes)
        if bytes.fromhex(identity) in self.store.known:
            return identity, size_bytes
        if refused:
            return None
        os.lseek(descriptor, 0, os.SEEK_SET)
        stored = self.store.add_stream(pieces_of(descriptor, size_bytes), size_bytes)
        return None if stored is None else (stored.hex(), size_bytes)

    def _large(self, descriptor: int, path: str, started_ns: int) -> ScanEntry:
        size_bytes = os.fstat(descriptor).st_size
        digest = None
        if self._hashed_bytes + size_bytes <= self.bounds.hashed_bytes:
            self._hashed_bytes += size_bytes
            digest = sha256_of(descriptor, size_bytes)
        after = os.fstat(descriptor)
        executable = bool(after.st_mode & stat.S_IXUSR)
        stamp = stable_stamp(stamp_of(after), started_ns)
        if digest is None and size_bytes <= self.bounds.hashed_bytes:
            stamp = None  # the next snapshot may hash it
        return ScanEntry(stamp, note=LargeFile(path, size_bytes, digest, executable))


class Unreadable(Exception):
    """An error while reading the workspace, as opposed to storing its content."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


@contextlib.contextmanager
def readable() -> Iterator[None]:
    """Convert OS errors to `Unreadable`."""
    try:
        yield
    except OSError as error:
        raise Unreadable(error) from error


def read_up_to(descriptor: int, count: int) -> bytes:
    """Read up to `count` bytes of a file; fewer only at its end."""
    pieces: list[bytes] = []
    with readable():
        while count > 0:
            piece = os.read(descriptor, count)
            if not piece:
                break
            pieces.append(piece)
            count -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def pieces_of(descriptor: int, size_bytes: int) -> Iterator[bytes]:
    """Yield up to `size_bytes` bytes of a file in chunks."""
    while size_bytes > 0:
        piece = read_up_to(descriptor, min(size_bytes, _CHUNK_BYTES))
        if not piece:
            return
        yield piece
        size_bytes -= len(piece)


def sha256_of(descriptor: int, size_bytes: int) -> str:
    """Return the SHA-256 of the next bytes of a file."""
    digest = hashlib.sha256()
    for piece in pieces_of(descriptor, size_bytes):
        digest.update(piece)
    return digest.hexdigest()


def entries_of(folder: ScannedFolder, path: bytes = b"") -> Iterator[tuple[bytes, SnapshotEntry]]:
    """Yield the entries of a scanned folder and of all folders below it, by path."""
    for name, scanned in folder.entries.items():
        if scanned.entry is not None:
            yield path + name, scanned.entry
        if scanned.folder is not None:
            yield from entries_of(scanned.folder, path + name + b"/")


def changes_between(
    older: ScannedFolder, newer: ScannedFolder, path: bytes = b""
) -> Iterator[tuple[bytes, SnapshotEntry | None]]:
    """Yield new and changed entries between two scans, and None for each removed path; equal folders cost nothing."""
    if older is newer:
        return
    for name in older.entries.keys() | newer.entries.keys():
        before, after = older.entries.get(name, _NO_ENTRY), newer.entries.get(name, _NO_ENTRY)
        if before.entry != after.entry:
            yield path + name, after.entry
        if before.folder is not after.folder:
            below = path + name + b"/"
            yield from changes_between(before.folder or _NO_FOLDER, after.folder or _NO_FOLDER, below)


def _left_out(path: str, kind: LeftOutKind, reason: str) -> ScanEntry:
    return ScanEntry(None, note=LeftOut(path, kind, reason))


def _unreadable(path: str, error: OSError) -> ScanEntry | None:
    if error.errno == errno.ENOENT:
        return None
    return _left_out(path, "unreadable", f"it cannot be read: {os.strerror(error.errno or 0)}")


_NO_ENTRY = ScanEntry(None)
_NO_FOLDER = ScannedFolder(None, {}, None, [])
