"""Executor interface: starts runs on this machine or on a cluster.

An executor starts `podium.runs.drive.worker.work` somewhere and reports its end. Results and progress are read from
run folders.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self


class RunRequest(NamedTuple):
    """A run to carry out."""

    experiment: Path
    """Its folder."""
    task: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.task}/{self.seed}"


class Executor(Protocol):
    """Carries out runs; a context manager. Leaving the block ends everything that still runs, at once."""

    def submit(self, run: RunRequest) -> None:
        """Takes a run, to be started as soon as there is room. A run may be submitted again after it has ended."""
        ...

    def running(self) -> Collection[RunRequest]:
        """The runs that have been started and have not ended."""
        ...

    def wait(self, timeout_s: float) -> Sequence[RunRequest]:
        """The runs whose attempt has ended since this was last asked, however it ended; waits at most so long."""
        ...

    def stop(self) -> None:
        """Lets every run end after its current step, and starts no more; those not started count as ended."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
