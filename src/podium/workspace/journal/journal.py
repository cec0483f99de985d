"""The journal of a run: one event per line, in a hash chain.

`Journal` writes, `read_journal` checks the chain and reads, and `JournalFollower` follows one that may be growing.
Only this module and `hash_chain` deal with bytes, offsets and torn ends; all others work with events.
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
from podium.safefs.locks import explain_full_disk, take_lock, write_all
from podium.safefs.open_nofollow import open_regular
from podium.workspace.journal.events import Event, Start, Step, parse_event
from podium.workspace.journal.hash_chain import (
    MAX_LINE_BYTES,
    START,
    LinePosition,
    TornEnd,
    check_chain,
    complete_lines,
    cut_torn_end,
    encode_line,
    event_json,
    open_journal,
    sync_folder,
)

SomeEvent = TypeVar("SomeEvent", bound=Event)


class Line(NamedTuple):
    """An event with its line number."""

    n: int
    event: Event


class JournalReader:
    """Events of a journal whose hash chain was checked; each is parsed on access."""

    def __init__(
        self, path: Path, positions: list[LinePosition], torn: TornEnd | None, *, top: Path | None = None
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
        """Yield all events with their line numbers."""
        with open_journal(self.path, self._top) as descriptor:
            for n in range(1, len(self) + 1):
                yield Line(n, self._read(descriptor, n))

    @property
    def head(self) -> str:
        """Hash of the last line, which identifies the whole journal."""
        return self._positions[-1].sha256 if self._positions else START

    def hash_of(self, n: int) -> str:
        """Return the hash of line `n`, counted from 1."""
        return self._positions[n - 1].sha256

    @property
    def start(self) -> Start:
        """First event.

        Raises:
            RecordError: the journal is empty or begins with something else.
        """
        event = self.read(1)
        if not isinstance(event, Start):
            raise RecordError(f"{self.path} begins with '{event.kind}' instead of 'start'.")
        return event

    @property
    def last(self) -> Event:
        """Last event."""
        return self.read(len(self))

    @property
    def snapshot(self) -> str:
        """Latest snapshot of the workspace."""
        for n in range(len(self), 0, -1):
            snapshot: str | None = getattr(self.read(n), "snapshot", None)
            if snapshot is not None:
                return snapshot
        raise RecordError(f"{self.path} contains no snapshot.")

    def all_of(self, kind: type[SomeEvent]) -> list[SomeEvent]:
        """Return the events of one type, in order."""
        return [event for event in self if isinstance(event, kind)]

    def read(self, n: int) -> Event:
        """Return the event in line `n`, counted from 1.

        Raises:
            RecordError: the line does not exist, was altered after the journal was opened, or is not an event.
        """
        if not 1 <= n <= len(self):
            raise RecordError(f"{self.path} has {len(self)} lines; there is no line {n}.")
        with open_journal(self.path, self._top) as descriptor:
            return self._read(descriptor, n)

    def _read(self, descriptor: int, n: int) -> Event:
        position = self._positions[n - 1]
        data = os.pread(descriptor, position.length, position.offset)
        if hashlib.sha256(data).hexdigest() != position.sha256:
            raise RecordError(f"Line {n} of {self.path} has been altered.")
        return _parse(data, self.path, n)


def read_journal(path: Path, *, top: Path | None = None) -> JournalReader:
    """Open a journal read-only and check its hash chain; a torn end is kept and available as `torn`.

    Args:
        top: folder from which on links are not followed; by default the journal's folder.

    Raises:
        RecordError: the journal does not exist, or a line before the last is damaged.
    """
    with open_journal(path, top) as descriptor:
        return JournalReader(path, *check_chain(path, descriptor), top=top)


def read_last_event(path: Path, *, top: Path | None = None) -> Event | None:
    """Return the last event of a journal that may be growing, without reading the others; None if there is none."""
    with open_journal(path, top) as descriptor:
        size = os.fstat(descriptor).st_size
        offset = max(0, size - MAX_LINE_BYTES)
        data = os.pread(descriptor, size - offset, offset)
    whole = data[: data.rfind(b"\n")]
    line = whole[whole.rfind(b"\n") + 1 :]
    return _parse(line, path, None) if line else None


class StepEntry(NamedTuple):
    """List entry of a step."""

    line: int
    time: str
    action: str
    script: int | None
    """Number of the script that the action refers to."""
    working_s: float
    """Working time used up to this step."""


class JournalFollower:
    """Steps of a journal that may be growing, read as they are written. Thread-safe.

    Only the format is checked, not the hash chain; for that, use `read_journal`.
    """

    def __init__(self, path: Path, *, top: Path | None = None) -> None:
        self.path = path
        self._top = top
        self.steps: list[StepEntry] = []
        """Steps so far; the first is step 1."""
        self.size_bytes = 0
        """Number of bytes read so far."""
        self._lock = threading.Lock()
        self._inode = 0
        self._lines: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._lines)

    def update(self) -> JournalFollower:
        """Read new lines; a journal that was truncated or replaced is read again from the start.

        Raises:
            RecordError: the journal does not exist, or a new line is not an event.
        """
        with self._lock, open_journal(self.path, self._top) as descriptor:
            facts = os.fstat(descriptor)
            if facts.st_ino != self._inode or facts.st_size < self.size_bytes:
                self._inode, self.size_bytes, self._lines, self.steps = facts.st_ino, 0, [], []
            for offset, data in complete_lines(descriptor, self.size_bytes, self.path):
                event = _parse(data, self.path, len(self._lines) + 1)
                self._lines.append((offset, len(data)))
                if isinstance(event, Step):
                    self.steps.append(_entry(event, len(self._lines)))
                self.size_bytes = offset + len(data) + 1
        return self

    def read(self, n: int) -> Event:
        """Return the event in line `n`, counted from 1."""
        if not 1 <= n <= len(self._lines):
            raise RecordError(f"{self.path} has {len(self._lines)} lines so far; there is no line {n}.")
        offset, length = self._lines[n - 1]
        with open_journal(self.path, self._top) as descriptor:
            return _parse(os.pread(descriptor, length, offset), self.path, n)

    def step(self, number: int) -> Step:
        """Return a step by its number, counted from 1.

        Raises:
            RecordError: the step does not exist, or its line is malformed.
        """
        if not 1 <= number <= len(self.steps):
            raise RecordError(f"This run has {len(self.steps)} steps so far; there is no step {number}.")
        event = self.read(self.steps[number - 1].line)
        if not isinstance(event, Step):
            raise RecordError(f"{self.path} has been replaced. Reload the page.")
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
        torn: TornEnd | None,
        descriptor: int,
        *,
        top: Path | None = None,
        durable: bool = True,
    ) -> None:
        super().__init__(path, positions, torn, top=top)
        self._descriptor, self._durable = descriptor, durable

    @classmethod
    def open(cls, path: Path, *, patience_s: float = 5, top: Path | None = None, durable: bool = True) -> Journal:
        """Open the journal at `path`, creating it if necessary; a torn end is moved to a file next to it.

        Args:
            patience_s: seconds to wait for another writer.
            top: folder from which on links are not followed; by default the journal's folder.
            durable: whether `append` waits for the disk (fdatasync), so that a power failure loses no line.

        Raises:
            RecordError: a line before the last is damaged, or another process is writing.
        """
        with explain_full_disk(path):
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
                torn = cut_torn_end(path, descriptor, reader.torn) if reader.torn else None
                return cls(path, reader._positions, torn, descriptor, top=top, durable=durable)
            except BaseException:
                os.close(descriptor)
                raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock, so that another process can write."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def append(self, event: Event) -> int:
        """Append an event and return the number of its line; it is on disk on return.

        Raises:
            RecordError: the disk is full or the event is too long; the journal is unchanged.
        """
        n = len(self) + 1
        data = encode_line(n, self.head, {"kind": event.kind, **event.model_dump(mode="json")})
        if len(data) > MAX_LINE_BYTES:
            raise RecordError(f"The event '{event.kind}' of {len(data):,} bytes is too long for {self.path}.")
        offset = self._positions[-1].offset + self._positions[-1].length + 1 if self._positions else 0
        with explain_full_disk(self.path):
            if os.fstat(self._descriptor).st_size != offset:
                os.ftruncate(self._descriptor, offset)  # an earlier `append` was interrupted
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
    """Copy the first lines of a journal to a new file; their hash chain remains valid."""
    with open_journal(source.path, source._top) as descriptor, target.open("xb") as copy:
        for _, data in itertools.islice(complete_lines(descriptor, 0, source.path), count):
            copy.write(data + b"\n")


def _parse(data: bytes, path: Path, n: int | None) -> Event:
    try:
        return parse_event(event_json(data))
    except (ValueError, RecordError) as error:
        line = "The last line" if n is None else f"Line {n}"
        raise RecordError(f"{line} of {path} is malformed: {error}. Run: podium verify {path.parent}") from error
