"""Held-out split: training rows whose labels Podium hides, so that scripts predict them without knowing it.

Before an agent sees the data, some training rows move to the test table without their labels: one part for the search,
one for the final selection. A script predicts all test rows and cannot distinguish them; Podium scores the held-out
ones outside the sandbox, by the task's own grading. The competition's answers are not used.
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
MIN_PART_ROWS = 30
"""Smallest number of rows in a part."""
MAX_STRATIFIED_CLASSES = 30
"""Largest number of classes for a stratified split; with more classes rows are sampled without strata."""


class NotDivisibleError(PodiumError):
    """No rows can be held out from a task's data. The message is the reason."""


@dataclass(frozen=True)
class HeldOut:
    """Held-out rows of a task, on disk."""

    folder: Path
    prepared: PreparedTask

    @property
    def public(self) -> Path:
        """Return the folder that replaces the task's public folder for the agent."""
        return self.folder / "public"

    def part(self, name: str) -> PreparedTask:
        """Return a part as a task of its own: its sample submission lists the rows, its answers are their labels."""
        place = replace(self.prepared.place, root=self.folder / name)
        return replace(self.prepared, place=place)

    @cached_property
    def ids(self) -> dict[str, set[tuple[str, ...]]]:
        """Return the ids of each part."""
        columns = list(self.prepared.task.form.ids)
        return {name: set(_rows(_read(self.folder / name / "public" / _sample(self)), columns)) for name in PARTS}

    @property
    def limit_bytes(self) -> int:
        """Return the size limit of predictions, which contain held-out rows in addition to the submission's."""
        return self.prepared.submission_limit * 2

    def read(self, path: Path) -> pd.DataFrame | None:
        """Read predictions of a script as text. Return None if they are not in the format of a submission."""
        form = self.prepared.task.form
        try:
            return read_submission(path, form, expected_rows=self._row_count, max_bytes=self.limit_bytes, as_text=True)
        except InvalidSubmission:
            return None

    @cached_property
    def _row_count(self) -> int:
        return len(_read(self.public / _sample(self)))

    def split(self, predictions: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        """Split predictions into those of the test rows and those of each part."""
        rows = _rows(predictions, list(self.prepared.task.form.ids))
        known = set().union(*self.ids.values())
        rest = predictions[[row not in known for row in rows]]
        return rest, {name: predictions[[row in ids for row in rows]] for name, ids in self.ids.items()}

    def score(self, predictions: pd.DataFrame, name: str) -> float | None:
        """Return the score of predictions of a part's rows, or None if their format is invalid."""
        with tempfile.TemporaryDirectory(prefix="podium-held-out-") as folder:
            path = Path(folder, "submission.csv")
            predictions.to_csv(path, index=False)
            grade = self.part(name).grade(path)
        return grade.score if grade.valid else None


def set_aside(folder: Path, prepared: PreparedTask, shares: tuple[float, float], seed: int) -> HeldOut:
    """Hold out rows of a task. The same seed always gives the same rows.

    Args:
        folder: folder for all files, which the agent cannot access.
        shares: shares of the training rows for the search and for the final selection.

    Raises:
        NotDivisibleError: the task's data does not allow it.
    """
    remove_tree(folder)  # an existing folder may contain planted files
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
        raise NotDivisibleError("its training data and test data share ids")
    distinct = train.drop_duplicates(ignore_index=True)
    if distinct.duplicated(ids).any():
        raise NotDivisibleError("different rows of its training data have the same id")
    rng = np.random.default_rng(seed)
    parts = _choose_rows(distinct, profile, shares, rng)
    for name, rows in zip(PARTS, parts, strict=True):
        _write_part(held_out.folder / name, prepared.task, distinct.iloc[rows], profile)
    moved = distinct.iloc[np.concatenate(parts)]
    known = set(_rows(moved, ids))
    kept = train[
        [row not in known for row in _rows(train, ids)]
    ]  # also drops copies of moved rows, which have their labels
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
    """Return the profile of the data. Raise an error if rows cannot be moved from one table to the other."""
    task = prepared.task
    if not task.is_table or task.parts.answers is not None:
        raise NotDivisibleError("its submission is not a plain table")
    form, public = task.form, prepared.place.public
    profile = profile_task(
        public, brief=task.brief, metric=task.metric, sample=form.sample, ids=form.ids, targets=form.targets
    )
    train, test = profile.train, profile.test
    if train is None or test is None or profile.modality not in ("tabular", "text"):
        raise NotDivisibleError("its rows are not in one table for training and one for testing")
    if profile.file_patterns is not None or train.is_truncated or test.is_truncated:
        raise NotDivisibleError("its rows refer to files, or its tables are too large")
    if not all(name in train and name in test for name in form.ids):
        raise NotDivisibleError("its training rows have no ids")
    if not all(Path(file).suffix == ".csv" for file in (train.file, test.file, profile.sample)):
        raise NotDivisibleError("its tables are not CSV files")
    return profile


def _choose_rows(
    train: pd.DataFrame, profile: Profile, shares: tuple[float, float], rng: np.random.Generator
) -> list[np.ndarray]:
    """Return the rows of each part: the latest if the test set is later, whole groups if groups differ, otherwise a
    stratified sample."""
    counts = [int(share * len(train)) for share in shares]
    if min(counts) < MIN_PART_ROWS:
        raise NotDivisibleError(f"with {len(train)} training rows, a part would have fewer than {MIN_PART_ROWS} rows")
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
    """Return the strata of rows: classes, 20 quantiles of numbers, or one stratum if there are too many classes."""
    if label.nunique() <= MAX_STRATIFIED_CLASSES:
        return label
    numbers = to_numbers(label)
    if numbers.isna().any():
        return pd.Series(0, label.index)
    return pd.qcut(numbers, 20, labels=False, duplicates="drop")


def _moments(cells: pd.Series) -> pd.Series:
    """Return sortable times, parsed as recipes parse them; missing for invalid cells."""
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
    """Write rows with their labels as the public and private folder of a task."""
    form, ids = task.form, list(task.form.ids)
    targets = _submitted(rows, profile, form)
    names = [form.answers_target] if isinstance(form.answers_target, str) else list(form.answers_target or form.targets)
    if not len(targets.columns) == len(names) == len(form.targets):
        raise NotDivisibleError("its labels are not in the format of the submission")
    answers = targets.set_axis(names, axis=1)
    for part in ("public", "private"):
        (folder / part).mkdir(parents=True)
    pd.concat([rows[ids], answers], axis=1).to_csv(folder / "private" / form.answers, index=False)
    sample = pd.concat([rows[ids], targets.set_axis(list(form.targets), axis=1)], axis=1)
    sample.to_csv(folder / "public" / form.sample, index=False)


def _submitted(rows: pd.DataFrame, profile: Profile, form: Columns) -> pd.DataFrame:
    """Return the labels of rows in the format of a perfect submission."""
    label = rows[profile.labels[0]]
    if profile.levels:  # the true value is the best prediction of every quantile
        return pd.DataFrame(dict.fromkeys(form.targets, label))
    if not profile.is_wide:
        return rows[list(profile.labels)]
    shares = pd.get_dummies(label).astype(int)
    shares = shares.rename(columns=dict(zip(map(str, profile.classes), form.targets, strict=True)))
    return shares.reindex(columns=list(form.targets), fill_value=0)


def _check(held_out: HeldOut) -> None:
    """Raise an error if the labels themselves are not a valid submission with a score."""
    for name in PARTS:
        truth = _read(held_out.folder / name / "public" / _sample(held_out))
        if held_out.score(truth, name) is None:
            raise NotDivisibleError("its labels are not in the format of the submission")


def _sample(held_out: HeldOut) -> str:
    return held_out.prepared.task.form.sample


def _read(path: Path) -> pd.DataFrame:
    """Read a table without converting its cells."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _rows(table: pd.DataFrame, ids: list[str]) -> list[tuple[str, ...]]:
    return list(zip(*(table[name].astype(str) for name in ids), strict=True))


def _index(tests: pd.DataFrame, ids: list[str], samples: pd.DataFrame) -> Any:
    """Return the rows of a sample submission in the order of the test table."""
    order = tests[ids[0]] if len(ids) == 1 else pd.MultiIndex.from_frame(tests[ids])
    return order if len(samples) == len(tests) else samples.index


def _link_tree(source: Path, target: Path, leave_out: set[str]) -> None:
    """Create a folder of hard links to the same files, which takes no additional space."""
    for path in sorted(source.resolve().rglob("*")):
        name = path.relative_to(source.resolve())
        if path.is_dir() or str(name) in leave_out:
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target / name)
        except OSError:  # on another disk
            shutil.copyfile(path, target / name)
