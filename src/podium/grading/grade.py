"""Validates and grades: from a file to a score, a medal and a place, or to a message that says what to mend."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from podium.data.archives import opened_member
from podium.data.home import Place, locate
from podium.data.imports import imported_leaderboard
from podium.data.manifest import read_manifest
from podium.data.prepare import choose_edition
from podium.errors import InvalidSubmission, NotPreparedError, PodiumError
from podium.grading.baseline import beyond_noise, improvement, read_baseline
from podium.grading.leaderboard import read_leaderboard, read_leaderboard_csv, standing
from podium.grading.medals import thresholds
from podium.grading.reading import read_submission, size_limit
from podium.grading.submission import align, convert
from podium.task import Baseline, Columns, Edition, Leaderboard, Medal, Reference, Task, Text

DECIMALS = 5
"""As MLE-bench reports scores."""
LEADERBOARD_FILE = "leaderboard.json"


@dataclass(frozen=True)
class Validation:
    """Whether a submission has the right form; needs no answers."""

    task: str
    valid: bool
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Grade:
    """What a submission is worth. An invalid one has no score but an error that says what to mend."""

    task: str
    edition: Edition
    valid: bool
    error: str | None = None
    score: float | None = None
    score_rounded: float | None = None
    higher_is_better: bool | None = None
    medal: Medal | None = None
    above_median: bool | None = None
    percentile: float | None = None
    rank: int | None = None
    teams: int | None = None
    improvement: float | None = None
    """Percent by which a research task's baseline was improved."""
    success: bool | None = None
    """Whether that is more than success asks for."""
    beyond_noise: bool | None = None
    """Whether it is more than the baseline's own spread explains; None where the spread is not known."""
    miniature: bool = False
    """Whether the data was a fabricated miniature, which makes the medal meaningless."""

    def to_dict(self) -> dict[str, Any]:
        """The grade as plain JSON: an infinite score is the text "-Infinity" or "Infinity"."""
        return {name: plain(value) for name, value in asdict(self).items()}


def plain(value: Any) -> Any:
    """The value, or its name where it is a number that JSON does not have; `float` reads the name back."""
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value


def validate_submission(
    task: Task, path: Path, *, data_dir: Path | None = None, edition: Edition | None = None
) -> Validation:
    """Checks a table against the sample submission in the public folder."""
    edition = choose_edition(task, edition)
    data = prepared_data(task, edition, data_dir)
    form = task.in_edition(edition).form
    try:
        _read_aligned(form, path, data, ids=_sample_ids(form, data))
    except InvalidSubmission as fault:
        return Validation(task.id, valid=False, error=str(fault))
    return Validation(task.id, valid=True)


def grade_submission(task: Task, path: Path, *, data_dir: Path | None = None, edition: Edition | None = None) -> Grade:
    """Scores a table against the answers and ranks the score against the task's reference."""
    edition = choose_edition(task, edition)
    data = prepared_data(task, edition, data_dir)
    task = task.in_edition(edition)
    return grade_score(task, edition, data, lambda: _score(task, path, data, edition))


def grade_score(task: Task, edition: Edition, data: Data, find_score: Callable[[], float]) -> Grade:
    """The grade of a score that has yet to be found; a submission's fault on the way there becomes the result."""
    try:
        score = find_score()
    except InvalidSubmission as fault:
        return Grade(task.id, edition, valid=False, error=str(fault), miniature=data.miniature)
    return Grade(
        task=task.id,
        edition=edition,
        valid=True,
        score=score,
        score_rounded=round(score, DECIMALS),
        higher_is_better=task.metric.higher_is_better,
        miniature=data.miniature,
        **_compare(score, find_reference(task, data.place), higher_is_better=task.metric.higher_is_better),
    )


def find_reference(task: Task, place: Place) -> Reference | None:
    """What scores are compared with: a measured field or baseline, else an imported leaderboard, else what the task
    declares.
    """
    measured = place.private / LEADERBOARD_FILE
    if measured.exists():
        return read_leaderboard(measured)
    baseline = read_baseline(place)
    if baseline:
        return baseline
    imported = imported_leaderboard(task.id)
    if imported:
        return read_leaderboard_csv(imported, lower_is_better=not task.metric.higher_is_better)
    return task.reference


@dataclass(frozen=True)
class Data:
    """A prepared task's data, and how to make it again."""

    place: Place
    miniature: bool
    command: str

    @contextmanager
    def blamed(self, what: str) -> Iterator[None]:
        """Says that prepared files are to blame, not a submission, if what is done with them fails."""
        try:
            yield
        except FileNotFoundError as error:
            raise NotPreparedError(f"{error.filename} is missing. Run: {self.command}") from error
        except (ValueError, LookupError) as error:
            reason = str(error).rstrip(".") if isinstance(error, ValueError) else repr(error)
            advice = f"Delete {self.place.manifest} and run: {self.command}"
            raise PodiumError(f"{what} damaged ({reason}). {advice}") from error


def prepared_data(task: Task, edition: Edition, data_dir: Path | None) -> Data:
    """The data of a task.

    Raises:
        NotPreparedError: it is not there.
    """
    place = locate(task.id, edition=edition, data_dir=data_dir)
    manifest = read_manifest(place)
    command = f"podium prepare {task.id}" + ("" if edition == task.edition else f" --edition {edition}")
    if manifest is None:
        raise NotPreparedError(f"{task.id} is not prepared in {place.root}. Run: {command}")
    data = Data(place, manifest.miniature, command + (" --miniature" if manifest.miniature else ""))
    form = task.in_edition(edition).submission
    if isinstance(form, Columns):
        with data.blamed("The public folder is"):
            (place.public / form.sample).stat()
    return data


def _score(task: Task, path: Path, data: Data, edition: Edition) -> float:
    form, variant, private = task.form, task.variants[edition], data.place.private
    with data.blamed(f"The prepared answers of {task.id} are"):
        answers = variant.answers(private) if variant.answers else read_answers(private / form.answers, form)
        ids = answers[list(form.ids)]
        truth = answers if variant.score else convert_answers(form, answers)
    submission = _read_aligned(form, path, data, ids=ids)
    score = variant.score(truth, submission) if variant.score else apply_metric(task, truth, submission)
    best = math.inf if task.metric.higher_is_better else -math.inf
    if not math.isfinite(score) and score != best:
        what, why = ("undefined", "constant") if math.isnan(score) else ("infinite", "too large")
        columns = ", ".join(repr(name) for name in form.targets[:3])
        raise InvalidSubmission(f"{task.metric.title} is {what} for this submission: is column {columns} {why}?")
    return float(score)


def convert_answers(form: Columns, answers: pd.DataFrame) -> pd.DataFrame:
    """The target columns of the answers, under their names in a submission, as the form's rules read them."""
    names = zip(_answer_names(form), form.targets, strict=True)
    return pd.DataFrame({target: convert(answers[name], form.rule(target), name) for name, target in names})


def apply_metric(task: Task, truth: pd.DataFrame, submission: pd.DataFrame) -> float:
    """The metric over the target columns of tables whose rows correspond."""
    form, metric = task.form, task.metric
    if metric.takes_names:
        rows = submission[list(form.ids)].itertuples(index=False)
        metric = metric.using(names=[", ".join(map(str, row)) for row in rows])
    columns: Any = form.targets[0] if len(form.targets) == 1 else list(form.targets)
    return metric(truth[columns].to_numpy(), submission[columns].to_numpy())


def _sample_ids(form: Columns, data: Data) -> pd.DataFrame:
    sample = data.place.public / form.sample
    with data.blamed(f"{sample} is"), opened_member(sample) as file:
        return pd.read_csv(file, dtype=str, keep_default_na=False)[list(form.ids)]


def _read_aligned(form: Columns, path: Path, data: Data, ids: pd.DataFrame) -> pd.DataFrame:
    sample = data.place.public / form.sample
    with data.blamed(f"{sample} is"):
        limit = size_limit(form, sample.stat().st_size)
        expected = max(len(ids), _count_rows(sample)) if form.extra_rows else len(ids)
    table = read_submission(path, form, expected_rows=expected, max_bytes=limit)
    return align(table, form, ids[list(form.ids)])


def _count_rows(sample: Path) -> int:
    with opened_member(sample) as file:
        return sum(1 for _ in file)


def read_answers(path: Path, form: Columns) -> pd.DataFrame:
    """The answers: ids and text targets as text, everything else as pandas reads it."""
    names = zip(_answer_names(form), form.targets, strict=True)
    texts = [name for name, target in names if isinstance(form.rule(target), Text)]
    return pd.read_csv(path, converters=dict.fromkeys((*form.ids, *texts), str))


def _answer_names(form: Columns) -> tuple[str, ...]:
    names = form.answers_target or form.target
    return (names,) if isinstance(names, str) else names


def _compare(score: float, reference: Reference | None, *, higher_is_better: bool) -> dict[str, Any]:
    match reference:
        case Leaderboard():
            limits, place = thresholds(reference), standing(score, reference)
            return {"medal": limits.medal(score), "above_median": limits.above_median(score), **asdict(place)}
        case Baseline():
            gain = improvement(score, reference.score, higher_is_better=higher_is_better)
            return {
                "improvement": gain,
                "success": None if gain is None else gain > reference.success_at,
                "beyond_noise": beyond_noise(score, reference, higher_is_better=higher_is_better),
            }
        case None:
            return {}
