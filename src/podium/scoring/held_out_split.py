"""Hidden evaluation: rows of the training data that Podium sets aside and scripts predict blindly.

Before an agent sees the data, some training rows lose their labels and move to the test table: some for the search,
some for the final choice. A script predicts all test rows and cannot tell which are which; Podium scores those it
knows, outside the sandbox, by the task's own grading. The competition's answers have no part in it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.errors import InvalidSubmission, PodiumError
from podium.grading.prepared_task import PreparedTask
from podium.grading.read_submission import read_submission
from podium.safefs.remove_tree import remove_tree
from podium.tables.dates import parse_dates
from podium.tables.parse_numbers import to_numbers
from podium.tables.profile import Profile
from podium.tables.profile_task import profile_task
from podium.task import Columns, Task

PARTS = ("search", "selection")
LEAST_ROWS = 30
"""Of a part: fewer tell nothing."""
MOST_CLASSES = 30
"""That each have their share in a part; with more of them, chance has to do."""


class NotDivisibleError(PodiumError):
    """Rows cannot be set aside from a task's data; says why."""


@dataclass(frozen=True)
class HeldOut:
    """Rows that were set aside."""

    folder: Path
    prepared: PreparedTask

    @property
    def public(self) -> Path:
        """What the agent sees in place of the task's public folder."""
        return self.folder / "public"

    def part(self, name: str) -> PreparedTask:
        """A part as a task of its own: its sample submission lists the rows, its answers are their labels."""
        place = replace(self.prepared.place, root=self.folder / name)
        return replace(self.prepared, place=place)

    @cached_property
    def ids(self) -> dict[str, set[tuple[str, ...]]]:
        """The rows of each part."""
        columns = list(self.prepared.task.form.ids)
        return {name: set(_rows(_read(self.folder / name / "public" / _sample(self)), columns)) for name in PARTS}

    @property
    def limit_bytes(self) -> int:
        """Of predictions: those of the rows set aside come to a submission's."""
        return self.prepared.submission_limit * 2

    def read(self, path: Path) -> pd.DataFrame | None:
        """Predictions that a script has written, as texts; None where they have not the form of a submission."""
        form = self.prepared.task.form
        try:
            return read_submission(path, form, expected_rows=self._row_count, max_bytes=self.limit_bytes, as_text=True)
        except InvalidSubmission:
            return None

    @cached_property
    def _row_count(self) -> int:
        return len(_read(self.public / _sample(self)))

    def split(self, predictions: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        """Predictions of test rows, and those of each part."""
        rows = _rows(predictions, list(self.prepared.task.form.ids))
        known = set().union(*self.ids.values())
        rest = predictions[[row not in known for row in rows]]
        return rest, {name: predictions[[row in ids for row in rows]] for name, ids in self.ids.items()}

    def score(self, predictions: pd.DataFrame, name: str) -> float | None:
        """The score of predictions of a part's rows; None where they have not the right form."""
        with tempfile.TemporaryDirectory(prefix="podium-held-out-") as folder:
            path = Path(folder, "submission.csv")
            predictions.to_csv(path, index=False)
            grade = self.part(name).grade(path)
        return grade.score if grade.valid else None


def set_aside(folder: Path, prepared: PreparedTask, shares: tuple[float, float], seed: int) -> HeldOut:
    """Sets rows aside: with the same seed always the same.

    Args:
        folder: where everything is put; it is not the agent's.
        shares: of the training rows, for the search and for the final choice.

    Raises:
        NotDivisibleError: the task's data does not allow it.
    """
    remove_tree(folder)  # whoever made it may have put something there
    folder.mkdir(mode=0o700, parents=True)
    found = HeldOut(folder, prepared)
    _divide(found, shares, seed)
    return found


def _divide(held_out: HeldOut, shares: tuple[float, float], seed: int) -> None:
    prepared, public = held_out.prepared, held_out.prepared.place.public
    profile = _divisible(prepared)
    assert profile.train is not None and profile.test is not None
    train, test = _read(public / profile.train.file), _read(public / profile.test.file)
    sample, ids = _read(public / profile.sample), list(prepared.task.form.ids)
    if set(_rows(train, ids)) & set(_rows(sample, ids)):
        raise NotDivisibleError("ids of the training data and of the test data overlap")
    distinct = train.drop_duplicates(ignore_index=True)
    if distinct.duplicated(ids).any():
        raise NotDivisibleError("different rows of its training data have the same id")
    rng = np.random.default_rng(seed)
    parts = _choose_rows(distinct, profile, shares, rng)
    for name, rows in zip(PARTS, parts, strict=True):
        _write_part(held_out.folder / name, prepared.task, distinct.iloc[rows], profile)
    moved = distinct.iloc[np.concatenate(parts)]
    known = set(_rows(moved, ids))
    kept = train[[row not in known for row in _rows(train, ids)]]  # nor copies of a row that moved: they have its label
    tests = pd.concat([test, moved.reindex(columns=test.columns)]).iloc[rng.permutation(len(test) + len(moved))]
    guess = sample.iloc[np.zeros(len(moved), dtype=int)].assign(**{name: moved[name].to_numpy() for name in ids})
    samples = pd.concat([sample, guess]).set_index(ids)
    samples = samples.loc[_index(tests, ids, samples)].reset_index()[list(sample.columns)]
    _link_tree(public, held_out.public, leave_out={profile.train.file, profile.test.file, profile.sample})
    for table, file in ((kept, profile.train.file), (tests, profile.test.file), (samples, profile.sample)):
        (held_out.public / file).parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(held_out.public / file, index=False)
    _check(held_out)


def _divisible(prepared: PreparedTask) -> Profile:
    """How the data looks, if rows can be moved from one table to the other."""
    task = prepared.task
    if not task.is_table or task.parts.answers is not None:
        raise NotDivisibleError("its submission is not a plain table")
    form, public = task.form, prepared.place.public
    profile = profile_task(
        public, brief=task.brief, metric=task.metric, sample=form.sample, ids=form.ids, targets=form.targets
    )
    train, test = profile.train, profile.test
    if train is None or test is None or profile.modality not in ("tabular", "text"):
        raise NotDivisibleError("its rows do not lie in one table for training and one for testing")
    if profile.file_patterns is not None or train.is_truncated or test.is_truncated:
        raise NotDivisibleError("its rows have files of their own, or its tables are too large")
    if not all(name in train and name in test for name in form.ids):
        raise NotDivisibleError("its training rows have no ids")
    if not all(Path(file).suffix == ".csv" for file in (train.file, test.file, profile.sample)):
        raise NotDivisibleError("its tables are not CSV files")
    return profile


def _choose_rows(
    train: pd.DataFrame, profile: Profile, shares: tuple[float, float], rng: np.random.Generator
) -> list[np.ndarray]:
    """The rows of each part: the last by time where test follows train, whole groups where those differ, or else a
    sample in which every class has its share."""
    counts = [int(share * len(train)) for share in shares]
    if min(counts) < LEAST_ROWS:
        raise NotDivisibleError(f"of {len(train)} training rows a part would have fewer than {LEAST_ROWS}")
    if profile.time is not None:
        order = _moments(train[profile.time]).sort_values(kind="stable", na_position="first").index.to_numpy()
        last = rng.permutation(order[len(train) - sum(counts) :])
        return [last[: counts[0]], last[counts[0] :]]
    if profile.group is not None:
        return _by_group(train[profile.group], counts, rng)
    strata = _strata(train[profile.labels[0]])
    key = pd.Series(rng.random(len(train))).groupby(np.asarray(strata)).rank(pct=True).to_numpy()
    first, second = key <= shares[0], (key > shares[0]) & (key <= sum(shares))
    return [np.flatnonzero(first), np.flatnonzero(second)]


def _strata(label: pd.Series) -> pd.Series:
    """The parts of rows that are sampled alike: classes, twentieths of numbers, all rows where classes are many."""
    if label.nunique() <= MOST_CLASSES:
        return label
    numbers = to_numbers(label)
    if numbers.isna().any():
        return pd.Series(0, label.index)
    return pd.qcut(numbers, 20, labels=False, duplicates="drop")


def _moments(cells: pd.Series) -> pd.Series:
    """Times that can be ordered, read as recipes read them; missing where a cell is not one."""
    numbers = to_numbers(cells)
    return numbers if numbers.notna().any() else parse_dates(cells.where(cells != ""), utc=True)


def _by_group(groups: pd.Series, counts: list[int], rng: np.random.Generator) -> list[np.ndarray]:
    parts: list[np.ndarray] = []
    names = list(rng.permutation(groups.unique()))
    for count in counts:
        chosen: list[Any] = []
        while names and groups.isin(chosen).sum() < count:
            chosen.append(names.pop())
        parts.append(np.flatnonzero(groups.isin(chosen)))
    return parts


def _write_part(folder: Path, task: Task, rows: pd.DataFrame, profile: Profile) -> None:
    """Rows with their labels as the public and private folder of a task."""
    form, ids = task.form, list(task.form.ids)
    targets = _submitted(rows, profile, form)
    names = [form.answers_target] if isinstance(form.answers_target, str) else list(form.answers_target or form.targets)
    if not len(targets.columns) == len(names) == len(form.targets):
        raise NotDivisibleError("its labels are not what is submitted")
    answers = targets.set_axis(names, axis=1)
    for part in ("public", "private"):
        (folder / part).mkdir(parents=True)
    pd.concat([rows[ids], answers], axis=1).to_csv(folder / "private" / form.answers, index=False)
    sample = pd.concat([rows[ids], targets.set_axis(list(form.targets), axis=1)], axis=1)
    sample.to_csv(folder / "public" / form.sample, index=False)


def _submitted(rows: pd.DataFrame, profile: Profile, form: Columns) -> pd.DataFrame:
    """The labels of rows as the perfect submission has them."""
    label = rows[profile.labels[0]]
    if profile.levels:  # where quantiles are asked for, the truth is best for each of them
        return pd.DataFrame(dict.fromkeys(form.targets, label))
    if not profile.is_wide:
        return rows[list(profile.labels)]
    shares = pd.get_dummies(label).astype(int)
    shares = shares.rename(columns=dict(zip(map(str, profile.classes), form.targets, strict=True)))
    return shares.reindex(columns=list(form.targets), fill_value=0)


def _check(held_out: HeldOut) -> None:
    """The labels themselves must be a valid submission with a score, or the task means something else by them."""
    for name in PARTS:
        truth = _read(held_out.folder / name / "public" / _sample(held_out))
        if held_out.score(truth, name) is None:
            raise NotDivisibleError("its labels are not what is submitted")


def _sample(held_out: HeldOut) -> str:
    return held_out.prepared.task.form.sample


def _read(path: Path) -> pd.DataFrame:
    """A table whose cells stay as they are written."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _rows(table: pd.DataFrame, ids: list[str]) -> list[tuple[str, ...]]:
    return list(zip(*(table[name].astype(str) for name in ids), strict=True))


def _index(tests: pd.DataFrame, ids: list[str], samples: pd.DataFrame) -> Any:
    """The rows of a sample submission in the order of the test table."""
    order = tests[ids[0]] if len(ids) == 1 else pd.MultiIndex.from_frame(tests[ids])
    return order if len(samples) == len(tests) else samples.index


def _link_tree(source: Path, target: Path, leave_out: set[str]) -> None:
    """A folder with the same files, which take no room."""
    for path in sorted(source.resolve().rglob("*")):
        name = path.relative_to(source.resolve())
        if path.is_dir() or str(name) in leave_out:
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target / name)
        except OSError:  # on another disk
            shutil.copyfile(path, target / name)
