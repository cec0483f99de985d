"""The journal of a run: one event per line, in a chain of hashes.

`Journal` writes, `read_journal` checks the chain and reads, `JournalFollower` shows one that may be growing. This
module and `lines` alone know of bytes, offsets and torn ends; everyone else gets events.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from podium.errors import RecordError
from podium.safefs.locks import full_disk_explained, take_lock, write_all
from podium.safefs.open_nofollow import open_regular
from podium.workspace.journal.events import Event, Start, Step, parse_event
from podium.workspace.journal.hash_chain import (
    LINE_BYTES,
    START,
    LinePosition,
    Torn,
    cut_off,
    encode_line,
    event_of,
    examine,
    opened,
    sync_folder,
    whole_lines,
)

SomeEvent = TypeVar("SomeEvent", bound=Event)


class Line(NamedTuple):
    """An event and its line."""

    n: int
    event: Event


class JournalReader:
    """The events of a journal whose chain was checked, each parsed only when it is asked for."""

    def __init__(
        self, path: Path, positions: list[LinePosition], torn: Torn | None, *, top: Path | None = None
    ) -> None:
        self.path = path
        self.torn = torn
        self._top = top
        self._positions = positions

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[Event]:
        return (line.event for line in self.lines())

    def lines(self) -> Iterator[Line]:
        """All events with the numbers of their lines."""
        with opened(self.path, self._top) as descriptor:
            for n in range(1, len(self) + 1):
                yield Line(n, self._read(descriptor, n))

    @property
    def head(self) -> str:
        """The hash of the last line: it stands for the whole journal."""
        return self._positions[-1].sha256 if self._positions else START

    def hash_of(self, n: int) -> str:
        """The hash of line `n`, counted from 1."""
        return self._positions[n - 1].sha256

    @property
    def start(self) -> Start:
        """The first event.

        Raises:
            RecordError: the journal is empty or begins with something else.
        """
        event = self.read(1)
        if not isinstance(event, Start):
            raise RecordError(f"{self.path} begins with '{event.kind}', not with 'start'.")
        return event

    @property
    def last(self) -> Event:
        """The last event."""
        return self.read(len(self))

    @property
    def snapshot(self) -> str:
        """The newest snapshot of the workspace."""
        for n in range(len(self), 0, -1):
            snapshot: str | None = getattr(self.read(n), "snapshot", None)
            if snapshot is not None:
                return snapshot
        raise RecordError(f"{self.path} names no snapshot.")

    def all_of(self, kind: type[SomeEvent]) -> list[SomeEvent]:
        """The events of one kind, in their order."""
        return [event for event in self if isinstance(event, kind)]

    def read(self, n: int) -> Event:
        """The event of line `n`, counted from 1.

        Raises:
            RecordError: there is no such line, it has been altered since the journal was opened, or is not an event.
        """
        if not 1 <= n <= len(self):
            raise RecordError(f"{self.path} has {len(self)} lines; there is no line {n}.")
        with opened(self.path, self._top) as descriptor:
            return self._read(descriptor, n)

    def _read(self, descriptor: int, n: int) -> Event:
        position = self._positions[n - 1]
        data = os.pread(descriptor, position.length, position.offset)
        if hashlib.sha256(data).hexdigest() != position.sha256:
            raise RecordError(f"Line {n} of {self.path} has been altered.")
        return _parse(data, self.path, n)


def read_journal(path: Path, *, top: Path | None = None) -> JournalReader:
    """A journal after a check of its chain; nothing is written, a torn end is left and told.

    Args:
        top: from there on no link is followed; by default from the folder it lies in.

    Raises:
        RecordError: there is no such journal, or a line before the last is damaged.
    """
    with opened(path, top) as descriptor:
        return JournalReader(path, *examine(path, descriptor), top=top)


def read_last_event(path: Path, *, top: Path | None = None) -> Event | None:
    """The newest event of a journal that may be growing, without a look at the others; None if there is none yet."""
    with opened(path, top) as descriptor:
        size = os.fstat(descriptor).st_size
        offset = max(0, size - LINE_BYTES)
        data = os.pread(descriptor, size - offset, offset)
    whole = data[: data.rfind(b"\n")]
    line = whole[whole.rfind(b"\n") + 1 :]
    return _parse(line, path, "the last") if line else None


class StepEntry(NamedTuple):
    """What a list shows of a step."""

    line: int
    time: str
    action: str
    script: int | None
    """The number of the script that the action is about."""
    working_s: float
    """Working time used until then."""


class JournalFollower:
    """The steps of a journal that may be growing, taken in as they are written. May be used from several threads.

    Only form is checked, not the chain: that is what `read_journal` is for.
    """

    def __init__(self, path: Path, *, top: Path | None = None) -> None:
        self.path = path
        self._top = top
        self.steps: list[StepEntry] = []
        """The first is step 1."""
        self.size_bytes = 0
        """How much of the journal has been taken in."""
        self._lock = threading.Lock()
        self._inode = 0
        self._lines: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._lines)

    def update(self) -> JournalFollower:
        """Takes in what has been written since; a journal that was cut or replaced is read anew.

        Raises:
            RecordError: there is no journal, or a new line is not an event.
        """
        with self._lock, opened(self.path, self._top) as descriptor:
            facts = os.fstat(descriptor)
            if facts.st_ino != self._inode or facts.st_size < self.size_bytes:
                self._inode, self.size_bytes, self._lines, self.steps = facts.st_ino, 0, [], []
            for offset, data in whole_lines(descriptor, self.size_bytes, self.path):
                event = _parse(data, self.path, len(self._lines) + 1)
                self._lines.append((offset, len(data)))
                if isinstance(event, Step):
                    self.steps.append(_entry(event, len(self._lines)))
                self.size_bytes = offset + len(data) + 1
        return self

    def read(self, n: int) -> Event:
        """The event of line `n`, counted from 1."""
        if not 1 <= n <= len(self._lines):
            raise RecordError(f"{self.path} has {len(self._lines)} lines so far; there is no line {n}.")
        offset, length = self._lines[n - 1]
        with opened(self.path, self._top) as descriptor:
            return _parse(os.pread(descriptor, length, offset), self.path, n)

    def step(self, number: int) -> Step:
        """A step by its number, counted from 1.

        Raises:
            RecordError: there is no such step, or its line is malformed.
        """
        if not 1 <= number <= len(self.steps):
            raise RecordError(f"This run has {len(self.steps)} steps so far; there is no step {number}.")
        event = self.read(self.steps[number - 1].line)
        if not isinstance(event, Step):
            raise RecordError(f"{self.path} has been replaced. Load the page again.")
        return event


def _entry(step: Step, line: int) -> StepEntry:
    number = step.action.arguments.get("number")
    script = number if isinstance(number, int) else None
    return StepEntry(line, step.time, step.action.name, script, step.usage.working_s)


class Journal(JournalReader):
    """A journal open for writing, by one process at a time."""

    def __init__(
        self,
        path: Path,
        positions: list[LinePosition],
        torn: Torn | None,
        descriptor: int,
        *,
        top: Path | None = None,
        durable: bool = True,
    ) -> None:
        super().__init__(path, positions, torn, top=top)
        self._descriptor, self._durable = descriptor, durable

    @classmethod
    def open(cls, path: Path, *, patience_s: float = 5, top: Path | None = None, durable: bool = True) -> Journal:
        """The journal at `path`, made if need be; a torn end is cut off and kept in a file beside it.

        Args:
            patience_s: how long it waits for another writer to end.
            top: from there on no link is followed; by default from the folder it lies in.
            durable: whether `append` waits for the disk, so that a power cut takes no line.

        Raises:
            RecordError: a line before the last is damaged, or another process is writing.
        """
        with full_disk_explained(path):
            if top is None:
                path.parent.mkdir(parents=True, exist_ok=True)
            try:
                descriptor = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, top=top)
            except OSError as error:
                raise RecordError(f"{path} cannot be opened: {error.strerror}.") from error
            try:
                take_lock(descriptor, path, patience_s=patience_s)
                sync_folder(path.parent)
                reader = read_journal(path, top=top)
                torn = cut_off(path, descriptor, reader.torn) if reader.torn else None
                return cls(path, reader._positions, torn, descriptor, top=top, durable=durable)
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

    def append(self, event: Event) -> int:
        """The number of the line that now ends the journal, on disk when this returns.

        Raises:
            RecordError: the disk is full, or the event too long; the journal is as it was before.
        """
        n = len(self) + 1
        data = encode_line(n, self.head, {"kind": event.kind, **event.model_dump(mode="json")})
        if len(data) > LINE_BYTES:
            raise RecordError(f"An event '{event.kind}' of {len(data):,} bytes is too long for {self.path}.")
        offset = self._positions[-1].offset + self._positions[-1].length + 1 if self._positions else 0
        with full_disk_explained(self.path):
            if os.fstat(self._descriptor).st_size != offset:
                os.ftruncate(self._descriptor, offset)  # an `append` was interrupted before it could return
            try:
                write_all(self._descriptor, data + b"\n")
                if self._durable:
                    os.fdatasync(self._descriptor)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, offset)
                raise
        self._positions.append(LinePosition(offset, len(data), hashlib.sha256(data).hexdigest()))
        return n


def copy_lines(source: JournalReader, target: Path, count: int) -> None:
    """Copies the first lines of a journal into a new file; their chain stays whole."""
    with opened(source.path, source._top) as descriptor, target.open("xb") as copy:
        for _, data in itertools.islice(whole_lines(descriptor, 0, source.path), count):
            copy.write(data + b"\n")


def _parse(data: bytes, path: Path, n: int | str) -> Event:
    try:
        return parse_event(event_of(data))
    except (ValueError, RecordError) as error:
        raise RecordError(f"Line {n} of {path} is malformed: {error}. Run: podium verify {path.parent}") from error
