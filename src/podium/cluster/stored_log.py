"""Log of a run in storage: the stored state of its journal and documents, and the ownership of the run.

Entries are numbered objects that are created once and never changed. A process takes a run by writing an entry with
the next generation. An owner of an earlier generation, which may have been cut off for hours, would write its next
entry under a number that is already taken: the write is refused, and all its work since then is discarded. No clock
and no lock is involved.
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
    """Another process has taken over the run."""


class RunLogEntry(BaseModel):
    """One entry of the log."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generation: int
    owner: str
    time: str
    kind: Kind
    """An owner took the run, stored its progress, ended its attempt, or died."""
    journal: str = ""
    """Complete lines that follow those of earlier entries."""
    documents: dict[str, str] = {}
    """Current content of small files, by path inside the run's folder."""
    blobs: tuple[str, ...] = ()
    """Immutable files that were stored before this entry."""
    replaces: bool = False
    """True if `blobs` replaces all earlier blobs because the history was packed."""
    products: tuple[str, ...] = ()
    """Files left at the end of an attempt: the submission, logs."""
    reason: str | None = None
    """Reason why the owner died or the run was abandoned."""

    @property
    def has_step(self) -> bool:
        return any(json.loads(line).get("kind") == "step" for line in self.journal.splitlines())


def describe_owner() -> str:
    """Return a readable description of this process."""
    return f"{socket.gethostname()} pid {os.getpid()}"


class RunLog:
    """Reads a log from its beginning and appends to it. Keeps only positions and counts in memory."""

    def __init__(self, storage: Storage, prefix: str, owner: str = "") -> None:
        """
        Args:
            prefix: location in storage, ending with a slash.
            owner: description of the writing process, if any.
        """
        self.storage, self.prefix = storage, prefix
        self.owner = owner or describe_owner()
        self.generation = 0
        """Generation of the latest entry."""
        self.owned = 0
        """Generation owned by this process; 0 if none."""
        self.size = 0
        """Number of entries read or written so far."""
        self.deaths: tuple[str, ...] = ()
        """Reasons of the deaths since the last step or orderly end."""
        self.current_owner: str | None = None

    def read_new(self) -> Iterator[RunLogEntry]:
        """Yield the entries that have not been read yet."""
        while (entry := self._read(self.size)) is not None:
            self._note(entry)
            yield entry

    def take(self, kind: Kind = "taken", **parts: Any) -> None:
        """Take ownership at the end of the log; earlier owners cannot write any more.

        Raises:
            LostRunError: the log has grown since it was read.
        """
        self.owned = self.generation + 1
        self.append(kind, **parts)

    def append(self, kind: Kind, **parts: Any) -> None:
        """Write the next entry.

        Raises:
            LostRunError: another process has taken over the run.
        """
        entry = RunLogEntry(generation=self.owned, owner=self.owner, time=now(), kind=kind, **parts)
        if not self.storage.create(self._name(self.size), entry.model_dump_json().encode()):
            other = self._read(self.size)
            self.owned = 0
            owner = other.owner if other else "another process"
            raise LostRunError(f"{self.prefix.rstrip('/')} was taken over by {owner}.")
        self._note(entry)

    def _read(self, number: int) -> RunLogEntry | None:
        data = self.storage.read(self._name(number))
        if data is None:
            return None
        try:
            return RunLogEntry.model_validate_json(data)
        except ValidationError as error:
            raise RecordError(f"{self._name(number)} in {self.storage.url} is not a valid log entry.") from error

    def _name(self, number: int) -> str:
        return f"{self.prefix}log/{number:08d}"

    def _note(self, entry: RunLogEntry) -> None:
        self.size += 1
        self.generation = entry.generation
        self.current_owner = None if entry.kind in ("left", "died") else entry.owner
        if entry.kind == "left" or entry.has_step:
            self.deaths = ()
        if entry.kind == "died":
            self.deaths = (*self.deaths, entry.reason or "for an unknown reason")
