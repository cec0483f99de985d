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
    """A run to execute."""

    experiment: Path
    """Folder of the experiment."""
    task: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.task}/{self.seed}"


class Executor(Protocol):
    """Executes runs; a context manager. Leaving the block kills everything that still runs."""

    def submit(self, run: RunRequest) -> None:
        """Queue a run, to be started as soon as there is capacity. A run may be submitted again after it has ended."""
        ...

    def running(self) -> Collection[RunRequest]:
        """Return the runs that have started and not ended."""
        ...

    def wait(self, timeout_s: float) -> Sequence[RunRequest]:
        """Return the runs that have ended, successfully or not, since the last call; block for at most `timeout_s`."""
        ...

    def stop(self) -> None:
        """Let every run end after its current step, and start no more; queued runs count as ended."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
