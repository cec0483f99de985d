"""Runs many runs at a time on this machine: one process each, started when there is room, followed while they work."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from podium._inspect import IMPORTED_LATE
from podium.runs.experiment import run_folder
from podium.runs.record import Experiment, RunFolder, RunRecord

TICK_S = 0.25
_IMPORTED_ONCE = ["podium.runs.worker", "podium.grading.grade", *IMPORTED_LATE]
"""For all workers, in the process they are forked from; one that is not there is passed over."""
_FOR_MODELS = ["podium.runs.known_models"]


@dataclass
class Row:
    """A run as it is followed: what the live table shows."""

    task: str
    seed: int
    folder: RunFolder
    phase: str = "queued"
    step: int = 0
    headline: str | None = None
    used: dict[str, Any] = field(default_factory=dict)
    record: RunRecord | None = None

    @property
    def name(self) -> str:
        return f"{self.task}/{self.seed}"


@dataclass
class _Worker:
    row: Row
    process: BaseProcess
    channel: Connection


class Driver:
    """Works off the runs of an experiment. `stop` may be called from a signal handler."""

    def __init__(
        self,
        folder: Path,
        experiment: Experiment,
        *,
        parallel: int,
        retry: bool = False,
        answer: Callable[[Row, str], str | None] | None = None,
    ) -> None:
        """
        Args:
            parallel: runs at a time.
            retry: whether failed runs are done again.
            answer: asks the person at the terminal what an agent wants to know; None if they do not say.
        """
        self.rows = [
            Row(task, seed, run_folder(folder, task, seed))
            for seed in range(experiment.seeds)
            for task in experiment.tasks
        ]
        self.plan = experiment.plan
        self._folder, self._parallel, self._answer = folder, parallel, answer
        self._stopping = 0
        self._told_to_stop = False
        for row in self.rows:
            record = row.folder.read_record()
            if record and (record.status == "finished" or (record.status == "failed" and not retry)):
                row.record, row.phase, row.used = record, record.status, record.usage.model_dump()
        self._queue = [row for row in self.rows if row.record is None]

    def stop(self) -> None:
        """Once: every run ends after its current step and can be continued. Twice: now."""
        self._stopping += 1

    def run(self, changed: Callable[[Row], None]) -> None:
        """Works until all runs have ended; `changed` is told of every change in a row."""
        # Forked from a process that has imported everything once: a run then starts in milliseconds, not seconds.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(
            [*_IMPORTED_ONCE, f"podium.agents.{self.plan.agent}", *(_FOR_MODELS if self.plan.model else [])]
        )
        working: list[_Worker] = []
        try:
            while working or (self._queue and not self._stopping):
                while self._queue and len(working) < self._parallel and not self._stopping:
                    working.append(self._start(context, self._queue.pop(0)))
                    changed(working[-1].row)
                self._pass_on_stop(working)
                for worker in self._ready(working):
                    if self._hear(worker):
                        changed(worker.row)
                    else:
                        self._finish(worker)
                        working.remove(worker)
                        changed(worker.row)
                if self._stopping > 1:
                    break
        finally:
            for worker in working:
                worker.process.kill()
                worker.process.join()
                worker.row.phase = "interrupted"

    def _start(self, context: Any, row: Row) -> _Worker:
        ours, theirs = context.Pipe()
        arguments = (str(self._folder), row.task, row.seed, theirs)
        process = context.Process(target=_work, args=arguments, name=row.name, daemon=False)
        process.start()
        theirs.close()
        row.phase = "starting"
        return _Worker(row, process, ours)

    def _ready(self, working: list[_Worker]) -> Iterator[_Worker]:
        channels = {worker.channel: worker for worker in working}
        if not channels:
            time.sleep(0)
            return
        for channel in wait(list(channels), TICK_S):
            yield channels[channel]  # type: ignore[index]

    def _hear(self, worker: _Worker) -> bool:
        """Takes in one report; False when there will be no more."""
        try:
            report = worker.channel.recv()
        except (EOFError, OSError):
            return False
        row = worker.row
        row.phase = report.get("phase", row.phase)
        row.step = report.get("step", row.step)
        row.headline = report.get("headline") or row.headline
        row.used = report.get("used", row.used)
        if "ask" in report:
            answer = self._answer(row, report["ask"]) if self._answer else None
            worker.channel.send(("answer", answer))
        return True

    def _finish(self, worker: _Worker) -> None:
        worker.process.join()
        worker.channel.close()
        row = worker.row
        record = row.folder.read_record()
        if record is not None and record.status != "running":
            row.record, row.phase, row.used = record, record.status, record.usage.model_dump()
        else:
            row.phase = "interrupted"

    def _pass_on_stop(self, working: list[_Worker]) -> None:
        if self._stopping and not self._told_to_stop:
            self._told_to_stop = True
            for worker in working:
                try:
                    worker.channel.send("stop")
                except OSError:
                    continue  # it has just ended


def _work(*arguments: Any) -> None:
    """`worker.work`, imported only in the worker: the driver has no use for what it needs."""
    from podium.runs.worker import work

    work(*arguments)
