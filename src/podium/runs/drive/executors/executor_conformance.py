"""Conformance suite for executors: `check_executor(make, folder, task, data_dir)`.

Each check performs real runs of the agent `command` on a prepared task and raises AssertionError on a violation.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from podium.catalog.registry import resolve
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors.executor import Executor, RunRequest
from podium.runs.experiment import Experiment, open_experiment
from podium.runs.records import Plan

MAX_WAIT_S = 600.0
MakeExecutor = Callable[[], Executor]


def check_executor(make: MakeExecutor, folder: Path, task: str, data_dir: Path | None = None) -> None:
    """Run all checks, each with a new executor.

    Args:
        folder: an empty folder for experiments.
        task: a task prepared in `data_dir`.
    """
    for check in (check_reports_each_run_once, check_stop, check_exit, check_driver):
        check(make, folder / check.__name__, task, data_dir)


def check_reports_each_run_once(make: MakeExecutor, folder: Path, task: str, data_dir: Path | None) -> None:
    """Check that every submitted run ends and is reported once, also if it fails or is submitted again."""
    experiment = _experiment(folder, task, data_dir, "true", seeds=2)
    with make() as executor:
        requests = _submit_all(experiment, executor)
        ended = _wait_for(executor, len(requests))
        assert Counter(ended) == Counter(requests), f"submitted {requests}, reported as ended {ended}"
        assert not list(executor.running()), "a run that was reported as ended is still listed as running"
        executor.submit(requests[0])
        assert _wait_for(executor, 1) == [requests[0]], "a run that was submitted again was not reported again"
    for record in experiment.records():
        assert record.status == "finished", f"{record.task}/{record.seed} is {record.status}: {record.error}"


def check_stop(make: MakeExecutor, folder: Path, task: str, data_dir: Path | None) -> None:
    """Check that `stop` ends every run resumably and reports it, whether it had started or not."""
    experiment = _experiment(folder, task, data_dir, "sleep 1", seeds=2)
    with make() as executor:
        requests = _submit_all(experiment, executor)
        ended = _wait_until(lambda: any(experiment.run(task, run.seed).journal.exists() for run in requests), executor)
        executor.stop()
        ended += _wait_for(executor, len(requests) - len(ended))
        assert Counter(ended) == Counter(requests), f"submitted {requests} and stopped, reported as ended {ended}"
    statuses = {record.status for record in experiment.records()}
    assert statuses <= {"stopped", "finished"}, f"runs after stop are {statuses}"


def check_exit(make: MakeExecutor, folder: Path, task: str, data_dir: Path | None) -> None:
    """Check that leaving the block kills all runs."""
    experiment = _experiment(folder, task, data_dir, "sleep 600", seeds=1)
    with make() as executor:
        _submit_all(experiment, executor)
        journal = experiment.run(task, 0).journal
        _wait_until(journal.exists, executor)
    assert not list(executor.running()), "runs continue after the block was left"
    record = experiment.run(task, 0).read_record()
    assert record is not None and record.status == "running", "the record of a killed run claims that it has ended"


def check_driver(make: MakeExecutor, folder: Path, task: str, data_dir: Path | None) -> None:
    """Check that a driver completes an experiment and reports progress."""
    experiment = _experiment(folder, task, data_dir, "true", seeds=2)
    states: list[str] = []
    driver = Driver(experiment)
    driver.run_all(make(), lambda run: states.append(run.state))
    assert [run.state for run in driver.runs] == ["finished", "finished"], states


def _experiment(folder: Path, task: str, data_dir: Path | None, command: str, *, seeds: int) -> Experiment:
    miniature = resolve(task, data_dir=data_dir).miniature
    plan = Plan(agent="command", options={"command": command}, data_dir=data_dir, miniature=miniature)
    return open_experiment(folder, plan, [task], seeds)


def _submit_all(experiment: Experiment, executor: Executor) -> list[RunRequest]:
    requests = [RunRequest(experiment.folder, experiment.tasks[0], seed) for seed in range(experiment.seeds)]
    for request in requests:
        executor.submit(request)
    return requests


def _wait_for(executor: Executor, count: int) -> list[RunRequest]:
    ended: list[RunRequest] = []
    deadline = time.monotonic() + MAX_WAIT_S
    while len(ended) < count and time.monotonic() < deadline:
        ended += executor.wait(1.0)
    return ended


def _wait_until(condition: Callable[[], bool], executor: Executor) -> list[RunRequest]:
    """Return the runs that ended meanwhile: an executor may report a start only when the run has ended."""
    ended: list[RunRequest] = []
    deadline = time.monotonic() + MAX_WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "no run has begun"
        ended += executor.wait(0.05)
    return ended
