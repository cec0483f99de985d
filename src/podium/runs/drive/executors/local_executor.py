"""Runs as processes of this machine: one each, started when there is room."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Collection, Sequence
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Self

from podium.errors import UsageError
from podium.inspect_internals import CLIENTS_OF_MODELS, IMPORTED_LATE
from podium.runs.drive.executors.executor import RunRequest
from podium.runs.experiment import read_experiment

IMPORTED_ONCE = (
    *(
        "podium.runs.drive.worker",
        "podium.grading.grade",
        "podium.metrics",
        "podium.sandbox.linux.bubblewrap",
        "rich.markdown",
    ),
    *IMPORTED_LATE,
)
IMPORTED_FOR_MODELS = (*CLIENTS_OF_MODELS, "podium.runs.drive.executors.preload_models")


def imported_once(*, models: bool) -> list[str]:
    """What the process imports that workers are forked from; a module that is not there is passed over.

    Args:
        models: whether runs ask models, for which as much again is imported.
    """
    return [*IMPORTED_ONCE, *(IMPORTED_FOR_MODELS if models else ()), "podium.runs.drive.executors.preload"]


class LocalExecutor:
    """Processes forked from one that has imported everything: a run then starts in milliseconds, not seconds."""

    def __init__(self, *, address: str | None = None, parallel: int | None = None) -> None:
        """
        Args:
            parallel: runs at a time; by default two for each core, since agents wait for models and for leases.
        """
        if address is not None:
            raise UsageError(f"--on local://{address}: runs of this machine need no address. Give: --on local")
        self._parallel = parallel or 2 * len(os.sched_getaffinity(0))
        self._context = multiprocessing.get_context("forkserver")
        self._preloads = False
        self._queue: deque[RunRequest] = deque()
        self._working: dict[int, tuple[RunRequest, BaseProcess]] = {}
        self._ended: list[RunRequest] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, process in self._working.values():
            process.kill()
        for _, process in self._working.values():
            process.join()
        self._working.clear()

    def submit(self, run: RunRequest) -> None:
        if not self._preloads:
            models = read_experiment(run.experiment).plan.models
            self._context.set_forkserver_preload(imported_once(models=bool(models)))
            self._preloads = True
        self._queue.append(run)
        self._fill()

    def running(self) -> Collection[RunRequest]:
        return [run for run, _ in self._working.values()]

    def wait(self, timeout_s: float) -> Sequence[RunRequest]:
        for sentinel in wait(list(self._working), 0 if self._ended else timeout_s):
            run, process = self._working.pop(sentinel)  # type: ignore[arg-type]
            process.join()
            self._ended.append(run)
        self._fill()
        ended, self._ended = self._ended, []
        return ended

    def stop(self) -> None:
        self._ended += self._queue
        self._queue.clear()
        for _, process in self._working.values():
            process.terminate()

    def _fill(self) -> None:
        while self._queue and len(self._working) < self._parallel:
            run = self._queue.popleft()
            arguments = (dict(os.environ), str(run.experiment), run.task, run.seed)
            process = self._context.Process(target=_work, args=arguments, name=run.name, daemon=False)
            process.start()
            self._working[process.sentinel] = run, process


def _work(environment: dict[str, str], *arguments: Any) -> None:
    """`worker.work`, imported only in the worker: whoever submits runs has no use for what it needs.

    Args:
        environment: of whoever submits; the process that workers are forked from has that of its own start.
    """
    os.environ.clear()
    os.environ.update(environment)
    from podium.runs.drive.worker import work

    work(*arguments)
