"""Driver: submits the runs of an experiment to an executor and follows them through their folders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from podium.errors import RecordError
from podium.runs.attempt.progress_files import answer, read_progress
from podium.runs.drive.executors.executor import Executor, RunRequest
from podium.runs.experiment import Experiment
from podium.runs.records import Progress, RunRecord
from podium.runs.run_folder import RunFolder
from podium.safefs.remove_tree import remove_tree
from podium.workspace.budget import Usage

TICK_S = 0.25


@dataclass
class FollowedRun:
    """State of a run for the live table."""

    request: RunRequest
    folder: RunFolder
    state: str = "queued"
    """queued, running, interrupted, not started, unreadable, or the status in its record."""
    progress: Progress | None = None
    record: RunRecord | None = None
    """Record of a run that has ended."""
    error: str | None = None
    """Reason why its folder cannot be read."""
    stamp: tuple[int, int] | None = None
    """Version of the progress file that was read last."""

    @property
    def name(self) -> str:
        return self.request.name

    @property
    def usage(self) -> Usage | None:
        """Return the latest known usage of the run."""
        return self.record.usage if self.record else self.progress.usage if self.progress else None

    @property
    def is_over(self) -> bool:
        return self.state not in ("queued", "running")


Changed = Callable[[FollowedRun], None]
AnswerQuestion = Callable[[FollowedRun, str], str | None]


class Driver:
    """Runs all unfinished runs of an experiment. `stop` may be called from a signal handler."""

    def __init__(self, experiment: Experiment, *, retry: bool = False, answer: AnswerQuestion | None = None) -> None:
        """
        Args:
            retry: also repeat failed runs.
            answer: asks the person at the terminal a question; returns None without an answer.
        """
        self.experiment = experiment
        self.runs = [
            FollowedRun(RunRequest(experiment.folder, task, seed), experiment.run(task, seed))
            for seed in range(experiment.seeds)
            for task in experiment.tasks
        ]
        self._answer = answer
        self._stops = 0
        for run in self.runs:
            record = self._read_record(run)
            if record and (record.status == "finished" or (record.status == "failed" and not retry)):
                run.record, run.state = record, record.status

    def stop(self) -> None:
        """Stop every run after its current step, to be resumed later; the second call stops at once."""
        self._stops += 1

    def used_up(self) -> str | None:
        """Return the experiment-wide limit that is used up, or None."""
        plan = self.experiment.plan
        if plan.total_tokens is None and plan.total_cost is None:
            return None
        used = [usage for run in self.runs if (usage := run.usage) is not None]
        if plan.total_tokens is not None and sum(usage.tokens for usage in used) >= plan.total_tokens:
            return f"the experiment's {plan.total_tokens:,} tokens"
        if plan.total_cost is not None and sum(usage.cost or 0.0 for usage in used) >= plan.total_cost:
            return f"the experiment's ${plan.total_cost:g}"
        return None

    def run_all(self, executor: Executor, changed: Changed = lambda run: None) -> None:
        """Run until all runs have ended, calling `changed` on every change of a run."""
        waiting = {run.request: run for run in self.runs if not run.is_over}
        is_stopping = False
        with executor:
            for run in waiting.values():
                # Ctrl-C may arrive while thousands of runs are being submitted.
                if not self._stops and self._make_folder(run):
                    remove_tree(run.folder.progress)
                    executor.submit(run.request)
            while any(not run.is_over for run in waiting.values()) and self._stops < 2:
                if self._stops and not is_stopping:
                    is_stopping = True
                    executor.stop()
                ended = executor.wait(TICK_S)
                for request in ended:
                    self._finish(waiting[request])
                    changed(waiting[request])
                for request in executor.running():
                    if self._follow(waiting[request]):
                        changed(waiting[request])
                if self.used_up() and not self._stops:
                    self.stop()
        for run in waiting.values():
            if not run.is_over:
                self._finish(run)
                changed(run)

    def _follow(self, run: FollowedRun) -> bool:
        """Read a run's progress; return whether it has changed."""
        stamp = _stamp(run.folder.progress)
        if run.state == "running" and (stamp is None or stamp == run.stamp):
            return False
        run.stamp, progress = stamp, read_progress(run.folder)
        if run.state == "running" and (progress is None or progress == run.progress):
            return False
        asked = run.progress.question if run.progress else None
        run.state, run.progress = "running", progress or Progress()
        question = run.progress.question
        if question is not None and question != asked:
            answer(run.folder, question, self._answer(run, question.text) if self._answer else None)
        return True

    def _finish(self, run: FollowedRun) -> None:
        record = self._read_record(run)
        run.progress = read_progress(run.folder)
        if record is not None and record.status != "running":
            run.record, run.state = record, record.status
        elif run.error is None:
            run.state = "interrupted" if record else "not started"

    def _read_record(self, run: FollowedRun) -> RunRecord | None:
        """Return the record of a run; an unreadable one sets the run's error and does not stop the others."""
        try:
            record = run.folder.read_record()
        except RecordError as error:
            run.state, run.error = "unreadable", str(error)
            return None
        # The policy is two thirds of a record, and thousands of records are kept here.
        return record and record.model_copy(update={"sandbox": None})

    def _make_folder(self, run: FollowedRun) -> bool:
        try:
            run.folder.make()
        except RecordError as error:
            run.state, run.error = "unreadable", str(error)
        return run.error is None


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
