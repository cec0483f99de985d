"""Learning without fooling oneself: folds, means of the target, cross-validation."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from podium.recipes.kit.environment import CORES, SEED, SPLIT, time_used

LARGE = 10_000_000
Folds = list[tuple[np.ndarray, np.ndarray]]
Predict = Callable[[np.ndarray, np.ndarray], np.ndarray]
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Predict]


def class_places(labels: pd.Series, classes: list[Any]) -> np.ndarray:
    """Which of the classes each label is, counted from 0; -1 if none."""
    places = {str(value): place for place, value in enumerate(classes)}
    return labels.map(lambda value: places.get(str(value), -1)).to_numpy(int)


def listed_flags(labels: pd.Series, names: list[str], separator: str) -> np.ndarray:
    """A column of 0 and 1 per name: whether a row lists it."""
    listed = [set(str(value).split(separator)) for value in labels]
    return np.array([[float(name in items) for name in names] for items in listed])


def make_folds(truth: np.ndarray, count: int, group: pd.Series | None = None) -> Folds:
    """Train and validation rows. Groups stay together; classes and quantiles of the target are spread evenly."""
    rows = np.arange(len(truth))
    count = max(2, min(count, len(rows) if group is None else group.nunique()))
    if group is not None:
        return list(GroupKFold(count, shuffle=True, random_state=SEED + SPLIT).split(rows, groups=group))
    layers = truth if truth.ndim == 1 else truth @ (2.0 ** np.arange(truth.shape[1]) % 97)
    if len(np.unique(layers)) > 20:
        layers = pd.qcut(
            pd.Series(layers).rank(method="first"), min(10, max(2, len(rows) // (2 * count))), labels=False
        )
    layers = pd.factorize(np.asarray(layers))[0]
    rare = pd.Series(layers).map(pd.Series(layers).value_counts()) < count
    layers = np.where(rare, -1, layers)
    if pd.Series(layers).value_counts().min() < count:
        return list(KFold(count, shuffle=True, random_state=SEED + SPLIT).split(rows))
    return list(StratifiedKFold(count, shuffle=True, random_state=SEED + SPLIT).split(rows, layers))


def target_means(fit: np.ndarray, aim: np.ndarray, other: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean target of each row's groups, drawn towards the overall mean by some weight.

    Of the rows it is learnt from, each is left out of its own mean by way of five folds.
    """
    aims = aim.reshape(len(aim), -1)
    inner = list(KFold(5, shuffle=True, random_state=SEED).split(aims))
    own, others = [], []
    for left, right in zip(fit.T, other.T, strict=True):
        size = int(max(left.max(), right.max())) + 1
        for column in aims.T:
            means = np.empty(len(left))
            for learn, apply in inner:
                means[apply] = group_means(left[learn], column[learn], size, weight)[left[apply]]
            own.append(means)
            others.append(group_means(left, column, size, weight)[right])
    return np.column_stack(own), np.column_stack(others)


def group_means(group: np.ndarray, aim: np.ndarray, size: int, weight: float) -> np.ndarray:
    """The mean target of every group, drawn towards that of all rows."""
    sums, counts = np.bincount(group, aim, minlength=size), np.bincount(group, minlength=size)
    return np.asarray((sums + weight * aim.mean()) / (counts + weight))


def as_numbers(aim: np.ndarray) -> np.ndarray:
    """Classes as numbers: 0 and 1, or a column of them per class if there are more than two."""
    is_class = aim.dtype.kind == "i" and aim.ndim == 1 and aim.max() > 1
    return np.eye(int(aim.max()) + 1)[aim] if is_class else aim.astype(float)


def cross_validated(
    numbers: pd.DataFrame,
    groups: pd.DataFrame,
    aim: np.ndarray,
    folds: Folds,
    fit: Fit,
    *,
    weight: float = 10.0,
    usable: np.ndarray | None = None,
    seeds: int = 1,
    until: float = 0.8,
    refit: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions for train rows by models that had not seen them, for test rows by all, and which train rows have one.

    Args:
        numbers, groups: features of all rows, those of train first.
        aim: what to learn: numbers, or classes counted from 0.
        fit: learns from features, groups and aims; gives what predicts.
        usable: train rows worth learning from; all unless given.
        seeds: how often every model is fitted, with other chances.
        refit: whether test rows are predicted by one more model, of all train rows, if there is time.
        until: the part of the script's time by which it should be done; folds that do not fit in are left out.
    """
    rows, aims = len(aim), as_numbers(aim)
    if refit:
        folds = [*folds, (np.arange(rows), np.arange(0))]
    values, codes = numbers.to_numpy(float), groups.to_numpy(int)

    def of_fold(number: int) -> np.ndarray:
        learn, check = folds[number]
        learn = learn if usable is None else learn[usable[learn]]
        apply = np.r_[check, np.arange(rows, len(values))]
        inner, outer = values[learn], values[apply]
        if codes.shape[1]:
            own, others = target_means(codes[learn], aims[learn], codes[apply], weight)
            inner, outer = np.hstack([inner, own]), np.hstack([outer, others])
        if len(np.unique(aim[learn])) == 1:
            return np.repeat(aims[learn][:1], len(apply), axis=0).astype(float)
        models = (fit(inner, codes[learn], aim[learn], SEED + 100 * number + again) for again in range(seeds))
        predicted = sum(model(outer, codes[apply]) for model in models) / seeds
        # The last classes may be missing from a fold.
        return predicted if aims.ndim == 1 else np.pad(predicted, ((0, 0), (0, aims.shape[1] - predicted.shape[1])))

    found = side_by_side(of_fold, len(folds), until=until, is_large=values.size > LARGE)
    oof = np.zeros((rows, *found[0].shape[1:]))
    done = np.zeros(rows, dtype=bool)
    for (_, check), predicted in zip(folds, found, strict=False):
        oof[check], done[check] = predicted[: len(check)], True
    tests = [predicted[len(predicted) - len(values) + rows :] for predicted in found]
    is_refitted = refit and len(found) == len(folds)
    return oof, tests[-1] if is_refitted else np.mean(tests, axis=0), done


def side_by_side(work: Callable[[int], np.ndarray], count: int, *, until: float, is_large: bool) -> list[np.ndarray]:
    """What some pieces of work give, as many of them as there is time for; at least one.

    Small ones run side by side with a core each: models on little data lose more than they win by sharing cores.
    """
    workers = 1 if is_large else CORES
    found: list[np.ndarray] = []
    longest = 0.0
    with threadpool_limits(CORES if is_large else 1), ThreadPoolExecutor(workers) as pool:
        while len(found) < count and (not found or time_used() + longest < until):
            started = time_used()
            found += pool.map(work, range(len(found), min(count, len(found) + workers)))
            longest = max(longest, time_used() - started)
    return found


def with_new(table: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    """A table with those further columns that it does not have."""
    return table.join(more[[name for name in more if name not in table]])


def residuals(
    numbers: pd.DataFrame,
    groups: pd.DataFrame,
    aim: np.ndarray,
    folds: Folds,
    fit: Fit,
    usable: np.ndarray | None = None,
) -> np.ndarray:
    """What a model leaves unexplained of train rows that it had not seen; 0 where there was no time to say."""
    aims = as_numbers(aim)
    oof, _, rows = cross_validated(numbers, groups, aims, folds, fit, usable=usable, until=0.4)
    return np.where(rows if aims.ndim == 1 else rows[:, None], aims - oof, 0.0)


def by_column(one: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]], truth: np.ndarray) -> Any:
    """Predictions for several columns of truth, one after the other."""
    return by_column_until(lambda column, until: one(column), truth, 1.0)


def by_column_until(
    one: Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray, np.ndarray]], truth: np.ndarray, until: float
) -> Any:
    """The same where every column may take its share of the time until then."""
    started, count = time_used(), truth.shape[1]
    found = [one(column, started + (until - started) * (place + 1) / count) for place, column in enumerate(truth.T)]
    rows = np.all([done for _, _, done in found], axis=0)
    return np.column_stack([oof for oof, _, _ in found]), np.column_stack([guess for _, guess, _ in found]), rows


def outliers(residual: np.ndarray, width: float = 6.0) -> np.ndarray:
    """Which residuals are so far off that the row must be wrong.

    Where there are nearly as many a little nearer, the target just has long tails, and no row is.
    """
    distance = np.abs(residual - np.median(residual)) / max(robust_spread(residual), 1e-12)
    far = distance > width
    return np.asarray(far & (far.sum() > 2 * np.sum((distance > 0.6 * width) & ~far)))


def robust_spread(values: np.ndarray) -> float:
    """The standard deviation, as the middle half of the values has it."""
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


def clearest(found: list[np.ndarray]) -> np.ndarray:
    """Of the residuals of several models, the smallest."""
    return min(found, key=lambda one: np.mean([robust_spread(column) for column in one.reshape(len(one), -1).T]))
