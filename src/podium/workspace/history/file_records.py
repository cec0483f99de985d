"""What a snapshot says about the files whose content it does not hold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from podium.errors import RecordError

LeftOutKind = Literal["fifo", "socket", "device", "unreadable", "changing", "deep", "crowded", "full"]

RECORD_BYTES = 16 << 20
"""How long a record grows: what is longer could not be read again. Names may be as long as pages."""
_LISTED = 10_000
_CHARACTER_BYTES, _NOTE_BYTES = 6, 256  # at most: one of a path as JSON, and all that stands beside it


@cache
def _adapter() -> TypeAdapter[SnapshotRecord]:
    return TypeAdapter(SnapshotRecord)


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A file recorded by name, size and hash."""

    path: str
    size_bytes: int
    sha256: str | None
    """None when the file is longer than one snapshot may hash."""
    executable: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something in the workspace that a snapshot can only name."""

    path: str
    kind: LeftOutKind
    """`crowded` and `deep` are folders of which a part, or all, was not looked at."""
    reason: str


def note_bytes(note: LargeFile | LeftOut) -> int:
    """How much room something takes in a record, at most."""
    return _CHARACTER_BYTES * len(note.path) + _NOTE_BYTES


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """The large and the left-out files of one snapshot, ordered by path."""

    large: tuple[LargeFile, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    unlisted: int = 0
    """How many more there were than are listed; a restore then removes nothing, as any of them may be wanted."""

    @classmethod
    def of(cls, large: Iterable[LargeFile], left_out: Iterable[LeftOut], *, unlisted: int) -> SnapshotRecord:
        """The record of one walk; a program that makes a million pipes does not make a record of a million lines."""
        # Folders first: a restore that does not know them to be partly recorded would empty them.
        kept = sorted(left_out, key=lambda note: (note.kind not in ("crowded", "deep"), note.path))
        listed = sorted(kept[:_LISTED], key=lambda note: note.path)
        unlisted += len(kept) - len(listed)
        return cls(tuple(sorted(large, key=lambda note: note.path)), tuple(listed), unlisted)

    def encode(self) -> bytes:
        """The JSON document that lies beside the tree of files."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()

    @classmethod
    def decode(cls, data: bytes) -> SnapshotRecord:
        """The record in a document.

        Raises:
            RecordError: it is not such a document.
        """
        try:
            return _adapter().validate_json(data)
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"]
            raise RecordError(f"The record of a snapshot is malformed: {reason}") from error
