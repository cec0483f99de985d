"""Reader of snapshots: commits with the workspace's file tree and a record of the files without stored content."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from podium.errors import RecordError
from podium.workspace.history.file_records import SnapshotRecord
from podium.workspace.history.git import git_objects
from podium.workspace.history.git.git_objects import TreeEntry
from podium.workspace.history.git.git_reader import Reader

FILES, RECORD = b"workspace", b"record.json"
_MAX_ENTRIES = 1_000_000
MAX_TREE_DEPTH = 200
"""Maximum folder depth accepted when reading. Snapshots are far less deep, but hostile trees can repeat themselves."""


class SnapshotContent(NamedTuple):
    """Content of a snapshot commit."""

    tree: bytes
    record: SnapshotRecord


EMPTY_SNAPSHOT = SnapshotContent(git_objects.EMPTY_TREE, SnapshotRecord())


def read_snapshot(reader: Reader, commit: str) -> SnapshotContent:
    """Return the snapshot in a commit.

    Raises:
        RecordError: the commit is missing, damaged or not a snapshot.
    """
    root = git_objects.decode_commit(reader.read(commit, git_objects.COMMIT)).tree
    entries = {entry.name: entry for entry in git_objects.decode_tree(reader.read(root, git_objects.TREE))}
    if entries.keys() != {FILES, RECORD}:
        raise RecordError(f"Commit {commit} is not a snapshot of a workspace.")
    record = SnapshotRecord.decode(reader.read(entries[RECORD].id.hex(), git_objects.BLOB))
    return SnapshotContent(entries[FILES].id, record)


def walk_files(reader: Reader, tree: bytes) -> Iterator[tuple[str, TreeEntry]]:
    """Yield every file and link below a tree with its path.

    Raises:
        RecordError: the tree is damaged or larger than any that Podium writes.
    """
    check_extent(reader, tree)
    pending = [("", tree)]
    while pending:
        above, folder = pending.pop()
        for entry in read_tree(reader, folder):
            path = above + os.fsdecode(entry.name)
            if entry.mode == git_objects.FOLDER:
                pending.append((f"{path}/", entry.id))
            else:
                yield path, entry


def check_extent(reader: Reader, tree: bytes) -> None:
    """Raise an error for a tree too large to traverse, at the cost of reading each distinct folder once.

    Raises:
        RecordError: it contains more files or deeper folders than Podium writes.
    """
    known: dict[bytes, tuple[int, int]] = {}

    def extent(folder: bytes, depth: int) -> tuple[int, int]:
        """Return the number of entries below a folder and its height."""
        if folder not in known and depth <= MAX_TREE_DEPTH:
            entries = read_tree(reader, folder)
            below = [extent(entry.id, depth + 1) for entry in entries if entry.mode == git_objects.FOLDER]
            known[folder] = len(entries) + sum(count for count, _ in below), 1 + max((n for _, n in below), default=0)
        count, height = known.get(folder, (0, 0))
        if depth + height > MAX_TREE_DEPTH or count > _MAX_ENTRIES:
            raise RecordError("The snapshot contains more files or deeper folders than Podium writes.")
        return count, height

    extent(tree, 0)


def read_tree(reader: Reader, tree: bytes) -> list[TreeEntry]:
    """Return the entries of a folder."""
    return git_objects.decode_tree(reader.read(tree.hex(), git_objects.TREE)) if tree != git_objects.EMPTY_TREE else []


def walk_ancestors(reader: Reader, commit: str) -> Iterator[str]:
    """Yield a snapshot and its ancestors, newest first."""
    pending = [commit]
    while pending:
        yield pending[0]
        pending = list(git_objects.decode_commit(reader.read(pending[0], git_objects.COMMIT)).parents[:1])
