"""History of a workspace: one snapshot per step, kept outside the sandbox."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from podium.errors import RecordError
from podium.safefs.locks import explain_full_disk
from podium.safefs.remove_tree import ENTER
from podium.workspace.history.blob_reader import MAX_BLOB_BYTES
from podium.workspace.history.blob_store import BlobStore
from podium.workspace.history.export_git import export_git
from podium.workspace.history.extract_file import Extracted, extract, find_entry
from podium.workspace.history.file_records import SnapshotRecord
from podium.workspace.history.restore import Restored, Restorer
from podium.workspace.history.scan_workspace import Bounds, ScannedFolder, WorkspaceScan, changes_between, entries_of
from podium.workspace.history.snapshot_diff import difference
from podium.workspace.history.snapshot_manifest import (
    MAX_CHAIN,
    NOTHING,
    EntryKind,
    SnapshotEntry,
    SnapshotManifest,
    SnapshotReader,
    SnapshotState,
    as_tree,
    differences,
)

_FileKind = Literal[EntryKind, "large", "left out"]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in a snapshot."""

    path: str
    kind: _FileKind
    size_bytes: int | None
    reason: str | None = None
    """Why it was left out."""


@dataclass(frozen=True, slots=True)
class _Scan:
    """The last scan of the workspace, and the snapshot that holds it."""

    snapshot: str
    chain: int
    folder: ScannedFolder


class History:
    """Snapshots of one workspace.

    Unchanged files are recognised by their times, sizes and inodes, remembered in memory only: a history opened again
    hashes every file once, because times that an earlier process wrote to disk prove nothing about what ran in between.

    A killed process or a full disk never harms a snapshot. A power cut may take the newest ones, as nothing is fsynced
    here: `check` reports it, and the snapshot before can be restored.
    """

    def __init__(
        self,
        store: Path,
        workspace: Path,
        *,
        always: Collection[str] = (),
        bounds: Bounds | None = None,
        patience_s: float = 30,
        top: Path | None = None,
    ) -> None:
        """Open a history, which need not exist yet.

        Args:
            store: The folder of the history; out of reach of programs that run in the workspace.
            workspace: The folder whose snapshots are taken.
            always: Paths within it whose content is stored even if it is large, such as the submission's; a path with
                a slash at the end is a folder with all files in it.
            bounds: Limits of a snapshot.
            patience_s: How long the first write waits for another writer to end.
            top: Folder below which no symbolic link is followed on the way to the store; by default its parent.
        """
        self.folder = store
        self.workspace = workspace
        self._always = frozenset(always), tuple(name for name in always if name.endswith("/"))
        self._bounds = bounds or Bounds()
        self._store = BlobStore(store, patience_s=patience_s, top=top)
        self._last: _Scan | None = None
        self._one_writer = threading.Lock()  # what one thread adds, another must not forget

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock, so that another process can write."""
        self._store.close()

    def head(self) -> str | None:
        """Return the latest snapshot, or None."""
        return self._store.head()

    def snapshot(self, message: str, parent: str | None, *, time_s: int, thorough: bool = False) -> str:
        """Take a snapshot of the workspace and return its id.

        Args:
            message: Text that is kept with the snapshot.
            parent: The snapshot before it.
            time_s: Unix time; the same content, message, parent and time give the same id.
            thorough: Read every file, even those that seem unchanged. Writes through a memory map can leave a file's
                times as they were, so the snapshot that is graded deserves this.

        Raises:
            RecordError: the disk is full, or another process writes to this history.
        """
        with self._writing():
            scan = WorkspaceScan(self._store, self._bounds, *self._always)
            folder = self._scan(scan, None if thorough or self._last is None else self._last.folder)
            record = self._store.add(scan.record().encode()).hex()
            chain, changes = self._changes(folder, parent)
            manifest = SnapshotManifest(parent, message, time_s, record, chain, changes)
            identity = self._store.add(manifest.encode()).hex()
            self._store.flush()
            self._store.move_head(identity)
            self._last = _Scan(identity, chain, folder)
            return identity

    def put(self, data: bytes) -> str:
        """Store a small blob next to the snapshots, such as an agent's state, and return its id."""
        with self._writing():
            identity = self._store.add(data)
            self._store.flush()
            return identity.hex()

    def get(self, identity: str, *, limit_bytes: int = MAX_BLOB_BYTES) -> bytes:
        """Return a blob that was `put`, or the content of a snapshot's file, by its id.

        Raises:
            RecordError: it is missing, damaged or too large.
        """
        with self._store.reader() as blobs:
            return blobs.read(identity, limit_bytes=limit_bytes)

    def restore(self, snapshot: str) -> Restored:
        """Restore the workspace to a snapshot, changing only files that differ."""
        self._last = None
        self.workspace.mkdir(parents=True, exist_ok=True)
        return self._restore(snapshot, self.workspace)

    def check_out(self, snapshot: str, folder: Path) -> Restored:
        """Write a snapshot's files to an empty folder, created if necessary.

        The field `lost` of the result lists files without stored content.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise RecordError(f"{folder} is not empty. Name a new folder to put the snapshot into.")
        return self._restore(snapshot, folder)

    def extract(
        self, snapshot: str, path: str, target: Path, limit_bytes: int, *, entry: SnapshotEntry | None = None
    ) -> Extracted:
        """Write a file of a snapshot to `target` if it is a regular file of at most `limit_bytes`.

        Args:
            entry: its entry from `entries`, which saves looking it up.
        """
        with self._store.reader() as blobs:
            return extract(blobs, SnapshotReader(blobs).read(snapshot), path, target, limit_bytes, entry=entry)

    def files(self, snapshot: str) -> list[StoredFile]:
        """Return all files of a snapshot by path, including those recorded without content."""
        state = self._read(snapshot)
        files = [
            StoredFile(os.fsdecode(path), entry.kind, entry.size_bytes)
            for path, entry in state.entries.items()
            if entry.kind != "folder"
        ]
        files += [StoredFile(note.path, "large", note.size_bytes) for note in state.record.large]
        files += [StoredFile(note.path, "left out", None, note.reason) for note in state.record.left_out]
        return sorted(files, key=lambda file: file.path)

    def identity(self, snapshot: str, path: str) -> str | None:
        """Return the content id of a file in a snapshot, or None.

        Equal ids mean equal contents; the id of a folder covers all files below it.
        """
        entries = self._read(snapshot).entries
        entry = find_entry(entries, path)
        if entry is None or entry.kind != "folder":
            return None if entry is None else entry.id
        below = os.fsencode(path) + b"/"
        return SnapshotManifest(None, "", 0, "", 0, {p: e for p, e in entries.items() if p.startswith(below)}).id

    def entries(self, snapshot: str) -> dict[str, SnapshotEntry]:
        """Return all stored files and links of a snapshot, by path."""
        entries = self._read(snapshot).entries
        return {os.fsdecode(path): entry for path, entry in entries.items() if entry.kind != "folder"}

    def contents(self, snapshot: str) -> dict[str, str]:
        """Return the content ids of all stored files of a snapshot, by path."""
        return {path: entry.id for path, entry in self.entries(snapshot).items()}

    def chain(self, snapshot: str) -> list[str]:
        """Return a snapshot and its ancestors, newest first."""
        with self._store.reader() as blobs:
            return [identity for identity, _ in SnapshotReader(blobs).ancestry(snapshot)]

    def record(self, snapshot: str) -> SnapshotRecord:
        """Return the record of the files whose content is not stored."""
        return self._read(snapshot).record

    def diff(self, older: str | None, newer: str, *, limit_bytes: int = 1_000_000) -> str:
        """Return the changes between two snapshots, or from an empty one, as a unified diff cut at a limit."""
        with self._store.reader() as blobs:
            reader = SnapshotReader(blobs)
            first = reader.read(older) if older else NOTHING
            return difference(blobs, first, reader.read(newer), limit_bytes=limit_bytes)

    def check(self, snapshot: str) -> list[str]:
        """Hash every blob of a snapshot and its ancestors, and return a message for each problem."""
        with self._store.reader() as blobs:
            return _problems(SnapshotReader(blobs), snapshot)

    def copy_to(self, store: Path, snapshot: str) -> None:
        """Copy the history to a new one whose latest snapshot is `snapshot`."""
        with explain_full_disk(store):
            self._store.copy_to(store)
            with History(store, self.workspace) as copy, copy._writing():
                copy._store.move_head(copy._store.require(snapshot))

    def export_git(self, snapshot: str, folder: Path) -> int:
        """Write a snapshot and its ancestors to a new git repository; see `export_git.export_git`."""
        with self._store.reader() as blobs:
            return export_git(blobs, snapshot, folder)

    def compact(self) -> None:
        """Merge the small segments of many steps; worthwhile at the end of a run."""
        with self._writing():
            self._store.compact()

    def _changes(self, folder: ScannedFolder, parent: str | None) -> tuple[int, dict[bytes, SnapshotEntry | None]]:
        """Return the length of the new manifest's chain, and its entries."""
        if parent is None:
            return 0, dict(entries_of(folder))
        self._store.require(parent)
        if self._last is not None and self._last.snapshot == parent:
            chain = self._last.chain + 1
            if chain < MAX_CHAIN:
                return chain, dict(changes_between(self._last.folder, folder))
        else:
            before = self._read(parent)
            if before.chain + 1 < MAX_CHAIN:
                return before.chain + 1, differences(before.entries, dict(entries_of(folder)))
        return 0, dict(entries_of(folder))

    def _read(self, snapshot: str) -> SnapshotState:
        with self._store.reader() as blobs:
            return SnapshotReader(blobs).read(snapshot)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with self._one_writer, explain_full_disk(self.folder):
            try:
                self._store.begin_writing()
                yield
            finally:
                self._store.forget_pending()

    def _scan(self, scan: WorkspaceScan, before: ScannedFolder | None) -> ScannedFolder:
        descriptor = os.open(self.workspace, ENTER)
        try:
            return scan.folder(descriptor, "", 0, before)
        finally:
            os.close(descriptor)

    def _restore(self, snapshot: str, folder: Path) -> Restored:
        descriptor = os.open(folder, ENTER)
        try:
            with self._store.reader() as blobs, explain_full_disk(folder):
                state = SnapshotReader(blobs).read(snapshot)
                return Restorer(blobs, state.record).restore(descriptor, as_tree(state.entries))
        finally:
            os.close(descriptor)


def _problems(reader: SnapshotReader, snapshot: str) -> list[str]:
    problems: list[str] = []
    checked: set[str] = set()

    def check(identity: str, label: str) -> None:
        if identity and identity not in checked:
            checked.add(identity)
            try:
                reader.blobs.stream(identity, len)
            except RecordError as error:
                problems.append(f"{label}: {error}")

    ancestry: list[tuple[str, SnapshotManifest]] = []
    try:
        ancestry.extend(reader.ancestry(snapshot))
    except RecordError as error:
        problems.append(f"snapshot {(ancestry[-1][1].parent if ancestry else snapshot) or ''!s:.12}: {error}")
    for identity, manifest in reversed(ancestry):
        check(manifest.record, f"snapshot {identity[:12]}")
        for path, entry in manifest.changes.items():
            if entry is not None:
                check(entry.id, repr(os.fsdecode(path))[:_MAX_PATH_CHARACTERS])
        try:
            entries = reader.read(identity).entries
            if identity == snapshot or manifest.chain == 0:
                as_tree(entries)
        except RecordError as error:
            problems.append(f"snapshot {identity[:12]}: {error}")
    return problems


_MAX_PATH_CHARACTERS = 300
