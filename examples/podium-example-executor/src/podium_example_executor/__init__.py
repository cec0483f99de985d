"""Runs one after the other, each in a fresh interpreter: the smallest executor that keeps every promise."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import deque
from collections.abc import Collection, Sequence

from podium.errors import UsageError
from podium.runs.drive.executors import RunRequest

WORK = "import sys; from podium.runs.drive.worker import work; work(sys.argv[1], sys.argv[2], int(sys.argv[3]))"


class SequentialExecutor:
    """Starts `podium.runs.drive.worker.work` and waits for it; results are read from run folders."""

    def __init__(self, *, address: str | None = None, parallel: int | None = None) -> None:
        if address is not None or parallel not in (None, 1):
            raise UsageError("--on sequential takes no address, and does one run at a time.")
        self._queue: deque[RunRequest] = deque()
        self._current: tuple[RunRequest, subprocess.Popen[bytes]] | None = None
        self._ended: list[RunRequest] = []

    def __enter__(self) -> SequentialExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        if self._current is not None:
            self._current[1].kill()
            self._current[1].wait()
            self._current = None

    def submit(self, run: RunRequest) -> None:
        self._queue.append(run)
        self._start_next()

    def running(self) -> Collection[RunRequest]:
        return [] if self._current is None else [self._current[0]]

    def wait(self, timeout_s: float) -> Sequence[RunRequest]:
        if self._current is not None:
            run, process = self._current
            try:
                process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                return self._told()
            self._current = None
            self._ended.append(run)
            self._start_next()
        return self._told()

    def stop(self) -> None:
        self._ended += self._queue
        self._queue.clear()
        if self._current is not None:
            self._current[1].send_signal(signal.SIGTERM)

    def _told(self) -> Sequence[RunRequest]:
        told, self._ended = self._ended, []
        return told

    def _start_next(self) -> None:
        if self._current is None and self._queue:
            run = self._queue.popleft()
            command = [sys.executable, "-c", WORK, str(run.experiment), run.task, str(run.seed)]
            self._current = run, subprocess.Popen(command)
