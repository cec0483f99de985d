"""What `import podium` offers: find, prepare, validate and grade tasks."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from podium import catalog
from podium.errors import UnknownTaskError
from podium.task import Edition, Files, Task

if TYPE_CHECKING:
    from podium.data.prepare import Prepared
    from podium.grading.grade import Grade, Validation


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
) -> Prepared:
    """Makes a task's public and private data, unless that has been done.

    >>> import podium
    >>> podium.prepare("spaceship-titanic", miniature=True).status
    'made'
    """
    from podium.data.prepare import prepare_task

    return prepare_task(_task(task), raw=_path(raw), data_dir=_path(data_dir), miniature=miniature, edition=edition)


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
    from podium.data.prepare import choose_edition
    from podium.grading.grade import validate_submission

    found = _task(task)
    if isinstance(found.in_edition(choose_edition(found, edition)).submission, Files):
        from podium.runs.evaluating import validate_folder

        return validate_folder(found, Path(path), edition=edition)
    return validate_submission(found, Path(path), data_dir=_path(data_dir), edition=edition)


def grade(
    task: str | Task,
    path: str | PathLike[str],
    data_dir: str | PathLike[str] | None = None,
    edition: Edition | None = None,
) -> Grade:
    """Score, medal and place of a submission; an invalid one is a result with an error, not an exception.

    A submission that is a table is given by its file, one that is files by the folder they lie in: those are run in
    a sandbox, which needs the extra `run`.

    >>> import podium
    >>> sample = podium.prepare("spaceship-titanic", miniature=True).place.public / "sample_submission.csv"
    >>> round(podium.grade("spaceship-titanic", sample).score, 4)
    0.5714
    """
    from podium.data.prepare import choose_edition
    from podium.grading.grade import grade_submission

    found = _task(task)
    if isinstance(found.in_edition(choose_edition(found, edition)).submission, Files):
        from podium.runs.evaluating import grade_folder

        return grade_folder(found, Path(path), data_dir=_path(data_dir), edition=edition)
    return grade_submission(found, Path(path), data_dir=_path(data_dir), edition=edition)


def _task(task: str | Task) -> Task:
    return load(task) if isinstance(task, str) else task


def _path(path: str | PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)
