"""A snapshot read back: a commit whose tree holds the workspace's files and, beside them, a record of the others."""

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
_MOST_ENTRIES = 1_000_000
DEEPEST = 200
"""A walk takes in far less; a stranger may have made a tree of trees that are all the same."""


class SnapshotContent(NamedTuple):
    """What a commit of the history holds."""

    tree: bytes
    record: SnapshotRecord


NOTHING = SnapshotContent(git_objects.EMPTY_TREE, SnapshotRecord())


def read_snapshot(reader: Reader, commit: str) -> SnapshotContent:
    """The snapshot behind a commit.

    Raises:
        RecordError: it is missing or damaged, or not a snapshot.
    """
    root = git_objects.decode_commit(reader.read(commit, git_objects.COMMIT)).tree
    entries = {entry.name: entry for entry in git_objects.decode_tree(reader.read(root, git_objects.TREE))}
    if entries.keys() != {FILES, RECORD}:
        raise RecordError(f"Commit {commit} is not a snapshot of a workspace.")
    record = SnapshotRecord.decode(reader.read(entries[RECORD].id.hex(), git_objects.BLOB))
    return SnapshotContent(entries[FILES].id, record)


def files_of(reader: Reader, tree: bytes) -> Iterator[tuple[str, TreeEntry]]:
    """Every file and link below a tree, with its path.

    Raises:
        RecordError: the tree is damaged, or holds more than Podium puts into one.
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
    """Refuses a tree that nobody could walk through, at the price of its different folders.

    Raises:
        RecordError: it holds more files, or deeper folders, than Podium puts into a snapshot.
    """
    known: dict[bytes, tuple[int, int]] = {}

    def extent(folder: bytes, depth: int) -> tuple[int, int]:
        """How many entries lie below a folder, and how many folders deep."""
        if folder not in known and depth <= DEEPEST:
            entries = read_tree(reader, folder)
            below = [extent(entry.id, depth + 1) for entry in entries if entry.mode == git_objects.FOLDER]
            known[folder] = len(entries) + sum(count for count, _ in below), 1 + max((n for _, n in below), default=0)
        count, height = known.get(folder, (0, 0))
        if depth + height > DEEPEST or count > _MOST_ENTRIES:
            raise RecordError("A snapshot holds more files or deeper folders than Podium puts into one.")
        return count, height

    extent(tree, 0)


def read_tree(reader: Reader, tree: bytes) -> list[TreeEntry]:
    """The entries of a folder."""
    return git_objects.decode_tree(reader.read(tree.hex(), git_objects.TREE)) if tree != git_objects.EMPTY_TREE else []


def chain_of(reader: Reader, commit: str) -> Iterator[str]:
    """A snapshot and all before it, the newest first."""
    pending = [commit]
    while pending:
        yield pending[0]
        pending = list(git_objects.decode_commit(reader.read(pending[0], git_objects.COMMIT)).parents[:1])
