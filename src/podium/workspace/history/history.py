"""Snapshots of a workspace: a git repository outside the sandbox, with one commit per step."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from podium.errors import RecordError
from podium.safefs.locks import full_disk_explained
from podium.safefs.remove_tree import ENTER
from podium.workspace.history.check_snapshot import problems_of
from podium.workspace.history.extract_file import Extracted, extract, find_entry
from podium.workspace.history.file_records import SnapshotRecord
from podium.workspace.history.git import git_objects
from podium.workspace.history.git.git_objects import TreeEntry
from podium.workspace.history.git.git_reader import MOST_BYTES
from podium.workspace.history.git.git_store import Store
from podium.workspace.history.restore import Restored, Restorer
from podium.workspace.history.scan_workspace import Bounds, Folder, Walk
from podium.workspace.history.snapshot_diff import difference
from podium.workspace.history.snapshots import FILES, NOTHING, RECORD, chain_of, files_of, read_snapshot

_FileKind = Literal["file", "executable", "link", "large", "left out"]
_KINDS: dict[bytes, _FileKind] = {git_objects.EXECUTABLE: "executable", git_objects.LINK: "link"}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file of a snapshot."""

    path: str
    kind: _FileKind
    size_bytes: int | None
    reason: str | None = None
    """Why it was left out."""


class History:
    """The snapshots of one workspace.

    Unchanged files are recognised by their times, sizes and inodes, remembered in memory only: a history opened again
    hashes every file once, because times that were written to disk by an earlier process prove nothing about what ran
    in between, and hashing a workspace costs less than the trouble a stale cache can make.

    A killed process or a full disk never harms a snapshot. A power cut may take the newest ones, as nothing waits for
    the disk here: `check` tells, and the one before can be restored.
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
        """Opens a history, which need not exist yet.

        Args:
            repository: The git directory; out of reach of whatever runs in the workspace.
            workspace: The folder whose snapshots are taken.
            always: Paths within it whose content is stored though it be large, such as the submission's; one with a
                slash at the end is a folder with all that lies in it.
            bounds: How much is taken in.
            patience_s: How long the first write waits for another writer to end.
            top: From there on no link is followed on the way to the repository; by default from its folder.
        """
        self.repository = repository
        self.workspace = workspace
        self._always = frozenset(always), tuple(name for name in always if name.endswith("/"))
        self._bounds = bounds or Bounds()
        self._store = Store(repository, patience_s=patience_s, top=top)
        self._cache: Folder | None = None
        self._one_writer = threading.Lock()  # what one thread adds, another must not forget

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets another process write to the history."""
        self._store.close()

    def head(self) -> str | None:
        """The newest snapshot."""
        return self._store.head()

    def snapshot(self, message: str, parent: str | None, *, time_s: int, thorough: bool = False) -> str:
        """The id of a commit that holds the workspace as it is now.

        Args:
            message: What the commit says.
            parent: The snapshot before it.
            time_s: When, in seconds since 1970; the same content, message, parent and time give the same id.
            thorough: Read every file, even those that seem unchanged. Writes through a memory map can leave a file's
                times as they were, so the snapshot that is graded deserves this.

        Raises:
            RecordError: the disk is full, or another process writes to this history.
        """
        with self._writing():
            walk = Walk(self._store, self._bounds, *self._always)
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
        """The id of a small blob kept beside the snapshots, such as an agent's state."""
        with self._writing():
            identity = self._store.add(git_objects.BLOB, data)
            self._store.flush()
            return identity.hex()

    def get(self, identity: str, *, limit_bytes: int = MOST_BYTES) -> bytes:
        """What was `put`, or the content of a file of a snapshot by its id.

        Raises:
            RecordError: it is missing, damaged or too large.
        """
        with self._store.reader() as reader:
            return reader.read(identity, git_objects.BLOB, limit_bytes=limit_bytes)

    def restore(self, commit: str) -> Restored:
        """Brings the workspace back to a snapshot, changing only what differs."""
        self._cache = None
        self.workspace.mkdir(parents=True, exist_ok=True)
        return self._restore(commit, self.workspace)

    def check_out(self, commit: str, folder: Path) -> Restored:
        """Puts a snapshot's files into an empty folder, made if need be; `lost` names those it does not hold."""
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise RecordError(f"{folder} is not empty. Name a new folder to put the snapshot into.")
        return self._restore(commit, folder)

    def extract(
        self, commit: str, path: str, target: Path, limit_bytes: int, *, entry: TreeEntry | None = None
    ) -> Extracted:
        """Writes one file of a snapshot to `target`, if it is a regular file of at most `limit_bytes`.

        Args:
            entry: what `entries` says of it, which spares looking for it.
        """
        with self._store.reader() as reader:
            return extract(reader, read_snapshot(reader, commit), path, target, limit_bytes, entry=entry)

    def files(self, commit: str) -> list[StoredFile]:
        """Every file of a snapshot, in the order of their paths; those it could only name too."""
        with self._store.reader() as reader:
            snapshot = read_snapshot(reader, commit)
            found = [
                StoredFile(path, _KINDS.get(entry.mode, "file"), reader.size(entry.id.hex()))
                for path, entry in files_of(reader, snapshot.tree)
            ]
        found += [StoredFile(note.path, "large", note.size_bytes) for note in snapshot.record.large]
        found += [StoredFile(note.path, "left out", None, note.reason) for note in snapshot.record.left_out]
        return sorted(found, key=lambda file: file.path)

    def identity(self, commit: str, path: str) -> str | None:
        """The id of a file's content in a snapshot; None where it holds none. Equal ids are equal contents."""
        with self._store.reader() as reader:
            entry = find_entry(reader, read_snapshot(reader, commit).tree, path)
        return None if entry is None else entry.id.hex()

    def entries(self, commit: str) -> dict[str, TreeEntry]:
        """All files and links that a snapshot holds, by path."""
        with self._store.reader() as reader:
            return dict(files_of(reader, read_snapshot(reader, commit).tree))

    def contents(self, commit: str) -> dict[str, str]:
        """The ids of all files that a snapshot holds, by path."""
        return {path: entry.id.hex() for path, entry in self.entries(commit).items()}

    def chain(self, commit: str) -> list[str]:
        """A snapshot and all before it, the newest first."""
        with self._store.reader() as reader:
            return list(chain_of(reader, commit))

    def record(self, commit: str) -> SnapshotRecord:
        """What a snapshot says about the files whose content it does not hold."""
        with self._store.reader() as reader:
            return read_snapshot(reader, commit).record

    def diff(self, older: str | None, newer: str, *, limit_bytes: int = 1_000_000) -> str:
        """The changes between two snapshots, or from nothing to one, as git shows them; cut off at a limit."""
        with self._store.reader() as reader:
            first = read_snapshot(reader, older) if older else NOTHING
            return difference(reader, first, read_snapshot(reader, newer), limit_bytes=limit_bytes)

    def check(self, commit: str) -> list[str]:
        """The problems of everything a snapshot and those before it are made of; all of it is hashed again."""
        with self._store.reader() as reader:
            return problems_of(reader, commit)

    def copy_to(self, repository: Path, commit: str) -> None:
        """Makes a history of its own that holds everything of this one and ends with a snapshot."""
        with full_disk_explained(repository):
            self._store.copy_to(repository)
            with History(repository, self.workspace) as copy, copy._writing():
                copy._store.move_head(copy._store.require(commit))

    def compact(self) -> None:
        """Packs the history tightly, similar objects as differences; worth it at the end of a run."""
        with self._writing():
            self._store.compact()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with self._one_writer, full_disk_explained(self.repository):
            try:
                self._store.begin_writing()
                yield
            finally:
                self._store.forget_pending()

    def _walk(self, walk: Walk, before: Folder | None) -> Folder:
        descriptor = os.open(self.workspace, ENTER)
        try:
            return walk.folder(descriptor, "", 0, before)
        finally:
            os.close(descriptor)

    def _restore(self, commit: str, folder: Path) -> Restored:
        descriptor = os.open(folder, ENTER)
        try:
            with self._store.reader() as reader, full_disk_explained(folder):
                snapshot = read_snapshot(reader, commit)
                return Restorer(reader, snapshot.record).bring_back(descriptor, snapshot.tree)
        finally:
            os.close(descriptor)
