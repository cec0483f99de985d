"""Validation that does not leak: folds, encoded targets, cross-validation, residuals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import takewhile
from threading import Thread
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from podium.tables.dates import parse_dates
from podium.tables.script_settings import CORES, LATEST, SEED, SPLIT, time_used
from podium.tables.table_io import ids_as_text

LARGE_CELLS = 10_000_000
MAX_WEIGHT_ROWS = 20_000
"""Largest number of rows for fitting weights, which hardly change with more."""
MAX_OUTLIER_SHARE = 0.1
"""Largest share of rows that can be outliers."""
Folds = list[tuple[np.ndarray, np.ndarray]]
Predictions = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Predictions of train rows (out of fold) and test rows, and a mask of the train rows with predictions."""
PredictRows = Callable[[np.ndarray, np.ndarray], np.ndarray]
Fit = Callable[..., PredictRows]
"""Learns from features, groups, a target and a seed. One with a parameter `held` stops by held-out rows."""


@dataclass(frozen=True)
class Stopping:
    """Early stopping of models that add rounds."""

    rows: tuple[np.ndarray, np.ndarray, np.ndarray] | None
    """Features, groups and targets of rows that it is not fitted on; None where there are none."""
    best: list[int]
    """Best numbers of rounds of models with early stopping, used for models without it."""

    def rounds(self, usual: int) -> int:
        """Return the number of rounds without early stopping."""
        return round(float(np.mean(self.best))) if self.best else usual


def encode_classes(labels: pd.Series, classes: list[Any]) -> np.ndarray:
    """Each label's index in the classes; -1 if it is missing or not among them."""
    indices = {name: index for index, name in enumerate(ids_as_text(pd.Series(classes)))}
    return ids_as_text(labels).map(indices).where(labels.notna()).fillna(-1).to_numpy(int)


def encode_listed_labels(labels: pd.Series, names: list[str], separator: str) -> np.ndarray:
    """A column of 0 and 1 per name: whether a row lists it."""
    listed = [set(str(value).split(separator)) for value in labels]
    return np.array([[float(name in items) for name in names] for items in listed])


def make_folds(truth: np.ndarray, count: int, group: pd.Series | None = None) -> Folds:
    """Train and validation rows. Groups stay together; classes and quantiles of the target are stratified."""
    rows = np.arange(len(truth))
    names = None if group is None else group.astype(str).fillna("nan")  # a missing name is one, too
    count = max(2, min(count, len(rows) if names is None else names.nunique()))
    if names is not None:
        return list(GroupKFold(count, shuffle=True, random_state=SEED + SPLIT).split(rows, groups=names))
    strata = truth if truth.ndim == 1 else truth @ (2.0 ** np.arange(truth.shape[1]) % 97)
    if len(np.unique(strata)) > 20:
        strata = pd.qcut(
            pd.Series(strata).rank(method="first"), min(10, max(2, len(rows) // (2 * count))), labels=False
        )
    strata = pd.factorize(np.asarray(strata))[0]
    rare = pd.Series(strata).map(pd.Series(strata).value_counts()) < count
    strata = np.where(rare, -1, strata)
    if pd.Series(strata).value_counts().min() < count:
        return list(KFold(count, shuffle=True, random_state=SEED + SPLIT).split(rows))
    return list(StratifiedKFold(count, shuffle=True, random_state=SEED + SPLIT).split(rows, strata))


def later_folds(time: pd.Series, rows: int) -> Folds:
    """The last times of train in windows as long as the one to predict, the latest first, each with the rows before it.

    Args:
        time: of all rows, train rows first.
    """
    moments = time_numbers(time)
    known = np.nan_to_num(moments[:rows], nan=-np.inf)
    last = known.max()
    length = max(np.nanmax(moments[rows:]) - last, last - np.quantile(known, 0.97))
    ends = last - length * np.arange(SPLIT, SPLIT + (2 if rows > 5000 else 4))
    folds = [
        (np.flatnonzero(known <= end - length), np.flatnonzero((known > end - length) & (known <= end))) for end in ends
    ]
    folds = [(learn, check) for learn, check in folds if len(learn) >= 0.4 * rows and len(check)]
    if folds:
        return folds
    # The time to predict is long beside that of train: one shorter window.
    values, counts = np.unique(known, return_counts=True)
    cut = values[np.argmin(np.abs(np.cumsum(counts)[:-1] / rows - (0.7 - 0.1 * SPLIT)))]
    return [(np.flatnonzero(known <= cut), np.flatnonzero(known > cut))]


def time_numbers(time: pd.Series) -> np.ndarray:
    """Times as numbers: days since 1970, or what they are if they are numbers."""
    if pd.api.types.is_numeric_dtype(time):
        return time.to_numpy(float)
    dates = parse_dates(time, utc=True)
    return ((dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)).to_numpy(float)


def encode_targets(fit: np.ndarray, y: np.ndarray, other: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """The mean target of each row's groups, shrunk towards the overall mean.

    Five inner folds keep each row that is learnt from out of its own mean.
    """
    y_columns = y.reshape(len(y), -1)
    inner = list(KFold(5, shuffle=True, random_state=SEED).split(y_columns))
    own, others = [], []
    for left, right in zip(fit.T, other.T, strict=True):
        size = int(max(left.max(), right.max())) + 1
        for column in y_columns.T:
            means = np.empty(len(left))
            for learn, apply in inner:
                means[apply] = group_means(left[learn], column[learn], size, weight)[left[apply]]
            own.append(means)
            others.append(group_means(left, column, size, weight)[right])
    return np.column_stack(own), np.column_stack(others)


def group_means(group: np.ndarray, y: np.ndarray, size: int, weight: float) -> np.ndarray:
    """The mean target of every group, shrunk towards that of all rows."""
    sums, counts = np.bincount(group, y, minlength=size), np.bincount(group, minlength=size)
    return np.asarray((sums + weight * y.mean()) / (counts + weight))


def evenly_spread(rows: int, most: int = MAX_WEIGHT_ROWS) -> np.ndarray:
    """Return an even sample of row numbers, for steps that would be slow with all rows."""
    return np.linspace(0, rows - 1, min(rows, most)).astype(int)


def numeric_target(y: np.ndarray) -> np.ndarray:
    """Classes as numbers: 0 and 1, or a column of these per class if there are more than two."""
    is_class = y.dtype.kind == "i" and y.ndim == 1 and y.max() > 1
    return np.eye(int(y.max()) + 1)[y] if is_class else y.astype(float)


def pad_classes(predicted: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Predictions with a column for every class of `y`; a fold may lack the last classes."""
    if y.dtype.kind != "i" or y.ndim > 1 or y.max() <= 1:
        return predicted
    columns = predicted if predicted.ndim == 2 else np.column_stack([1 - predicted, predicted])
    return np.pad(columns, ((0, 0), (0, int(y.max()) + 1 - columns.shape[1])))


def cross_validate(
    numbers: pd.DataFrame,
    groups: pd.DataFrame,
    y: np.ndarray,
    folds: Folds,
    fit: Fit,
    *,
    weight: float = 10.0,
    usable: np.ndarray | None = None,
    seeds: int = 1,
    until: float = 0.8,
    latest: float = LATEST,
    refit: bool = False,
    whole: bool = False,
) -> Predictions:
    """Predictions for train rows by models that were not fitted on them, and for test rows by all models.

    Args:
        numbers, groups: features of all rows, train rows first.
        y: the target: numbers, or indices of classes.
        fit: learns from features, groups and targets; returns what predicts. It is given the rows to validate on where
            it asks for held-out rows.
        weight: how strongly encoded targets are shrunk.
        usable: train rows worth learning from; all by default.
        seeds: how often every model is fitted, each time with another seed.
        refit: whether one more model, of all train rows, predicts the test rows if there is time.
        until: the share of the script's time by which to be done; folds that do not fit in are left out.
        latest: the share at which a fold is not waited for any longer.
        whole: give up as soon as some fold would not fit in.
    """
    rows, y_columns = len(y), numeric_target(y)
    takes_held, best = "held" in signature(fit).parameters, list[int]()
    if refit:
        folds = [*folds, (np.arange(rows), np.arange(0))]
    values, codes = numbers.to_numpy(float), groups.to_numpy(int)

    def predict_fold(number: int) -> np.ndarray:
        learn, check = folds[number]
        learn = learn if usable is None else learn[usable[learn]]
        apply = np.r_[check, np.arange(rows, len(values))]
        if len(np.unique(y[learn])) == 1:
            return np.repeat(y_columns[learn][:1], len(apply), axis=0).astype(float)
        inner, outer = values[learn], values[apply]
        if codes.shape[1]:
            own, others = encode_targets(codes[learn], y_columns[learn], codes[apply], weight)
            inner, outer = np.hstack([inner, own]), np.hstack([outer, others])
        held = {"held": Stopping(held_rows(outer, codes[check], y[check], y[learn]), best)} if takes_held else {}
        models = (fit(inner, codes[learn], y[learn], SEED + 100 * number + again, **held) for again in range(seeds))
        return pad_classes(np.asarray(sum(model(outer, codes[apply]) for model in models) / seeds), y)

    is_large = values.size > LARGE_CELLS
    limits: dict[str, Any] = {"until": until, "latest": latest, "whole": whole}
    found = run_in_parallel(predict_fold, len(folds), is_large=is_large, last_alone=refit, **limits)
    oof = np.zeros((rows, *found[0].shape[1:]))
    done = np.zeros(rows, dtype=bool)
    for (_, check), predicted in zip(folds, found, strict=False):
        oof[check], done[check] = predicted[: len(check)], True
    tests = [predicted[len(predicted) - len(values) + rows :] for predicted in found]
    is_refitted = refit and len(found) == len(folds)
    return oof, tests[-1] if is_refitted else np.mean(tests, axis=0), done


def held_rows(
    features: np.ndarray, groups: np.ndarray, y: np.ndarray, learnt: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The rows to validate on, which come first in the features, without classes that were not learnt; None if none."""
    known = np.isin(y, learnt) if y.dtype.kind == "i" else np.ones(len(y), dtype=bool)
    return (features[: len(y)][known], groups[known], y[known]) if known.any() else None


def cross_predict(
    predict_fold: Callable[[int, np.ndarray, np.ndarray], np.ndarray], folds: Folds, rows: int, *, until: float
) -> Predictions:
    """Predictions of as many folds as there is time for, at least one; those of test rows are averaged.

    Args:
        predict_fold: predicts the validation rows of a fold and then the test rows, given the fold's number, the rows
            to learn from and the validation rows.
        rows: the number of train rows.
        until: the share of the script's time after which no further fold is started.
    """
    started = time_used()
    oof: np.ndarray | None = None
    tests, done = [], np.zeros(rows, dtype=bool)
    for number, (_, check) in enumerate(folds):
        if number and time_used() + (time_used() - started) / number > until:
            break
        for predicted in finished_in_time(lambda one: predict_fold(one, *folds[one]), [number]):
            oof = np.zeros((rows, *predicted.shape[1:])) if oof is None else oof
            oof[check], done[check] = predicted[: len(check)], True
            tests.append(predicted[len(check) :])
    if oof is None:
        raise TimeoutError("there was no time for a single fold")
    return oof, np.mean(tests, axis=0), done


def run_in_parallel(
    work: Callable[[int], np.ndarray],
    count: int,
    *,
    until: float,
    is_large: bool,
    latest: float = LATEST,
    whole: bool = False,
    last_alone: bool = False,
) -> list[np.ndarray]:
    """The results of as many pieces of work as there is time for; at least one, or all if only the whole will do.

    Small ones run in parallel with a core each: models on little data lose more than they gain by sharing cores. The
    last one may be made to wait for all others.
    """
    workers, cores = (1, CORES) if is_large else (CORES, 1)

    def limited(number: int) -> np.ndarray:
        with threadpool_limits(cores, "openmp"):  # this limit is of a thread
            return work(number)

    found: list[np.ndarray] = []
    longest = 0.0
    with threadpool_limits(cores, "blas"):
        while len(found) < count and (not found or time_used() + longest < until):
            started = time_used()
            end = count - 1 if last_alone and len(found) < count - 1 else count
            numbers = range(len(found), min(end, len(found) + workers))
            finished = finished_in_time(limited, numbers, latest)
            found += finished
            longest = max(longest, time_used() - started)
            rounds_left = -(-(count - len(found)) // workers)
            if len(finished) < len(numbers) or (whole and time_used() + rounds_left * longest > until):
                break
    if len(found) < (count if whole else 1):
        raise TimeoutError("there was no time for every fold" if whole else "there was no time for a single fold")
    return found


def finished_in_time(
    work: Callable[[int], np.ndarray], numbers: Sequence[int], latest: float = LATEST
) -> list[np.ndarray]:
    """The results of pieces of work that run side by side, up to the first that is not done when time runs out.

    A model cannot be stopped while it is fitted; threads that are not waited for end with the script.
    """
    results: dict[int, np.ndarray] = {}
    errors: list[Exception] = []

    def run(number: int) -> None:
        try:
            results[number] = work(number)
        except Exception as error:  # noqa: BLE001, it is raised where the result is waited for
            errors.append(error)

    threads = [Thread(target=run, args=(number,), daemon=True) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive() and time_used() < latest:
            thread.join(0.1)
    if errors:
        raise errors[0]
    return [results[number] for number in takewhile(lambda number: number in results, numbers)]


def join_new_columns(table: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    """A table with the further columns that it does not have yet."""
    return table.join(more[[name for name in more if name not in table]])


def residuals(
    numbers: pd.DataFrame,
    groups: pd.DataFrame,
    y: np.ndarray,
    folds: Folds,
    fit: Fit,
    usable: np.ndarray | None = None,
) -> np.ndarray:
    """Return out-of-fold residuals of a model in train rows; 0 where there was no time."""
    y_columns = numeric_target(y)
    try:
        oof, _, rows = cross_validate(numbers, groups, y_columns, folds, fit, usable=usable, until=0.4, latest=0.4)
    except TimeoutError:
        return np.zeros_like(y_columns)
    return np.where(rows if y_columns.ndim == 1 else rows[:, None], y_columns - oof, 0.0)


def each_column(one: Callable[[np.ndarray], Predictions], truth: np.ndarray) -> Predictions:
    """Predictions for several target columns, one after the other."""
    return each_column_until(lambda column, until: one(column), truth, 1.0)


def each_column_until(one: Callable[[np.ndarray, float], Predictions], truth: np.ndarray, until: float) -> Predictions:
    """The same where every column gets an equal share of the time that is left until then.

    For a column for which no time was left, its mean is predicted.
    """
    parts: list[Predictions] = []
    for index, column in enumerate(truth.T):
        try:
            if parts and time_used() > LATEST:
                raise TimeoutError
            parts.append(one(column, time_used() + (until - time_used()) / (truth.shape[1] - index)))
        except TimeoutError:
            if not parts:
                raise
            oof, prediction, done = parts[0]
            parts.append((np.full(len(oof), column.mean()), np.full(len(prediction), column.mean()), done))
    oofs, predictions, rows = zip(*parts, strict=True)
    return np.column_stack(oofs), np.column_stack(predictions), np.all(rows, axis=0)


def find_outliers(residual: np.ndarray, width: float = 6.0) -> np.ndarray:
    """Which residuals are so large that the row must be wrong.

    None if nearly as many are only a little smaller, or if they are many: then the target just has long tails.
    """
    distance = np.abs(residual - np.median(residual)) / max(robust_spread(residual), 1e-12)
    far = distance > width
    is_rare = far.mean() < MAX_OUTLIER_SHARE and far.sum() > 2 * np.sum((distance > 0.6 * width) & ~far)
    return np.asarray(far & is_rare)


def robust_spread(values: np.ndarray) -> float:
    """The standard deviation, estimated from the median absolute deviation."""
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


def smallest_residuals(candidates: list[np.ndarray]) -> np.ndarray:
    """Return the smallest residuals of several models; those of models without time are all 0."""
    known = [one for one in candidates if one.any()] or candidates[:1]
    return min(known, key=lambda one: np.mean([robust_spread(column) for column in one.reshape(len(one), -1).T]))
