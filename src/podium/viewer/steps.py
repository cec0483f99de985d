"""A run's journal as pages need it: where each line lies, so that only those shown are read and parsed.

`podium.workspace.journal` checks the chain and hashes everything, which is what verifying is for. Here a journal may
still be growing, have thousands of steps, or hold a line of many megabytes.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from podium.errors import RecordError

LINE_BYTES = 2_000_000
"""Longer lines are not parsed; what their ends say is enough to show the rest of the step."""
_HEAD_BYTES, _TAIL_BYTES, _CHUNK_BYTES = 512, 2048, 1 << 20
_HEAD = re.compile(
    rb'\{"n": \d+, "previous": "[0-9a-f]{64}", "kind": "(?P<kind>\w+)", "time": "(?P<time>[^"\\]*)"'
    rb'(?:, "action": (?P<action>"(?:[^"\\]|\\.)*"), "arguments": \{(?:"number": (?P<number>\d+)[,}])?)?'
)
_TAIL = re.compile(
    rb', "seconds": (?P<seconds>[0-9.e+-]+), "used": (?P<used>\{[^{}]*\}), "snapshot": "(?P<snapshot>[0-9a-f]{64})", '
    rb'"decision": (?P<decision>\d+), "place": (?P<place>\d+), "of": (?P<of>\d+), "state": "(?P<state>[0-9a-f]{64})", '
    rb'"check": "[0-9a-f]+"\}\Z'
)
_WORKED = re.compile(rb'"used": \{"working_s": ([0-9.e+-]+)')


class Place(NamedTuple):
    """Where a line lies, and what a list shows of it."""

    offset: int
    length: int
    kind: str
    time: str
    action: str
    number: int | None
    """The first argument where it is a script's number."""
    working_s: float | None
    """Working time used until then."""


class StepLines:
    """The lines of one journal, taken in as they are written. May be used from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._inode, self._end = 0, 0
        self._lines: list[Place] = []
        self._steps: list[Place] = []

    def update(self) -> StepLines:
        """Takes in what has been written since; a journal that was cut or replaced is read anew."""
        with self._lock, self._opened() as descriptor:
            facts = os.fstat(descriptor)
            if facts.st_ino != self._inode or facts.st_size < self._end:
                self._inode, self._end, self._lines, self._steps = facts.st_ino, 0, [], []
            for start, length in _new_lines(descriptor, self._end):
                place = _examine(descriptor, start, length)
                self._lines.append(place)
                if place.kind == "step":
                    self._steps.append(place)
                self._end = start + length + 1
        return self

    @property
    def steps(self) -> list[Place]:
        """The lines of steps; the first is step 1."""
        return self._steps

    @property
    def size_bytes(self) -> int:
        return self._end

    def first(self) -> dict[str, Any]:
        """What the journal begins with."""
        return self.read(self._lines[0]) if self._lines else {}

    def last(self) -> dict[str, Any]:
        """What the journal ends with, so far."""
        return self.read(self._lines[-1]) if self._lines else {}

    def step(self, number: int) -> dict[str, Any]:
        """The line of a step.

        Raises:
            RecordError: there is no such step, or its line is malformed.
        """
        if not 1 <= number <= len(self._steps):
            raise RecordError(f"This run has {len(self._steps)} steps so far; there is no step {number}.")
        return self.read(self._steps[number - 1])

    def read(self, place: Place) -> dict[str, Any]:
        """A line; of a very long one only what stands at its ends, and `too_long` says how long it is."""
        with self._opened() as descriptor:
            if place.length > LINE_BYTES:
                return _ends(descriptor, place)
            data = os.pread(descriptor, place.length, place.offset)
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"A line of {self.path} is malformed. Run: podium verify {self.path.parent}") from error
        if not isinstance(fields, dict):
            raise RecordError(f"A line of {self.path} is malformed. Run: podium verify {self.path.parent}")
        return fields

    def pieces(self, place: Place) -> Iterator[bytes]:
        """A line as it stands, piece by piece."""
        with self._opened() as descriptor:
            for offset in range(place.offset, place.offset + place.length, _CHUNK_BYTES):
                yield os.pread(descriptor, min(_CHUNK_BYTES, place.offset + place.length - offset), offset)

    def _opened(self) -> _Opened:
        return _Opened(self.path)


class _Opened:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> int:
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise RecordError(f"There is no journal {self._path} ({error.strerror}).") from error
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _new_lines(descriptor: int, start: int) -> Iterator[tuple[int, int]]:
    """Offset and length of the whole lines from `start` on; one that has no end yet does not count."""
    position = start
    while chunk := os.pread(descriptor, _CHUNK_BYTES, position):
        found = chunk.find(b"\n")
        while found >= 0:
            yield start, position + found - start
            start = position + found + 1
            found = chunk.find(b"\n", found + 1)
        position += len(chunk)


def _examine(descriptor: int, start: int, length: int) -> Place:
    head = _HEAD.match(os.pread(descriptor, min(length, _HEAD_BYTES), start))
    if head is None:
        return Place(start, length, "", "", "", None, None)
    size = min(length, _TAIL_BYTES)
    worked = _WORKED.findall(os.pread(descriptor, size, start + length - size))
    return Place(
        start,
        length,
        head["kind"].decode(),
        head["time"].decode("utf-8", "replace"),
        _text(head["action"]) if head["action"] else "",
        int(head["number"]) if head["number"] else None,
        # Of several, the last is ours: what an agent wrote stands before it.
        float(worked[-1]) if worked else None,
    )


def _ends(descriptor: int, place: Place) -> dict[str, Any]:
    tail = _TAIL.search(os.pread(descriptor, _TAIL_BYTES, place.offset + place.length - _TAIL_BYTES))
    fields: dict[str, Any] = {"kind": place.kind, "time": place.time, "action": place.action, "too_long": place.length}
    fields |= {"arguments": {}, "observation": ""}
    if tail is None:
        return fields
    numbers = {name: int(tail[name]) for name in ("decision", "place", "of")}
    texts = {name: tail[name].decode() for name in ("snapshot", "state")}
    return {**fields, **numbers, **texts, "seconds": float(tail["seconds"]), "used": json.loads(tail["used"])}


def _text(quoted: bytes) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return ""
