"""Snapshot record: the files that a snapshot lists without their content."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal, cast, get_args

from podium.errors import RecordError

LeftOutKind = Literal["fifo", "socket", "device", "unreadable", "changing", "deep", "crowded", "full"]

MAX_RECORD_BYTES = 16 << 20
"""Maximum size of an encoded record: a larger one could not be read back, and names can be very long."""
_LISTED = 10_000
_CHARACTER_BYTES, _NOTE_BYTES = 6, 256  # maximum per path character in JSON, and for the other fields


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
        """Return the record as JSON."""
        return json.dumps(asdict(self), sort_keys=True).encode()

    @classmethod
    def decode(cls, data: bytes) -> SnapshotRecord:
        """Decode a record from JSON.

        Raises:
            RecordError: it is malformed.
        """
        try:
            # The parser of pydantic refuses names that are not UTF-8, which JSON holds as lone surrogates.
            document = json.loads(data)
            large = tuple(_large_file(**note) for note in document["large"])
            left_out = tuple(_left_out(**note) for note in document["left_out"])
            return cls(large, left_out, _number(document["unlisted"]))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise RecordError("The record of a snapshot's unstored files is malformed.") from error


def _large_file(path: object, size_bytes: object, sha256: object, executable: object) -> LargeFile:
    digest = None if sha256 is None else _text(sha256)
    return LargeFile(_text(path), _number(size_bytes), digest, executable is True)


def _left_out(path: object, kind: object, reason: object) -> LeftOut:
    if kind not in get_args(LeftOutKind):
        raise ValueError("unknown kind")
    return LeftOut(_text(path), cast("LeftOutKind", kind), _text(reason))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("not a number")
    return value
