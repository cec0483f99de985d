"""A snapshot read back: a commit whose tree holds the workspace's files and, beside them, a record of the others."""

from __future__ import annotations

from typing import NamedTuple

from podium.errors import RecordError
from podium.workspace import objects
from podium.workspace.git import Reader
from podium.workspace.record import Record

FILES, RECORD = b"workspace", b"record.json"


class Snapshot(NamedTuple):
    """What a commit of the history holds."""

    tree: bytes
    record: Record


NOTHING = Snapshot(objects.EMPTY_TREE, Record())


def read_snapshot(reader: Reader, commit: str) -> Snapshot:
    """The snapshot behind a commit.

    Raises:
        RecordError: it is missing or damaged, or no snapshot.
    """
    root = objects.decode_commit(reader.read(commit, objects.COMMIT)).tree
    entries = {entry.name: entry for entry in objects.decode_tree(reader.read(root, objects.TREE))}
    if entries.keys() != {FILES, RECORD}:
        raise RecordError(f"Commit {commit} is no snapshot of a workspace.")
    record = Record.decode(reader.read(entries[RECORD].id.hex(), objects.BLOB))
    return Snapshot(entries[FILES].id, record)
