"""Extraction of a single file from a snapshot."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from podium.safefs.locks import explain_full_disk, write_all
from podium.safefs.open_nofollow import open_folder, replacing_file
from podium.workspace.history.blob_reader import BlobReader
from podium.workspace.history.file_records import SnapshotRecord
from podium.workspace.history.snapshot_manifest import SnapshotEntries, SnapshotEntry, SnapshotState


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
    reader: BlobReader,
    snapshot: SnapshotState,
    path: str,
    target: Path,
    limit_bytes: int,
    *,
    entry: SnapshotEntry | None = None,
) -> Extracted:
    """Write a file to `target`, completely or not at all; without `entry`, it is looked up by path."""
    entry = entry or find_entry(snapshot.entries, path)
    if entry is None:
        return _unstored(snapshot.record, path)
    if entry.kind == "folder":
        return Extracted("folder", None, "it is a folder")
    if entry.kind == "link":
        leads_to = os.fsdecode(reader.read(entry.id))
        return Extracted("link", None, f"its path contains a symbolic link to {leads_to!r}")
    size = reader.size(entry.id)
    if size > limit_bytes:
        return Extracted("too large", size, f"it has {size:,} bytes; at most {limit_bytes:,} are accepted")
    with explain_full_disk(target):
        _write_blob(reader, entry.id, target)
    return Extracted("file", size)


def find_entry(entries: SnapshotEntries, path: str) -> SnapshotEntry | None:
    """Return the entry at a path, or the symbolic link on the way to it."""
    parts = os.fsencode(path).split(b"/")
    for length in range(1, len(parts)):
        entry = entries.get(b"/".join(parts[:length]))
        if entry is not None and entry.kind != "folder":
            return entry if entry.kind == "link" else None
    return entries.get(b"/".join(parts))


def _unstored(record: SnapshotRecord, path: str) -> Extracted:
    for large in record.large:
        if large.path == path:
            return Extracted("large", large.size_bytes, f"it is too large to be stored: {large.size_bytes:,} bytes")
    for note in record.left_out:
        if note.path in ("", path) or path.startswith(note.path + "/"):
            return Extracted("left out", None, note.reason)
    return Extracted("absent", None, "there is no such file")


def _write_blob(reader: BlobReader, identity: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = open_folder(target.parent)
    try:
        with replacing_file(folder, target.name) as descriptor:
            reader.stream(identity, lambda piece: write_all(descriptor, piece))
    finally:
        os.close(folder)
