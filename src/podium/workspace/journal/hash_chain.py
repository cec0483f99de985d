"""Byte format of the journal: framing, hash chain and checks of its lines.

    {"n": 1, "previous": "…", "kind": "start", …, "check": "…"}

`n` is the line's number, `previous` the SHA-256 of the previous line without its newline, `check` the first digits of
the SHA-256 of the line up to that field. The chain reveals later changes; the check reveals an incomplete last line.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from podium.errors import RecordError
from podium.safefs.locks import write_all
from podium.safefs.open_nofollow import open_regular

START = hashlib.sha256(b"podium journal 4").hexdigest()
"""Previous hash of the first line."""
MAX_LINE_BYTES = 1 << 20
"""Maximum length of a line; long texts are kept in blobs, so longer lines are rejected."""

_CHUNK_BYTES = 1 << 18
_CHECK_DIGITS = 16
_HEAD = re.compile(rb'\{"n": ([1-9][0-9]{0,14}), "previous": "([0-9a-f]{64})"')
_TAIL = re.compile(rb', "check": "([0-9a-f]{%d})"\}' % _CHECK_DIGITS)
_TAIL_BYTES = len(', "check": ""}') + _CHECK_DIGITS


@dataclass(frozen=True, slots=True)
class TornEnd:
    """Incomplete or damaged end of a journal."""

    offset: int
    data: bytes
    reason: str
    kept_in: Path | None = None
    """File with a copy of the torn end, once the journal was opened for writing."""


class LinePosition(NamedTuple):
    """Position and hash of a line."""

    offset: int
    length: int
    sha256: str


@contextlib.contextmanager
def open_journal(path: Path, top: Path | None) -> Iterator[int]:
    """Open a journal for reading; rejects links, pipes and folders, which a hostile owner may have put in its place.

    Args:
        top: folder from which on links are not followed; by default the journal's folder.
    """
    try:
        descriptor = open_regular(path, top=top)
    except OSError as error:
        raise RecordError(f"There is no journal at {path} ({error.strerror}).") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def encode_line(n: int, previous: str, fields: Mapping[str, Any]) -> bytes:
    """Return an encoded line without its newline."""
    start = json.dumps({"n": n, "previous": previous, **fields}, allow_nan=False)[:-1].encode("ascii")
    return start + b', "check": "%s"}' % _check_of(hashlib.sha256(start).hexdigest())


def event_json(line: bytes) -> bytes:
    """Return the JSON of a line without the fields of the hash chain.

    Raises:
        ValueError: it is not a journal line.
    """
    head, tail = _frame(line)
    if head is None or tail is None:
        raise ValueError("it is not a journal line")
    return b"{" + line[head.end() + len(", ") : -_TAIL_BYTES] + b"}"


def _frame(line: bytes) -> tuple[re.Match[bytes] | None, re.Match[bytes] | None]:
    return _HEAD.match(line), _TAIL.fullmatch(line, max(0, len(line) - _TAIL_BYTES))


def complete_lines(descriptor: int, offset: int, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the complete lines from an offset on, each with its own offset; an unfinished last line is skipped.

    Raises:
        RecordError: a line is too long.
    """
    pending = b""
    position = offset
    while chunk := os.pread(descriptor, _CHUNK_BYTES, position):
        position += len(chunk)
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            yield offset, line
            offset += len(line) + 1
        if len(pending) > MAX_LINE_BYTES:
            raise RecordError(f"{path} has a line of more than {MAX_LINE_BYTES:,} bytes, more than Podium writes.")


def check_chain(path: Path, descriptor: int) -> tuple[list[LinePosition], TornEnd | None]:
    """Check the hash chain of a journal; return the positions of its valid lines and the torn end."""
    positions: list[LinePosition] = []
    offset, head = 0, START
    for offset, line in complete_lines(descriptor, 0, path):
        checked = _check_line(line, len(positions) + 1, head)
        if isinstance(checked, _Fault):
            return positions, _torn(path, descriptor, offset, len(positions) + 1, checked.reason)
        head = checked
        positions.append(LinePosition(offset, len(line), head))
        offset += len(line) + 1
    if os.fstat(descriptor).st_size > offset:
        return positions, _torn(path, descriptor, offset, len(positions) + 1, "it is incomplete")
    return positions, None


def _torn(path: Path, descriptor: int, offset: int, n: int, reason: str) -> TornEnd:
    """Return the torn end, or raise an error if it is more than a crash can leave."""
    rest = os.pread(descriptor, 2 * MAX_LINE_BYTES, offset)
    if _HEAD.search(rest, 1):
        raise RecordError(
            f"Line {n} of {path} is damaged: {reason}. More lines follow, so a crash did not cause this. Restore the "
            "file from a copy."
        )
    return TornEnd(offset, rest, reason)


class _Fault(NamedTuple):
    reason: str


def _check_line(line: bytes, n: int, previous: str) -> str | _Fault:
    """Return the hash of a line, or its fault."""
    head, tail = _frame(line)
    if head is None or tail is None:
        return _Fault("it is not a journal line")
    digest = hashlib.sha256(line[:-_TAIL_BYTES])
    if _check_of(digest.hexdigest()) != tail[1]:
        return _Fault("its content does not match its check")
    if int(head[1]) != n:
        return _Fault(f"its line number is {int(head[1])}")
    if head[2].decode() != previous:
        return _Fault("it does not contain the hash of the previous line")
    digest.update(line[-_TAIL_BYTES:])
    return digest.hexdigest()


def _check_of(digest: str) -> bytes:
    return digest[:_CHECK_DIGITS].encode("ascii")


def cut_torn_end(path: Path, descriptor: int, torn: TornEnd) -> TornEnd:
    """Save the torn end to a file, then truncate the journal, so that a kill in between loses nothing."""
    aside = next(each for each in _asides(path) if not os.path.lexists(each))
    copy = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        write_all(copy, torn.data)
        os.fdatasync(copy)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    finally:
        os.close(copy)
    sync_folder(path.parent)
    os.ftruncate(descriptor, torn.offset)
    os.fdatasync(descriptor)
    return TornEnd(torn.offset, torn.data, torn.reason, aside)


def _asides(path: Path) -> Iterator[Path]:
    number = 1
    while True:
        yield path.with_name(f"{path.name}.torn-{number}")
        number += 1


def sync_folder(folder: Path) -> None:
    """Flush the directory entries of a folder to disk (fsync)."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
