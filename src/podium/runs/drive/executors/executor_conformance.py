"""What every executor must do, as checks that its author can run: `check_executor(make, folder, data_dir)`.

Each check carries out real runs of the agent `command` on a prepared task and raises AssertionError with what is wrong.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from podium.catalog import resolve
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors.executor import Executor, RunRequest
from podium.runs.experiment import Experiment, open_experiment
from podium.runs.records import Plan

PATIENCE_S = 600.0
MakeExecutor = Callable[[], Executor]


def check_executor(make: MakeExecutor, folder: Path, task: str, data_dir: Path | None = None) -> None:
    """All checks, each with an executor of its own.

    Args:
        folder: an empty one, for experiments.
        task: one that is prepared in `data_dir`.
    """
    for check in (check_every_run_is_told_once, check_stopping, check_leaving, check_driving):
        check(make, folder / check.__name__, task, data_dir)


def check_every_run_is_told_once(make: MakeExecutor, folder: Path, task: str, data_dir: Path | None) -> None:
    """Every run that is submitted is carried out and told once, also one that fails, also a second time."""
    experiment = _experiment(folder, task, data_dir, "true", seeds=2)
    with make() as executor:
        requests = _submit_all(experiment, executor)
        told = _wait_for(executor, len(requests))
        assert Counter(told) == Counter(requests), f"submitted {requests}, told {told}"
        assert not list(executor.running()), "a run that was told to have ended counts as running"
        executor.submit(requests[0])
        assert _wait_for(executor, 1) == [requests[0]], "a run that is submitted again is told again"
    for record in experiment.records():
        assert record.status == "finished", f"{record.task}/{record.seed} is {record.status}: {record.error}"


def check_stopping(make: MakeExecutor, folder: Path, task: str, data_dir: Path | None) -> None:
    """After `stop` every run ends, to be continued, and is told, whether it had been started or not."""
    experiment = _experiment(folder, task, data_dir, "sleep 1", seeds=2)
    with make() as executor:
        requests = _submit_all(experiment, executor)
        told = _wait_until(lambda: any(experiment.run(task, run.seed).journal.exists() for run in requests), executor)
        executor.stop()
        told += _wait_for(executor, len(requests) - len(told))
        assert Counter(told) == Counter(requests), f"submitted {requests} and stopped, told {told}"
    statuses = {record.status for record in experiment.records()}
    assert statuses <= {"stopped", "finished"}, f"after stop runs are {statuses}"


def check_leaving(make: MakeExecutor, folder: Path, task: str, data_dir: Path | None) -> None:
    """When the block is left, nothing goes on."""
    experiment = _experiment(folder, task, data_dir, "sleep 600", seeds=1)
    with make() as executor:
        _submit_all(experiment, executor)
        journal = experiment.run(task, 0).journal
        _wait_until(journal.exists, executor)
    assert not list(executor.running()), "runs go on after the block was left"
    record = experiment.run(task, 0).read_record()
    assert record is not None and record.status == "running", "a run that was killed says that it has ended"


def check_driving(make: MakeExecutor, folder: Path, task: str, data_dir: Path | None) -> None:
    """A driver works off an experiment and hears of progress."""
    experiment = _experiment(folder, task, data_dir, "true", seeds=2)
    states: list[str] = []
    driver = Driver(experiment)
    driver.carry_out(make(), lambda run: states.append(run.state))
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
    told: list[RunRequest] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(told) < count and time.monotonic() < deadline:
        told += executor.wait(1.0)
    return told


def _wait_until(condition: Callable[[], bool], executor: Executor) -> list[RunRequest]:
    """Also says which runs were told meanwhile: an executor may hear of a run's beginning only when it has ended."""
    told: list[RunRequest] = []
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "no run has begun"
        told += executor.wait(0.05)
    return told
