"""What `import podium` offers: find, prepare, validate and grade tasks."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from podium import catalog
from podium.errors import UnknownTaskError
from podium.task import Edition, Task

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from podium.data.prepare import PrepareResult
    from podium.grading.grade import Grade, Validation
    from podium.grading.prepared import PreparedTask
    from podium.task import Execute


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
    from podium.runs.evaluation import in_sandboxes

    return in_sandboxes()(prepared)


def _path(path: str | PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)
