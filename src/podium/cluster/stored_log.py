"""The log of a run in storage: what its journal and documents are, and whose turn it is to write.

Entries are numbered objects that are created once and never changed. Whoever takes a run writes an entry with the next
generation. An owner of an earlier generation, perhaps cut off from the others for hours, would write its next entry
under a number that is taken by then: it is refused, and everything it did since counts as never done. No clock and no
lock is involved.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from podium.cluster.storage import Storage
from podium.errors import RecordError
from podium.workspace.journal.events import now

Kind = Literal["taken", "grown", "left", "died"]


class LostRunError(RecordError):
    """Somebody else has taken over."""


class RunLogEntry(BaseModel):
    """One object of the log."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generation: int
    owner: str
    time: str
    kind: Kind
    """An owner took the run, stored what it did since the entry before, ended its attempt, or died."""
    journal: str = ""
    """Whole lines that follow those of earlier entries."""
    documents: dict[str, str] = {}
    """Small files as they are now, by path below the run's folder."""
    blobs: tuple[str, ...] = ()
    """Files that never change and were stored before this entry was."""
    replaces: bool = False
    """Whether `blobs` stands in place of all those before: the history was packed."""
    products: tuple[str, ...] = ()
    """What an attempt left when it ended: the submission, logs."""
    reason: str | None = None
    """Why it died, or was given up."""

    @property
    def has_step(self) -> bool:
        return any(json.loads(line).get("kind") == "step" for line in self.journal.splitlines())


def describe_owner() -> str:
    """This process, for people and for the log."""
    return f"{socket.gethostname()} pid {os.getpid()}"


class RunLog:
    """Reads a log from its beginning, and writes to its end. Only positions and counts are kept in memory."""

    def __init__(self, storage: Storage, prefix: str, owner: str = "") -> None:
        """
        Args:
            prefix: where it lies in storage, with a slash at the end.
            owner: who writes, if anybody.
        """
        self.storage, self.prefix = storage, prefix
        self.owner = owner or describe_owner()
        self.generation = 0
        """Of the newest entry."""
        self.owned = 0
        """Our own; 0 if we own nothing."""
        self.size = 0
        """Entries read or written so far."""
        self.deaths: tuple[str, ...] = ()
        """The reasons of those since the last step or orderly end."""
        self.current_owner: str | None = None

    def read_new(self) -> Iterator[RunLogEntry]:
        """The entries that were not read yet."""
        while (entry := self._read(self.size)) is not None:
            self._note(entry)
            yield entry

    def take(self, kind: Kind = "taken", **parts: Any) -> None:
        """Makes us the owner at the end of what was read; all who owned it before can write nothing more.

        Raises:
            LostRunError: the log went on since it was read.
        """
        self.owned = self.generation + 1
        self.append(kind, **parts)

    def append(self, kind: Kind, **parts: Any) -> None:
        """Writes the next entry.

        Raises:
            LostRunError: somebody else has taken over.
        """
        entry = RunLogEntry(generation=self.owned, owner=self.owner, time=now(), kind=kind, **parts)
        if not self.storage.create(self._name(self.size), entry.model_dump_json().encode()):
            other = self._read(self.size)
            self.owned = 0
            raise LostRunError(f"{self.prefix.rstrip('/')} was taken over by {other.owner if other else 'another'}.")
        self._note(entry)

    def _read(self, number: int) -> RunLogEntry | None:
        data = self.storage.read(self._name(number))
        if data is None:
            return None
        try:
            return RunLogEntry.model_validate_json(data)
        except ValidationError as error:
            raise RecordError(f"{self._name(number)} in {self.storage.url} is not an entry of a run's log.") from error

    def _name(self, number: int) -> str:
        return f"{self.prefix}log/{number:08d}"

    def _note(self, entry: RunLogEntry) -> None:
        self.size += 1
        self.generation = entry.generation
        self.current_owner = None if entry.kind in ("left", "died") else entry.owner
        if entry.kind == "left" or entry.has_step:
            self.deaths = ()
        if entry.kind == "died":
            self.deaths = (*self.deaths, entry.reason or "for no known reason")
