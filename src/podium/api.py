"""Public Python API: load, prepare, validate and grade tasks; run, resume and verify experiments."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.catalog import registry
from podium.errors import UnknownTaskError
from podium.task import Edition, Task

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from podium.data.prepare import PrepareResult
    from podium.grading.grade import Grade, Validation
    from podium.grading.prepared_task import PreparedTask
    from podium.runs.drive.executors import Executor
    from podium.runs.experiment import Experiment
    from podium.task import Execute
    from podium.verify import Verification
    from podium.workspace.budget import Budget


def load(task: str) -> Task:
    """Return the task with this id; for an unknown id, raise `UnknownTaskError` with the closest ids.

    >>> import podium
    >>> podium.load("spaceship-titanic").metric.title
    'Accuracy'
    """
    return registry.load(task)


def tasks(suite: str | None = None) -> list[str]:
    """Return the ids of all tasks, or of the tasks in a suite.

    >>> import podium
    >>> len(podium.tasks("mle-bench-lite"))
    22
    """
    if suite is None:
        return [listing.id for listing in registry.listings()]
    if suite not in registry.suites():
        raise UnknownTaskError(f"There is no suite '{suite}'. The suites are: {', '.join(registry.suites())}")
    return list(registry.suites()[suite].tasks)


def prepare(
    task: str | Task,
    raw: str | PathLike[str] | None = None,
    data_dir: str | PathLike[str] | None = None,
    miniature: bool = False,
    edition: Edition | None = None,
) -> PrepareResult:
    """Prepare the public and private data of a task; prepared data is kept.

    >>> import podium
    >>> podium.prepare("spaceship-titanic", miniature=True).status
    'made'
    """
    from podium.data.prepare import prepare_task

    loaded = load(task) if isinstance(task, str) else task
    return prepare_task(loaded, raw=_path(raw), data_dir=_path(data_dir), miniature=miniature, edition=edition)


def validate(
    task: str | Task,
    path: str | PathLike[str],
    data_dir: str | PathLike[str] | None = None,
    edition: Edition | None = None,
) -> Validation:
    """Check the format of a submission, without the answers.

    Give a table by its file, and a submission of several files by their folder.

    >>> import podium
    >>> sample = podium.prepare("spaceship-titanic", miniature=True).place.public / "sample_submission.csv"
    >>> podium.validate("spaceship-titanic", sample).valid
    True
    """
    return registry.resolve(task, edition=edition, data_dir=_path(data_dir)).validate(Path(path))


def grade(
    task: str | Task,
    path: str | PathLike[str],
    data_dir: str | PathLike[str] | None = None,
    edition: Edition | None = None,
) -> Grade:
    """Return score, medal and rank of a submission; an invalid one is a result with an error, not an exception.

    Give a table by its file, and a submission of several files by their folder; these run in a sandbox, which needs the
    extra `run`.

    >>> import podium
    >>> sample = podium.prepare("spaceship-titanic", miniature=True).place.public / "sample_submission.csv"
    >>> round(podium.grade("spaceship-titanic", sample).score, 4)
    0.5714
    """
    return registry.resolve(task, edition=edition, data_dir=_path(data_dir)).grade(Path(path), _in_sandboxes)


def _in_sandboxes(prepared: PreparedTask) -> AbstractContextManager[Execute]:
    """Return the context manager that runs submitted programs; imported only if there are any."""
    from podium.runs.attempt.evaluate_programs import evaluate_in_sandboxes

    return evaluate_in_sandboxes()(prepared)


def run(
    tasks: str | Sequence[str],
    *,
    agent: str | None = None,
    model: str | None = None,
    budget: Budget | None = None,
    seeds: int = 1,
    out: str | PathLike[str] | None = None,
    executor: Executor | None = None,
    miniature: bool = False,
    retry: bool = False,
    **settings: Any,
) -> Experiment:
    """Run an agent on tasks or suites, grade its submissions and return the experiment.

    An existing experiment continues: finished runs are kept, and interrupted runs resume.

    Args:
        agent: name of the agent; by default one that suits the tasks and needs no model.
        out: folder of the experiment; by default a new one below `runs`.
        executor: executor of the runs; by default local processes.
        miniature: True to use fabricated data instead of real data.
        retry: True to repeat failed runs.
        settings: other parts of the plan: `options`, `model_base_url`, `model_roles`, `edition`, `sandbox`, ...

    >>> import podium
    >>> experiment = podium.run("spaceship-titanic", agent="baseline", miniature=True)
    >>> experiment.records()[0].status
    'finished'
    """
    from podium.runs.plan.start_experiment import make_plan, start_experiment

    if budget is not None:
        settings["budget"] = budget
    ids = registry.expand([tasks] if isinstance(tasks, str) else list(tasks))
    plan = make_plan(ids, agent=agent, model=model, miniature=miniature, **settings)
    experiment = start_experiment(ids, plan, seeds=seeds, out=_path(out), local=_is_local(executor))
    return _run_experiment(experiment, executor, retry=retry)


def resume(
    out: str | PathLike[str],
    *,
    executor: Executor | None = None,
    retry: bool = False,
    trust: bool = False,
    **changes: Any,
) -> Experiment:
    """Continue an experiment and return it.

    Args:
        retry: True to repeat failed runs.
        trust: True to accept a plan from another machine, which can run commands without a sandbox.
        changes: new `model`, `model_base_url`, `model_roles`, `budget`, `data_dir` or `env` for unfinished runs; the
            experiment, its journals and its records state the change.

    >>> import podium
    >>> experiment = podium.run("spaceship-titanic", agent="baseline", miniature=True, out="runs/first")
    >>> podium.resume("runs/first").records()[0].status
    'finished'
    """
    from podium.runs.experiment import read_experiment
    from podium.runs.plan.start_experiment import resume_experiment

    return _run_experiment(resume_experiment(read_experiment(Path(out)), changes, trust=trust), executor, retry=retry)


def _is_local(executor: Executor | None) -> bool:
    from podium.runs.drive.executors.local_executor import LocalExecutor

    return executor is None or isinstance(executor, LocalExecutor)


def _run_experiment(experiment: Experiment, executor: Executor | None, *, retry: bool) -> Experiment:
    from podium.runs.drive.driver import Driver
    from podium.runs.drive.executors import make_executor

    Driver(experiment, retry=retry).run_all(executor or make_executor())
    return experiment


def verify(
    path: str | PathLike[str], data_dir: str | PathLike[str] | None = None, rehash: bool = False
) -> Verification:
    """Check a run, or an experiment and each of its runs, and return all problems.

    Args:
        data_dir: folder of your own data, by default `$PODIUM_HOME/data`; never that of the experiment.
        rehash: True to hash this data again, to detect changes since it was prepared.

    >>> import podium
    >>> experiment = podium.run("spaceship-titanic", agent="baseline", miniature=True)
    >>> podium.verify(experiment.folder).summary
    'Verified 1 of 1 run.'
    """
    from podium.verify import verify

    return verify(Path(path), data_dir=_path(data_dir), rehash=rehash)


def _path(path: str | PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)
