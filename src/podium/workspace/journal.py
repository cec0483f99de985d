"""The journal of a run: one JSON object per line, each carrying the hash of the line before.

    {"n": 1, "previous": "…", …, "check": "…"}

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
from typing import IO, Any, NamedTuple

from podium.errors import RecordError, UsageError
from podium.workspace.locks import full_disk_explained, take_lock, write_all

START = hashlib.sha256(b"podium journal 1").hexdigest()
"""What the first line carries as the hash of the one before."""

_CHECK_DIGITS = 16
_OURS = frozenset({"n", "previous", "check"})
_HEAD = re.compile(rb'\{"n": ([1-9][0-9]*), "previous": "([0-9a-f]{64})"')
_TAIL = re.compile(rb', "check": "([0-9a-f]{%d})"\}' % _CHECK_DIGITS)
_TAIL_BYTES = len(', "check": ""}') + _CHECK_DIGITS


class Line(NamedTuple):
    """One line of the journal."""

    n: int
    sha256: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Torn:
    """What stood after the last whole line."""

    offset: int
    data: bytes
    reason: str
    kept_in: Path | None = None
    """Where it was put when the journal was opened for writing."""


class _Place(NamedTuple):
    offset: int
    length: int
    sha256: str


class Lines:
    """The whole lines of a journal, each parsed only when it is asked for."""

    def __init__(self, path: Path, places: list[_Place], torn: Torn | None) -> None:
        self.path = path
        self.torn = torn
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Line]:
        return (self.read(n) for n in range(1, len(self) + 1))

    @property
    def head(self) -> str:
        """The hash of the last line: it stands for the whole journal."""
        return self._places[-1].sha256 if self._places else START

    def read(self, n: int) -> Line:
        """The line with number `n`, counted from 1.

        Raises:
            RecordError: there is no such line, or it has been altered since the journal was opened.
        """
        if not 1 <= n <= len(self):
            raise RecordError(f"{self.path} has {len(self)} lines; there is no line {n}.")
        place = self._places[n - 1]
        with self.path.open("rb") as file:
            file.seek(place.offset)
            data = file.read(place.length)
        if hashlib.sha256(data).hexdigest() != place.sha256:
            raise RecordError(f"Line {n} of {self.path} has been altered.")
        fields = json.loads(data)
        return Line(n, place.sha256, {name: value for name, value in fields.items() if name not in _OURS})


def read_journal(path: Path) -> Lines:
    """The lines of a journal after a check of its chain; nothing is written, a torn end is left and told.

    Raises:
        RecordError: there is no such journal, or a line before the last is damaged.
    """
    try:
        with path.open("rb") as file:
            places, torn = _examine(path, file)
    except FileNotFoundError as error:
        raise RecordError(f"There is no journal {path}.") from error
    return Lines(path, places, torn)


class Journal(Lines):
    """A journal open for writing, by one process at a time."""

    def __init__(self, path: Path, places: list[_Place], torn: Torn | None, descriptor: int) -> None:
        super().__init__(path, places, torn)
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path, *, patience_s: float = 5) -> Journal:
        """The journal at `path`, made if need be; a torn end is cut off and kept in a file beside it.

        Raises:
            RecordError: a line before the last is damaged, or another process is writing.
        """
        with full_disk_explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                take_lock(descriptor, path, patience_s=patience_s)
                _sync_folder(path.parent)
                lines = read_journal(path)
                torn = _cut_off(path, descriptor, lines.torn) if lines.torn else None
                return cls(path, lines._places, torn, descriptor)
            except BaseException:
                os.close(descriptor)
                raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets another process write."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def append(self, fields: Mapping[str, Any]) -> Line:
        """The line that now ends the journal, on disk when this returns.

        Raises:
            UsageError: a field is not JSON, or has a name the journal uses itself.
            RecordError: the disk is full; the journal is as it was before.
        """
        n = len(self) + 1
        data = _encode(n, self.head, fields)
        offset = self._places[-1].offset + self._places[-1].length + 1 if self._places else 0
        with full_disk_explained(self.path):
            if os.fstat(self._descriptor).st_size != offset:
                os.ftruncate(self._descriptor, offset)  # an `append` was interrupted before it could return its line
            try:
                write_all(self._descriptor, data + b"\n")
                os.fdatasync(self._descriptor)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, offset)
                raise
        place = _Place(offset, len(data), hashlib.sha256(data).hexdigest())
        self._places.append(place)
        return Line(n, place.sha256, dict(fields))


def _encode(n: int, previous: str, fields: Mapping[str, Any]) -> bytes:
    taken = sorted(_OURS & fields.keys())
    if taken:
        raise UsageError(f"A journal line has its own {taken[0]!r}; choose another name for that field.")
    try:
        text = json.dumps({"n": n, "previous": previous, **fields}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"A journal line must be plain JSON: {error}") from error
    start = text[:-1].encode("ascii")
    return start + b', "check": "%s"}' % _check_of(hashlib.sha256(start).hexdigest())


def _check_of(digest: str) -> bytes:
    return digest[:_CHECK_DIGITS].encode("ascii")


def _examine(path: Path, file: IO[bytes]) -> tuple[list[_Place], Torn | None]:
    places: list[_Place] = []
    offset, head = 0, START
    for raw in file:
        checked = _check_line(raw, len(places) + 1, head)
        if isinstance(checked, _Fault):
            rest = file.read()
            if _HEAD.search(raw + rest, 1):
                raise RecordError(
                    f"Line {len(places) + 1} of {path} is damaged: {checked.reason}. Lines follow it, so this is no "
                    "trace of a crash; restore the file from a copy."
                )
            return places, Torn(offset, raw + rest, checked.reason)
        head = checked
        places.append(_Place(offset, len(raw) - 1, head))
        offset += len(raw)
    return places, None


class _Fault(NamedTuple):
    reason: str


def _check_line(raw: bytes, n: int, previous: str) -> str | _Fault:
    """The hash of a line, or what is wrong with it.

    A line that ends with the check of its own beginning is one that `append` wrote, hence JSON: it need not be parsed.
    """
    if not raw.endswith(b"\n"):
        return _Fault("it has no end")
    line = raw[:-1]
    head, tail = _HEAD.match(line), _TAIL.fullmatch(line, len(line) - _TAIL_BYTES)
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


def _cut_off(path: Path, descriptor: int, torn: Torn) -> Torn:
    """Keeps the torn end aside before it is cut, so that being killed in between loses nothing."""
    aside = next(each for each in _asides(path) if not each.exists())
    copy = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        write_all(copy, torn.data)
        os.fdatasync(copy)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    finally:
        os.close(copy)
    _sync_folder(path.parent)
    os.ftruncate(descriptor, torn.offset)
    os.fdatasync(descriptor)
    return Torn(torn.offset, torn.data, torn.reason, aside)


def _asides(path: Path) -> Iterator[Path]:
    number = 1
    while True:
        yield path.with_name(f"{path.name}.torn-{number}")
        number += 1


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
