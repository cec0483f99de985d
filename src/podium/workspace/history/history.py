"""History of a workspace: snapshots in a git repository outside the sandbox, with one commit per step."""

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
from podium.workspace.history.check_snapshot import find_problems
from podium.workspace.history.extract_file import Extracted, extract, find_entry
from podium.workspace.history.file_records import SnapshotRecord
from podium.workspace.history.git import git_objects
from podium.workspace.history.git.git_objects import TreeEntry
from podium.workspace.history.git.git_reader import MAX_OBJECT_BYTES
from podium.workspace.history.git.git_store import Store
from podium.workspace.history.restore import Restored, Restorer
from podium.workspace.history.scan_workspace import Bounds, ScannedFolder, WorkspaceScan
from podium.workspace.history.snapshot_diff import diff_snapshots
from podium.workspace.history.snapshots import EMPTY_SNAPSHOT, FILES, RECORD, read_snapshot, walk_ancestors, walk_files

_FileKind = Literal["file", "executable", "link", "large", "left out"]
_KINDS: dict[bytes, _FileKind] = {git_objects.EXECUTABLE: "executable", git_objects.LINK: "link"}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in a snapshot."""

    path: str
    kind: _FileKind
    size_bytes: int | None
    reason: str | None = None
    """Why it was left out."""


class History:
    """Snapshots of one workspace.

    Unchanged files are recognized by their times, sizes and inodes, which are cached in memory only. A reopened history
    hashes every file once: stamps saved by an earlier process prove nothing about changes in between, and hashing costs
    less than the trouble of a stale cache.

    A killed process or a full disk never damages a snapshot. A power failure may lose the latest ones, as nothing is
    fsynced here; `check` detects this, and an earlier snapshot can be restored.
    """

    def __init__(
        self,
        repository: Path,
        workspace: Path,
        *,
        always: Collection[str] = (),
        bounds: Bounds | None = None,
        patience_s: float = 30,
        top: Path | None = None,
    ) -> None:
        """Open a history, which need not exist yet.

        Args:
            repository: The git directory, out of reach of programs in the workspace.
            workspace: The folder to take snapshots of.
            always: Paths in it whose content is stored even if it is large, such as the submission; a path that ends
                with a slash means a folder and everything in it.
            bounds: Limits of the snapshots.
            patience_s: Seconds the first write waits for another writer.
            top: Folder from which on links to the repository are not followed; by default its parent folder.
        """
        self.repository = repository
        self.workspace = workspace
        self._always = frozenset(always), tuple(name for name in always if name.endswith("/"))
        self._bounds = bounds or Bounds()
        self._store = Store(repository, patience_s=patience_s, top=top)
        self._cache: ScannedFolder | None = None
        self._one_writer = threading.Lock()  # one thread must not drop the objects another has queued

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
        """Take a snapshot of the workspace and return its commit id.

        Args:
            message: The commit message.
            parent: The previous snapshot.
            time_s: Unix time of the commit; the same content, message, parent and time give the same id.
            thorough: Read every file, even those that seem unchanged. Writes through a memory map may not change a
                file's times, so this is used for the snapshot that is graded.

        Raises:
            RecordError: the disk is full, or another process writes to this history.
        """
        with self._writing():
            walk = WorkspaceScan(self._store, self._bounds, *self._always)
            folder = self._walk(walk, None if thorough else self._cache)
            record = self._store.add(git_objects.BLOB, walk.record().encode())
            root = [TreeEntry(git_objects.FOLDER, FILES, folder.tree), TreeEntry(git_objects.FILE, RECORD, record)]
            tree = self._store.add(git_objects.TREE, git_objects.encode_tree(root))
            parents = [] if parent is None else [self._store.require(parent)]
            content = git_objects.encode_commit(tree, parents, message=message, time_s=time_s)
            commit = self._store.add(git_objects.COMMIT, content).hex()
            self._store.flush()
            self._store.move_head(commit)
            self._cache = folder
            return commit

    def put(self, data: bytes) -> str:
        """Store a small blob next to the snapshots, such as an agent's state, and return its id."""
        with self._writing():
            identity = self._store.add(git_objects.BLOB, data)
            self._store.flush()
            return identity.hex()

    def get(self, identity: str, *, limit_bytes: int = MAX_OBJECT_BYTES) -> bytes:
        """Return a blob that was `put`, or the content of a snapshot's file, by its id.

        Raises:
            RecordError: it is missing, damaged or too large.
        """
        with self._store.reader() as reader:
            return reader.read(identity, git_objects.BLOB, limit_bytes=limit_bytes)

    def restore(self, commit: str) -> Restored:
        """Restore the workspace to a snapshot, changing only files that differ."""
        self._cache = None
        self.workspace.mkdir(parents=True, exist_ok=True)
        return self._restore(commit, self.workspace)

    def check_out(self, commit: str, folder: Path) -> Restored:
        """Write a snapshot to an empty folder, created if necessary; `lost` lists files without stored content."""
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise RecordError(f"{folder} is not empty. Choose a new folder for the snapshot.")
        return self._restore(commit, folder)

    def extract(
        self, commit: str, path: str, target: Path, limit_bytes: int, *, entry: TreeEntry | None = None
    ) -> Extracted:
        """Write a file of a snapshot to `target` if it is a regular file of at most `limit_bytes`.

        Args:
            entry: its entry in `entries`, which saves a lookup.
        """
        with self._store.reader() as reader:
            return extract(reader, read_snapshot(reader, commit), path, target, limit_bytes, entry=entry)

    def files(self, commit: str) -> list[StoredFile]:
        """Return all files of a snapshot by path, including those recorded without content."""
        with self._store.reader() as reader:
            snapshot = read_snapshot(reader, commit)
            found = [
                StoredFile(path, _KINDS.get(entry.mode, "file"), reader.size(entry.id.hex()))
                for path, entry in walk_files(reader, snapshot.tree)
            ]
        found += [StoredFile(note.path, "large", note.size_bytes) for note in snapshot.record.large]
        found += [StoredFile(note.path, "left out", None, note.reason) for note in snapshot.record.left_out]
        return sorted(found, key=lambda file: file.path)

    def identity(self, commit: str, path: str) -> str | None:
        """Return the id of a file's content in a snapshot, or None; equal ids mean equal contents."""
        with self._store.reader() as reader:
            entry = find_entry(reader, read_snapshot(reader, commit).tree, path)
        return None if entry is None else entry.id.hex()

    def entries(self, commit: str) -> dict[str, TreeEntry]:
        """Return all stored files and links of a snapshot, by path."""
        with self._store.reader() as reader:
            return dict(walk_files(reader, read_snapshot(reader, commit).tree))

    def contents(self, commit: str) -> dict[str, str]:
        """Return the content ids of all stored files of a snapshot, by path."""
        return {path: entry.id.hex() for path, entry in self.entries(commit).items()}

    def chain(self, commit: str) -> list[str]:
        """Return a snapshot and its ancestors, newest first."""
        with self._store.reader() as reader:
            return list(walk_ancestors(reader, commit))

    def record(self, commit: str) -> SnapshotRecord:
        """Return the record of the files whose content is not stored."""
        with self._store.reader() as reader:
            return read_snapshot(reader, commit).record

    def diff(self, older: str | None, newer: str, *, limit_bytes: int = 1_000_000) -> str:
        """Return the changes between two snapshots, or from an empty one, as a git diff cut at a limit."""
        with self._store.reader() as reader:
            first = read_snapshot(reader, older) if older else EMPTY_SNAPSHOT
            return diff_snapshots(reader, first, read_snapshot(reader, newer), limit_bytes=limit_bytes)

    def check(self, commit: str) -> list[str]:
        """Check the objects of a snapshot and its ancestors by hashing them; return a message for each problem."""
        with self._store.reader() as reader:
            return find_problems(reader, commit)

    def copy_to(self, repository: Path, commit: str) -> None:
        """Copy the history to a new repository whose latest snapshot is `commit`."""
        with explain_full_disk(repository):
            self._store.copy_to(repository)
            with History(repository, self.workspace) as copy, copy._writing():
                copy._store.move_head(copy._store.require(commit))

    def compact(self) -> None:
        """Repack the history with delta compression; worthwhile at the end of a run."""
        with self._writing():
            self._store.compact()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with self._one_writer, explain_full_disk(self.repository):
            try:
                self._store.begin_writing()
                yield
            finally:
                self._store.forget_pending()

    def _walk(self, walk: WorkspaceScan, before: ScannedFolder | None) -> ScannedFolder:
        descriptor = os.open(self.workspace, ENTER)
        try:
            return walk.folder(descriptor, "", 0, before)
        finally:
            os.close(descriptor)

    def _restore(self, commit: str, folder: Path) -> Restored:
        descriptor = os.open(folder, ENTER)
        try:
            with self._store.reader() as reader, explain_full_disk(folder):
                snapshot = read_snapshot(reader, commit)
                return Restorer(reader, snapshot.record).restore(descriptor, snapshot.tree)
        finally:
            os.close(descriptor)
