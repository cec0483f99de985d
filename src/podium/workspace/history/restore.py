"""Restores a folder to a snapshot: changes only what differs, and nothing outside the folder.

As in the scan, names are looked up relative to the descriptor of their folder, and links are never followed. Files are
compared by content, not by time. A changed file is written to a temporary name and renamed, so hard links to the old
one keep their content.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from dataclasses import dataclass, field

from podium.errors import RecordError
from podium.safefs.remove_tree import enter, remove_at
from podium.workspace.history.blob_reader import BlobReader
from podium.workspace.history.file_records import LargeFile, SnapshotRecord
from podium.workspace.history.scan_workspace import READ, Unreadable, sha256_of
from podium.workspace.history.snapshot_manifest import SnapshotEntry, SnapshotTree

_ATTEMPTS = 5
MAX_RESTORED_BYTES = 256 << 30
"""Maximum number of bytes written in one restore: hostile snapshots can list one large file under many names."""
_SPARE_BYTES, _SPARE_SHARE = 1 << 30, 50
"""Disk space kept free: _SPARE_BYTES or 1/_SPARE_SHARE of the disk, whichever is smaller."""
_MOVED = {errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENOTEMPTY, errno.ELOOP, errno.EBUSY}


@dataclass(frozen=True, slots=True)
class Restored:
    """Result of a restore."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    lost: tuple[str, ...]
    """Large files that are missing or changed; a snapshot does not store their content."""
    unsure: tuple[str, ...]
    """Large files of the right size that were too large to hash."""
    left_alone: tuple[str, ...]
    """Existing items that the snapshot only lists by name, such as pipes; their content may have changed."""


@dataclass(slots=True)
class Restorer:
    """A restore of one snapshot."""

    reader: BlobReader
    record: SnapshotRecord
    _written: set[str] = field(default_factory=set)
    _written_bytes: int = 0
    _removed: set[str] = field(default_factory=set)
    _lost: set[str] = field(default_factory=set)
    _unsure: set[str] = field(default_factory=set)
    _left_alone: set[str] = field(default_factory=set)
    _large: dict[str, LargeFile] = field(init=False)
    _opaque: frozenset[str] = field(init=False)
    _crowded: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._large = {note.path: note for note in self.record.large}
        self._opaque = frozenset(note.path for note in self.record.left_out if note.kind != "crowded")
        self._crowded = frozenset(note.path for note in self.record.left_out if note.kind == "crowded")

    def restore(self, root: int, tree: SnapshotTree) -> Restored:
        """Make the folder behind a descriptor equal to a tree.

        Raises:
            RecordError: programs kept changing the folder.
        """
        for _ in range(_ATTEMPTS):
            self._lost = set(self._large)
            try:
                self._folder(root, tree, "")
            except OSError as error:
                if error.errno not in _MOVED:
                    raise
            else:
                lists = (self._written, self._removed, self._lost, self._unsure, self._left_alone)
                return Restored(*(tuple(sorted(paths)) for paths in lists))
        raise RecordError("The workspace kept changing while it was being restored. Stop the programs that run in it.")

    def _folder(self, descriptor: int, tree: SnapshotTree, path: str) -> None:
        present = _listing(descriptor)
        for name in present.keys() - tree.keys():
            self._unknown(descriptor, name, path, present[name])
        for name, node in tree.items():
            self._node(descriptor, name, path + name, node, present.get(name))

    def _unknown(self, parent: int, name: str, folder: str, status: os.stat_result) -> None:
        path = folder + name
        if path in self._opaque:
            self._left_alone.add(path)
        elif path in self._large and stat.S_ISREG(status.st_mode):
            self._compare_large(parent, name, self._large[path])
        elif self.record.unlisted or folder.rstrip("/") in self._crowded:
            self._left_alone.add(path)
        else:
            remove_at(parent, name)
            self._removed.add(path)

    def _compare_large(self, parent: int, name: str, note: LargeFile) -> None:
        try:
            descriptor = os.open(name, READ, dir_fd=parent)
        except PermissionError:
            return
        try:
            if os.fstat(descriptor).st_size != note.size_bytes:
                return
            if note.sha256 is None:
                self._unsure.add(note.path)
            elif sha256_of(descriptor, note.size_bytes) != note.sha256:
                return
            self._lost.discard(note.path)
        except Unreadable:
            return
        finally:
            os.close(descriptor)

    def _node(
        self, parent: int, name: str, path: str, node: SnapshotEntry | SnapshotTree, status: os.stat_result | None
    ) -> None:
        if isinstance(node, dict):
            self._subfolder(parent, name, path, node, status)
        elif status is None or not self._is_same(parent, name, node, status):
            if status is not None and stat.S_ISDIR(status.st_mode):
                remove_at(parent, name)
            self._written.add(path)
            if node.kind == "link":
                self._write_link(parent, name, node)
            else:
                self._write_file(parent, name, node)

    def _subfolder(self, parent: int, name: str, path: str, tree: SnapshotTree, status: os.stat_result | None) -> None:
        if status is not None and not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=parent)
            status = None
        if status is None:
            os.mkdir(name, dir_fd=parent)
            self._written.add(path)
        descriptor = enter(parent, name)
        try:
            self._folder(descriptor, tree, path + "/")
        finally:
            os.close(descriptor)

    def _is_same(self, parent: int, name: str, entry: SnapshotEntry, status: os.stat_result) -> bool:
        if entry.kind == "link":
            target = os.readlink(os.fsencode(name), dir_fd=parent) if stat.S_ISLNK(status.st_mode) else None
            return target is not None and hashlib.sha256(target).hexdigest() == entry.id
        # Compare sizes first, so that we never read a file that a program has made huge.
        if not stat.S_ISREG(status.st_mode) or status.st_size != entry.size_bytes:
            return False
        try:
            descriptor = os.open(name, READ, dir_fd=parent)
        except PermissionError:
            return False
        try:
            if sha256_of(descriptor, status.st_size) != entry.id:
                return False
            _set_executable(descriptor, entry.kind == "executable")
            return True
        except Unreadable:
            return False
        finally:
            os.close(descriptor)

    def _write_file(self, parent: int, name: str, entry: SnapshotEntry) -> None:
        self._require_room(parent, self.reader.size(entry.id))
        aside = _aside()
        mode = 0o777 if entry.kind == "executable" else 0o666
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                self.reader.stream(entry.id, file.write)
            os.rename(aside, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            _forget(parent, aside)
            raise

    def _require_room(self, parent: int, size_bytes: int) -> None:
        """
        Raises:
            RecordError: the disk has no room for a file, or all files together exceed the limit.
        """
        self._written_bytes += size_bytes
        disk = os.fstatvfs(parent)
        spare = min(_SPARE_BYTES, disk.f_blocks * disk.f_frsize // _SPARE_SHARE)
        if size_bytes and size_bytes + spare > disk.f_bavail * disk.f_frsize:
            raise RecordError(
                f"The disk has no room for the snapshot: the next file has {size_bytes:,} bytes. Free some disk space, "
                "then repeat the command, with --retry if the run has failed."
            )
        if self._written_bytes > MAX_RESTORED_BYTES:
            raise RecordError(f"The files of the snapshot exceed the limit of {MAX_RESTORED_BYTES:,} bytes.")

    def _write_link(self, parent: int, name: str, entry: SnapshotEntry) -> None:
        aside = _aside()
        os.symlink(self.reader.read(entry.id), aside.encode(), dir_fd=parent)
        try:
            os.rename(aside, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            _forget(parent, aside)
            raise


def _listing(descriptor: int) -> dict[str, os.stat_result]:
    with os.scandir(descriptor) as listing:
        return {item.name: item.stat(follow_symlinks=False) for item in listing}


def _aside() -> str:
    return f".podium-{secrets.token_hex(8)}"


def _forget(parent: int, name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=parent)


def _set_executable(descriptor: int, executable: bool) -> None:
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    if bool(mode & stat.S_IXUSR) != executable:
        os.fchmod(descriptor, mode | 0o111 if executable else mode & ~0o111)
