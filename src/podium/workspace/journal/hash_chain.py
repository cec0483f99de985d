"""The lines of a journal as bytes: how they are framed, chained, found and checked.

    {"n": 1, "previous": "…", "kind": "start", …, "check": "…"}

`n` is the line's number, `previous` the SHA-256 of the bytes of the line before without its newline, `check` the first
digits of the SHA-256 of the line up to there. The chain shows what was altered later; the check shows a last line that
was never whole.
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

START = hashlib.sha256(b"podium journal 3").hexdigest()
"""What the first line carries as the hash of the one before."""
LINE_BYTES = 1 << 20
"""No line of ours is longer: long texts are kept elsewhere. A longer one is not read."""

_CHUNK_BYTES = 1 << 18
_CHECK_DIGITS = 16
_HEAD = re.compile(rb'\{"n": ([1-9][0-9]{0,14}), "previous": "([0-9a-f]{64})"')
_TAIL = re.compile(rb', "check": "([0-9a-f]{%d})"\}' % _CHECK_DIGITS)
_TAIL_BYTES = len(', "check": ""}') + _CHECK_DIGITS


@dataclass(frozen=True, slots=True)
class Torn:
    """What stood after the last whole line."""

    offset: int
    data: bytes
    reason: str
    kept_in: Path | None = None
    """Where it was put when the journal was opened for writing."""


class LinePosition(NamedTuple):
    """Where a line lies."""

    offset: int
    length: int
    sha256: str


@contextlib.contextmanager
def opened(path: Path, top: Path | None) -> Iterator[int]:
    """A journal for reading; whoever made the folder may have put a link, a pipe or a folder in its place.

    Args:
        top: from there on no link is followed; by default from the folder it lies in.
    """
    try:
        descriptor = open_regular(path, top=top)
    except OSError as error:
        raise RecordError(f"There is no journal {path} ({error.strerror}).") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def encode_line(n: int, previous: str, fields: Mapping[str, Any]) -> bytes:
    """A line without its newline."""
    start = json.dumps({"n": n, "previous": previous, **fields}, allow_nan=False)[:-1].encode("ascii")
    return start + b', "check": "%s"}' % _check_of(hashlib.sha256(start).hexdigest())


def event_of(line: bytes) -> bytes:
    """The JSON of a line without the fields that chain it.

    Raises:
        ValueError: it does not look like a line of ours.
    """
    head, tail = _frame(line)
    if head is None or tail is None:
        raise ValueError("it is not a line of a journal")
    return b"{" + line[head.end() + len(", ") : -_TAIL_BYTES] + b"}"


def _frame(line: bytes) -> tuple[re.Match[bytes] | None, re.Match[bytes] | None]:
    return _HEAD.match(line), _TAIL.fullmatch(line, max(0, len(line) - _TAIL_BYTES))


def whole_lines(descriptor: int, offset: int, path: Path) -> Iterator[tuple[int, bytes]]:
    """The whole lines from an offset on, each with its own offset; one that has no end yet does not count.

    Raises:
        RecordError: a line is longer than any of ours.
    """
    pending = b""
    position = offset
    while chunk := os.pread(descriptor, _CHUNK_BYTES, position):
        position += len(chunk)
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            yield offset, line
            offset += len(line) + 1
        if len(pending) > LINE_BYTES:
            raise RecordError(f"{path} has a line of more than {LINE_BYTES:,} bytes; Podium writes none so long.")


def examine(path: Path, descriptor: int) -> tuple[list[LinePosition], Torn | None]:
    """Where the lines of a journal lie, after a check of their chain, and what follows the last whole one."""
    positions: list[LinePosition] = []
    offset, head = 0, START
    for offset, line in whole_lines(descriptor, 0, path):
        checked = _check_line(line, len(positions) + 1, head)
        if isinstance(checked, _Fault):
            return positions, _torn(path, descriptor, offset, len(positions) + 1, checked.reason)
        head = checked
        positions.append(LinePosition(offset, len(line), head))
        offset += len(line) + 1
    if os.fstat(descriptor).st_size > offset:
        return positions, _torn(path, descriptor, offset, len(positions) + 1, "it has no end")
    return positions, None


def _torn(path: Path, descriptor: int, offset: int, n: int, reason: str) -> Torn:
    """What follows the last whole line, unless it is more than a crash leaves."""
    rest = os.pread(descriptor, 2 * LINE_BYTES, offset)
    if _HEAD.search(rest, 1):
        raise RecordError(
            f"Line {n} of {path} is damaged: {reason}. Lines follow it, so a crash did not do this; restore the file "
            "from a copy."
        )
    return Torn(offset, rest, reason)


class _Fault(NamedTuple):
    reason: str


def _check_line(line: bytes, n: int, previous: str) -> str | _Fault:
    """The hash of a line, or what is wrong with it."""
    head, tail = _frame(line)
    if head is None or tail is None:
        return _Fault("it is not a line of a journal")
    digest = hashlib.sha256(line[:-_TAIL_BYTES])
    if _check_of(digest.hexdigest()) != tail[1]:
        return _Fault("its content does not match its check")
    if int(head[1]) != n:
        return _Fault(f"it says it is line {int(head[1])}")
    if head[2].decode() != previous:
        return _Fault("it does not carry the hash of the line before")
    digest.update(line[-_TAIL_BYTES:])
    return digest.hexdigest()


def _check_of(digest: str) -> bytes:
    return digest[:_CHECK_DIGITS].encode("ascii")


def cut_off(path: Path, descriptor: int, torn: Torn) -> Torn:
    """Keeps the torn end aside before it is cut, so that being killed in between loses nothing."""
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
    return Torn(torn.offset, torn.data, torn.reason, aside)


def _asides(path: Path) -> Iterator[Path]:
    number = 1
    while True:
        yield path.with_name(f"{path.name}.torn-{number}")
        number += 1


def sync_folder(folder: Path) -> None:
    """Puts the names in a folder on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
