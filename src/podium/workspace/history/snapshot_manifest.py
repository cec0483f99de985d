"""Manifests: the files of a snapshot by path, with mode, size and content id.

A manifest lists what changed since its parent; a complete one follows at least every 256 steps, so that an unchanged
file costs nothing and any snapshot is read from at most 256 manifests. Paths are bytes: every name that Linux allows
round-trips.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from podium.errors import RecordError
from podium.workspace.history.blob_reader import BlobReader, check_id
from podium.workspace.history.file_records import SnapshotRecord

MAX_DEPTH = 200
"""Deepest folder accepted when reading."""
MAX_CHAIN = 256
"""Largest number of manifests that a snapshot is read from."""
_MAX_ENTRIES = 1_000_000
_MAX_MESSAGE_CHARACTERS = 10_000

EntryKind = Literal["file", "executable", "link", "folder"]
_LETTERS: dict[EntryKind, bytes] = {"file": b"f", "executable": b"x", "link": b"l", "folder": b"d"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}
_LINE = re.compile(rb"([fxl]) ([0-9a-f]{64}) (\d{1,20}) (.+)|([d-]) (.+)", re.DOTALL)


class SnapshotEntry(NamedTuple):
    """A stored file, link or folder of a snapshot."""

    kind: EntryKind
    id: str = ""
    """Content id; the target of a link is content too."""
    size_bytes: int = 0


FOLDER = SnapshotEntry("folder")
SnapshotEntries = dict[bytes, SnapshotEntry]
"""Entries by path."""
SnapshotTree = dict[str, "SnapshotEntry | SnapshotTree"]
"""Entries as nested folders."""


@dataclass(frozen=True)
class SnapshotManifest:
    """One snapshot as it is stored."""

    parent: str | None
    message: str
    time_s: int
    record: str
    """Blob id of the `SnapshotRecord`."""
    chain: int
    """Number of manifests below this one that its entries build on; 0 for a complete manifest."""
    changes: Mapping[bytes, SnapshotEntry | None] = field(repr=False)
    """New and changed entries by path; None for a removed one."""

    @property
    def id(self) -> str:
        """Hash of the encoded manifest."""
        return hashlib.sha256(self.encode()).hexdigest()

    def encode(self) -> bytes:
        """Return the manifest as bytes: a JSON header, then an entry per path, separated by NUL."""
        header = {
            "format": 1,
            "parent": self.parent,
            "message": self.message[:_MAX_MESSAGE_CHARACTERS],
            "time_s": self.time_s,
            "record": self.record,
            "chain": self.chain,
        }
        lines = [_line(path, entry) for path, entry in sorted(self.changes.items())]
        return b"\0".join([json.dumps(header, sort_keys=True).encode(), *lines])

    @classmethod
    def decode(cls, data: bytes) -> SnapshotManifest:
        """Decode a manifest.

        Raises:
            RecordError: it is malformed.
        """
        head, *lines = data.split(b"\0")
        if len(lines) > _MAX_ENTRIES:
            raise RecordError(f"A snapshot lists more than {_MAX_ENTRIES:,} files.")
        try:
            match json.loads(head):
                case {
                    "format": 1,
                    "parent": str() | None as parent,
                    "message": str(message),
                    "time_s": int(time_s),
                    "record": str(record),
                    "chain": int(chain),
                }:
                    parent = None if parent is None else check_id(parent)
                    return cls(parent, message, time_s, check_id(record), chain, dict(map(_parsed, lines)))
        except (ValueError, RecursionError):
            pass
        raise RecordError("The manifest of a snapshot is malformed.")


class SnapshotState(NamedTuple):
    """All files of a snapshot."""

    entries: SnapshotEntries
    record: SnapshotRecord
    chain: int


NOTHING = SnapshotState({}, SnapshotRecord(), MAX_CHAIN)
"""The empty snapshot."""


class SnapshotReader:
    """Reader of snapshots that keeps the last one, so that reading a history in order costs what changed."""

    def __init__(self, blobs: BlobReader) -> None:
        self.blobs = blobs
        self._last: tuple[str, SnapshotEntries] = ("", {})

    def manifest(self, identity: str) -> SnapshotManifest:
        """Return a manifest.

        Raises:
            RecordError: it is missing or malformed.
        """
        return SnapshotManifest.decode(self.blobs.read(identity))

    def read(self, identity: str) -> SnapshotState:
        """Return a snapshot.

        Raises:
            RecordError: a part is missing or malformed.
        """
        manifest = self.manifest(identity)
        record = SnapshotRecord.decode(self.blobs.read(manifest.record))
        return SnapshotState(self._entries(identity, manifest), record, manifest.chain)

    def ancestry(self, identity: str) -> Iterator[tuple[str, SnapshotManifest]]:
        """Yield a snapshot and its ancestors, newest first."""
        seen: set[str] = set()
        pending: str | None = identity
        while pending is not None:
            if pending in seen:
                raise RecordError("The snapshots of a history form a circle.")
            seen.add(pending)
            manifest = self.manifest(pending)
            yield pending, manifest
            pending = manifest.parent

    def _entries(self, identity: str, manifest: SnapshotManifest) -> SnapshotEntries:
        chain: list[SnapshotManifest] = []
        known, entries = self._last
        at: str | None = identity
        while at != known:
            chain.append(manifest)
            if manifest.chain == 0:
                entries = {}
                break
            at = manifest.parent
            if at is None or len(chain) > MAX_CHAIN:
                raise RecordError(f"Snapshot {identity} builds on more than {MAX_CHAIN} others, or on none.")
            if at != known:
                manifest = self.manifest(at)
        entries = apply(entries, reversed(chain))
        self._last = identity, entries
        return entries


def apply(entries: SnapshotEntries, manifests: Iterator[SnapshotManifest]) -> SnapshotEntries:
    """Return the entries after some manifests, oldest first."""
    entries = dict(entries)
    for manifest in manifests:
        for path, entry in manifest.changes.items():
            if entry is None:
                entries.pop(path, None)
            else:
                entries[path] = entry
    if len(entries) > _MAX_ENTRIES:
        raise RecordError(f"A snapshot lists more than {_MAX_ENTRIES:,} files.")
    return entries


def differences(older: SnapshotEntries, newer: SnapshotEntries) -> dict[bytes, SnapshotEntry | None]:
    """Return new and changed entries by path, and None for each removed one."""
    changes: dict[bytes, SnapshotEntry | None] = {
        path: entry for path, entry in newer.items() if older.get(path) != entry
    }
    changes.update(dict.fromkeys(path for path in older if path not in newer))
    return changes


def as_tree(entries: SnapshotEntries) -> SnapshotTree:
    """Return entries as nested folders.

    Raises:
        RecordError: a path is a file and a folder at the same time.
    """
    root: SnapshotTree = {}
    for path, entry in entries.items():
        *above, name = map(os.fsdecode, path.split(b"/"))
        folder: SnapshotEntry | SnapshotTree | None = root
        for part in above:
            folder = folder.setdefault(part, {}) if isinstance(folder, dict) else None
        if not isinstance(folder, dict):
            raise RecordError(f"A snapshot lists files below {path!r:.200}, which is a file.")
        node = folder.setdefault(name, {} if entry.kind == "folder" else entry)
        if isinstance(node, dict) is not (entry.kind == "folder"):
            raise RecordError(f"A snapshot lists {path!r:.200} as a file and as a folder.")
    return root


def _line(path: bytes, entry: SnapshotEntry | None) -> bytes:
    if entry is None:
        return b"- " + path
    if entry.kind == "folder":
        return b"d " + path
    return b"%b %b %d %b" % (_LETTERS[entry.kind], entry.id.encode(), entry.size_bytes, path)


def _parsed(line: bytes) -> tuple[bytes, SnapshotEntry | None]:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError("not an entry")
    letter, identity, size, path, other, other_path = match.groups()
    path = path or other_path
    parts = path.split(b"/")
    if len(parts) > MAX_DEPTH or any(part in (b"", b".", b"..") for part in parts):
        raise RecordError(f"The manifest of a snapshot lists an impossible path: {path!r:.200}")
    if letter is None:
        return path, FOLDER if other == b"d" else None
    return path, SnapshotEntry(_KINDS[letter], identity.decode(), int(size))
