"""Local executor: each run is a process of this machine, started when a slot is free."""

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
from podium.inspect_internals import LATE_IMPORTS, MODEL_CLIENT_MODULES
from podium.runs.drive.executors.executor import RunRequest
from podium.runs.experiment import read_experiment

PRELOADED_MODULES = (
    *(
        "podium.runs.drive.worker",
        "podium.grading.grade",
        "podium.metrics",
        "podium.sandbox.linux.bubblewrap",
        "rich.markdown",
    ),
    *LATE_IMPORTS,
)
PRELOADED_FOR_MODELS = (*MODEL_CLIENT_MODULES, "podium.runs.drive.executors.preload_models")


def modules_to_preload(*, models: bool) -> list[str]:
    """Return the modules that the fork server imports; missing ones are ignored.

    Args:
        models: also import the clients of language models, which doubles the work.
    """
    return [*PRELOADED_MODULES, *(PRELOADED_FOR_MODELS if models else ()), "podium.runs.drive.executors.preload"]


class LocalExecutor:
    """Runs processes forked from a server with all imports done: a start takes milliseconds instead of seconds."""

    def __init__(self, *, address: str | None = None, parallel: int | None = None) -> None:
        """
        Args:
            parallel: concurrent runs; by default two per core, since agents wait for models and leases.
        """
        if address is not None:
            raise UsageError(f"--on local://{address}: local runs take no address. Use: --on local")
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
            self._context.set_forkserver_preload(modules_to_preload(models=bool(models)))
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
    """Run `worker.work`, imported only here because the submitting process does not need it.

    Args:
        environment: of the submitting process; the fork server keeps the one it was started with.
    """
    os.environ.clear()
    os.environ.update(environment)
    from podium.runs.drive.worker import work

    work(*arguments)
