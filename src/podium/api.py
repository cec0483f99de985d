"""What `import podium` offers: find, prepare, validate and grade tasks; run, resume, verify and report experiments."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium import catalog
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
    """The task of that id; an unknown one raises `UnknownTaskError` with the closest ids.

    >>> import podium
    >>> podium.load("spaceship-titanic").metric.title
    'Accuracy'
    """
    return catalog.load(task)


def tasks(suite: str | None = None) -> list[str]:
    """The ids of all tasks, or of those in a suite.

    >>> import podium
    >>> len(podium.tasks("mle-bench-lite"))
    22
    """
    if suite is None:
        return [listing.id for listing in catalog.listings()]
    if suite not in catalog.suites():
        raise UnknownTaskError(f"There is no suite '{suite}'. The suites are: {', '.join(catalog.suites())}")
    return list(catalog.suites()[suite].tasks)


def prepare(
    task: str | Task,
    raw: str | PathLike[str] | None = None,
    data_dir: str | PathLike[str] | None = None,
    miniature: bool = False,
    edition: Edition | None = None,
) -> PrepareResult:
    """Makes a task's public and private data, unless that has been done.

    >>> import podium
    >>> podium.prepare("spaceship-titanic", miniature=True).status
    'made'
    """
    from podium.data.prepare import prepare_task

    found = load(task) if isinstance(task, str) else task
    return prepare_task(found, raw=_path(raw), data_dir=_path(data_dir), miniature=miniature, edition=edition)


def validate(
    task: str | Task,
    path: str | PathLike[str],
    data_dir: str | PathLike[str] | None = None,
    edition: Edition | None = None,
) -> Validation:
    """Whether a submission has the right form; uses public files only. Files are given by the folder they lie in.

    >>> import podium
    >>> sample = podium.prepare("spaceship-titanic", miniature=True).place.public / "sample_submission.csv"
    >>> podium.validate("spaceship-titanic", sample).valid
    True
    """
    return catalog.resolve(task, edition=edition, data_dir=_path(data_dir)).validate(Path(path))


def grade(
    task: str | Task,
    path: str | PathLike[str],
    data_dir: str | PathLike[str] | None = None,
    edition: Edition | None = None,
) -> Grade:
    """Score, medal and rank of a submission; an invalid one is a result with an error, not an exception.

    A submission that is a table is given by its file, one that is files by the folder they lie in: those are run in
    a sandbox, which needs the extra `run`.

    >>> import podium
    >>> sample = podium.prepare("spaceship-titanic", miniature=True).place.public / "sample_submission.csv"
    >>> round(podium.grade("spaceship-titanic", sample).score, 4)
    0.5714
    """
    return catalog.resolve(task, edition=edition, data_dir=_path(data_dir)).grade(Path(path), _in_sandboxes)


def _in_sandboxes(prepared: PreparedTask) -> AbstractContextManager[Execute]:
    """Runs submitted programs; imported only when there are some."""
    from podium.runs.attempt.evaluate_programs import in_sandboxes

    return in_sandboxes()(prepared)


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
    """Lets an agent work on tasks or suites, grades what it submits, and gives back the experiment.

    An experiment that is there already goes on: finished runs are kept, interrupted ones resume.

    Args:
        agent: by default one that suits the tasks and needs no model.
        out: the experiment's folder; by default a new one below `runs`.
        executor: who carries the runs out; by default processes of this machine.
        miniature: whether fabricated stand-ins are used in place of real data.
        retry: whether failed runs are done again.
        settings: other parts of the plan: `options`, `model_base_url`, `model_roles`, `edition`, `sandbox`, ...

    >>> import podium
    >>> experiment = podium.run("spaceship-titanic", agent="baseline", miniature=True)
    >>> experiment.records()[0].status
    'finished'
    """
    from podium.runs.plan.start_experiment import make_plan, start_experiment

    if budget is not None:
        settings["budget"] = budget
    ids = catalog.expand([tasks] if isinstance(tasks, str) else list(tasks))
    plan = make_plan(ids, agent=agent, model=model, miniature=miniature, **settings)
    experiment = start_experiment(ids, plan, seeds=seeds, out=_path(out), local=_is_local(executor))
    return _carry_out(experiment, executor, retry=retry)


def resume(
    out: str | PathLike[str],
    *,
    executor: Executor | None = None,
    retry: bool = False,
    trust: bool = False,
    **changes: Any,
) -> Experiment:
    """Continues an experiment as it was started.

    Args:
        retry: whether failed runs are done again.
        trust: whether its plan is carried out though it was not made here: it may run commands without a sandbox.
        changes: `model`, `model_base_url`, `model_roles`, `budget`, `data_dir` or `env`, for all that is not done yet;
            the experiment, its journals and its records say so.

    >>> import podium
    >>> experiment = podium.run("spaceship-titanic", agent="baseline", miniature=True, out="runs/first")
    >>> podium.resume("runs/first").records()[0].status
    'finished'
    """
    from podium.runs.experiment import read_experiment
    from podium.runs.plan.start_experiment import resume_experiment

    return _carry_out(resume_experiment(read_experiment(Path(out)), changes, trust=trust), executor, retry=retry)


def _is_local(executor: Executor | None) -> bool:
    from podium.runs.drive.executors.local_executor import LocalExecutor

    return executor is None or isinstance(executor, LocalExecutor)


def _carry_out(experiment: Experiment, executor: Executor | None, *, retry: bool) -> Experiment:
    from podium.runs.drive.driver import Driver
    from podium.runs.drive.executors import make_executor

    Driver(experiment, retry=retry).carry_out(executor or make_executor())
    return experiment


def verify(
    path: str | PathLike[str], data_dir: str | PathLike[str] | None = None, rehash: bool = False
) -> Verification:
    """What is wrong with a run, or with an experiment and each of its runs, if anything.

    Args:
        data_dir: where your own data lies, if not in the usual place; that of the experiment is not used.
        rehash: whether that data is hashed again, to find what was altered since it was prepared.

    >>> import podium
    >>> experiment = podium.run("spaceship-titanic", agent="baseline", miniature=True)
    >>> podium.verify(experiment.folder).summary
    'Verified 1 of 1 run.'
    """
    from podium.verify import verify

    return verify(Path(path), data_dir=_path(data_dir), rehash=rehash)


def _path(path: str | PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)
