"""Extraction of a single file from a snapshot."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from podium.safefs.locks import explain_full_disk, write_all
from podium.safefs.open_nofollow import open_folder, replacing_file
from podium.workspace.history.file_records import SnapshotRecord
from podium.workspace.history.git import git_objects
from podium.workspace.history.git.git_objects import TreeEntry
from podium.workspace.history.git.git_reader import Reader
from podium.workspace.history.snapshots import SnapshotContent, read_tree


@dataclass(frozen=True, slots=True)
class Extracted:
    """Result of extracting a file from a snapshot."""

    kind: Literal["file", "absent", "link", "folder", "large", "too large", "left out"]
    size_bytes: int | None = None
    reason: str | None = None
    """Why there is no file, as a clause: "it is a named pipe"."""

    @property
    def is_file(self) -> bool:
        """True if the file was written."""
        return self.kind == "file"


def extract(
    reader: Reader,
    snapshot: SnapshotContent,
    path: str,
    target: Path,
    limit_bytes: int,
    *,
    entry: TreeEntry | None = None,
) -> Extracted:
    """Write a file to `target`, completely or not at all; without `entry`, it is looked up by path."""
    entry = entry or find_entry(reader, snapshot.tree, path)
    if entry is None:
        return _unstored(snapshot.record, path)
    if entry.mode == git_objects.FOLDER:
        return Extracted("folder", None, "it is a folder")
    if entry.mode == git_objects.LINK:
        leads_to = os.fsdecode(reader.read(entry.id.hex(), git_objects.BLOB))
        return Extracted("link", None, f"its path contains a symbolic link to {leads_to!r}")
    size = reader.size(entry.id.hex())
    if size > limit_bytes:
        return Extracted("too large", size, f"it has {size:,} bytes; at most {limit_bytes:,} are accepted")
    with explain_full_disk(target):
        _write_blob(reader, entry.id.hex(), target)
    return Extracted("file", size)


def find_entry(reader: Reader, tree: bytes, path: str) -> TreeEntry | None:
    """Return the entry at a path, or the symbolic link on the way to it."""
    entry = TreeEntry(git_objects.FOLDER, b"", tree)
    for part in path.split("/"):
        if entry.mode != git_objects.FOLDER:
            return entry if entry.mode == git_objects.LINK else None
        found = next((each for each in read_tree(reader, entry.id) if each.name == os.fsencode(part)), None)
        if found is None:
            return None
        entry = found
    return entry


def _unstored(record: SnapshotRecord, path: str) -> Extracted:
    for large in record.large:
        if large.path == path:
            return Extracted("large", large.size_bytes, f"it is too large to be stored: {large.size_bytes:,} bytes")
    for note in record.left_out:
        if note.path in ("", path) or path.startswith(note.path + "/"):
            return Extracted("left out", None, note.reason)
    return Extracted("absent", None, "there is no such file")


def _write_blob(reader: Reader, identity: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = open_folder(target.parent)
    try:
        with replacing_file(folder, target.name) as descriptor:
            reader.stream(identity, lambda piece: write_all(descriptor, piece))
    finally:
        os.close(folder)
