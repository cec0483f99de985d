"""Learning without fooling oneself: folds, means of the target, cross-validation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from podium.agents.recipes.kit.environment import SEED, SPLIT, time_used

Folds = list[tuple[np.ndarray, np.ndarray]]
Predict = Callable[[np.ndarray, np.ndarray], np.ndarray]
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Predict]


def class_places(labels: pd.Series, classes: list[Any]) -> np.ndarray:
    """Which of the classes each label is, counted from 0; -1 if none."""
    places = {str(value): place for place, value in enumerate(classes)}
    return labels.map(lambda value: places.get(str(value), -1)).to_numpy(int)


def make_folds(truth: np.ndarray, count: int, group: pd.Series | None = None) -> Folds:
    """Train and validation rows. Groups stay together; classes and quantiles of the target are spread evenly."""
    rows = np.arange(len(truth))
    if group is not None:
        return list(GroupKFold(count, shuffle=True, random_state=SEED + SPLIT).split(rows, groups=group))
    layers = truth if truth.ndim == 1 else truth @ (2.0 ** np.arange(truth.shape[1]) % 97)
    if len(np.unique(layers)) > 20:
        layers = pd.qcut(
            pd.Series(layers).rank(method="first"), min(10, max(2, len(rows) // (2 * count))), labels=False
        )
    rare = pd.Series(layers).map(pd.Series(layers).value_counts()) < count
    layers = np.where(rare, -1, layers)
    if pd.Series(layers).value_counts().min() < count:
        return list(KFold(count, shuffle=True, random_state=SEED + SPLIT).split(rows))
    return list(StratifiedKFold(count, shuffle=True, random_state=SEED + SPLIT).split(rows, layers))


def target_means(
    fit: pd.DataFrame, aim: np.ndarray, other: pd.DataFrame, weight: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mean target of each row's groups, drawn towards the overall mean by some weight.

    Of the rows it is learnt from, each is left out of its own mean by way of five folds.
    """
    aims = aim.reshape(len(aim), -1)
    inner = list(KFold(5, shuffle=True, random_state=SEED).split(aims))
    own, others = [], []
    for name in fit:
        left, right = fit[name].to_numpy(), other[name].to_numpy()
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
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions for train rows by models that had not seen them, for test rows by all, and which train rows have one.

    Args:
        numbers, groups: features of all rows, those of train first.
        aim: what to learn: numbers, or classes counted from 0.
        fit: learns from features, groups and aims; gives what predicts.
        usable: train rows worth learning from; all unless given.
        seeds: how often every model is fitted, with other chances.
        until: the part of the script's time by which it should be done; folds that do not fit in are left out.
    """
    rows = len(aim)
    values, codes = numbers.to_numpy(float), groups.astype(int)
    aims = as_numbers(aim)
    oof: np.ndarray | None = None
    total: Any = 0.0
    done = np.zeros(rows, dtype=bool)
    started, longest = time_used(), 0.0
    for number, (learn, check) in enumerate(folds):
        if number and time_used() + longest > until:
            break
        learn = learn if usable is None else learn[usable[learn]]
        apply = np.r_[check, np.arange(rows, len(values))]
        inner, outer = values[learn], values[apply]
        if codes.shape[1]:
            own, others = target_means(codes.iloc[learn], aims[learn], codes.iloc[apply], weight)
            inner, outer = np.hstack([inner, own]), np.hstack([outer, others])
        for again in range(seeds):
            model = fit(inner, codes.to_numpy()[learn], aim[learn], SEED + 100 * number + again)
            predicted = model(outer, codes.to_numpy()[apply]) / seeds
            oof = np.zeros((rows, *predicted.shape[1:])) if oof is None else oof
            oof[check] += predicted[: len(check)]
            total = total + predicted[len(check) :]
        done[check] = True
        longest, started = max(longest, time_used() - started), time_used()
    assert oof is not None
    return oof, total / max(1, sum(done[check].all() for _, check in folds)), done


def residuals(numbers: pd.DataFrame, groups: pd.DataFrame, aim: np.ndarray, folds: Folds, fit: Fit) -> np.ndarray:
    """What a model leaves unexplained of train rows that it had not seen; 0 where there was no time to say."""
    aims = as_numbers(aim)
    oof, _, rows = cross_validated(numbers, groups, aims, folds, fit, until=0.35)
    return np.where(rows if aims.ndim == 1 else rows[:, None], aims - oof, 0.0)


def by_column(one: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]], truth: np.ndarray) -> Any:
    """Predictions for several columns of truth, one after the other."""
    found = [one(column) for column in truth.T]
    rows = np.all([done for _, _, done in found], axis=0)
    return np.column_stack([oof for oof, _, _ in found]), np.column_stack([guess for _, guess, _ in found]), rows


def outliers(residual: np.ndarray, width: float = 6.0) -> np.ndarray:
    """Which residuals are so far off that the row must be wrong."""
    centre = np.median(residual)
    spread = 1.4826 * np.median(np.abs(residual - centre))
    return np.asarray(np.abs(residual - centre) > width * max(spread, 1e-12))
