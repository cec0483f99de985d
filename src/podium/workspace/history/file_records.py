"""Snapshot record: the files that a snapshot lists without their content."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from podium.errors import RecordError

LeftOutKind = Literal["fifo", "socket", "device", "unreadable", "changing", "deep", "crowded", "full"]

MAX_RECORD_BYTES = 16 << 20
"""Maximum size of an encoded record: a larger one could not be read back, and names can be very long."""
_LISTED = 10_000
_CHARACTER_BYTES, _NOTE_BYTES = 6, 256  # maximum per path character in JSON, and for the other fields


@cache
def _adapter() -> TypeAdapter[SnapshotRecord]:
    return TypeAdapter(SnapshotRecord)


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A large file, recorded by name, size and hash."""

    path: str
    size_bytes: int
    sha256: str | None
    """None if hashing it would exceed the limit of one snapshot."""
    executable: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item of the workspace that is only listed by name."""

    path: str
    kind: LeftOutKind
    """Reason in one word; `crowded` and `deep` folders were read in part or not at all."""
    reason: str


def note_bytes(note: LargeFile | LeftOut) -> int:
    """Return the maximum encoded size of an item."""
    return _CHARACTER_BYTES * len(note.path) + _NOTE_BYTES


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """Large and left-out files of one snapshot, ordered by path."""

    large: tuple[LargeFile, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    unlisted: int = 0
    """Number of further items that are not listed; a restore then removes nothing, as it could be one of them."""

    @classmethod
    def of(cls, large: Iterable[LargeFile], left_out: Iterable[LeftOut], *, unlisted: int) -> SnapshotRecord:
        """Create the record of one scan, with a limit on the number of left-out items."""
        # Folders first: a restore would empty a partly recorded folder that is not listed.
        kept = sorted(left_out, key=lambda note: (note.kind not in ("crowded", "deep"), note.path))
        listed = sorted(kept[:_LISTED], key=lambda note: note.path)
        unlisted += len(kept) - len(listed)
        return cls(tuple(sorted(large, key=lambda note: note.path)), tuple(listed), unlisted)

    def encode(self) -> bytes:
        """Return the record as JSON, as it is stored next to the file tree."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()

    @classmethod
    def decode(cls, data: bytes) -> SnapshotRecord:
        """Decode a record from JSON.

        Raises:
            RecordError: the data is not a valid record.
        """
        try:
            return _adapter().validate_json(data)
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"]
            raise RecordError(f"The record of a snapshot is malformed: {reason}") from error
