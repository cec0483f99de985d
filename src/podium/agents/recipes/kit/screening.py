"""Finds features among very many candidates by what a first model could not explain."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import chi2

BINS = 12


def pair_candidates(numbers: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    """What two numbers can say together: ratio, difference, product, the larger and the smaller."""
    values = {name: numbers[name].to_numpy(float) for name in numbers if numbers[name].nunique() > 10}
    scales = {name: np.nanstd(column) or 1.0 for name, column in values.items()}
    centres = {name: np.nanmean(column) for name, column in values.items()}
    names = list(values)
    for place, left in enumerate(names):
        for right in names[place + 1 :]:
            if right.startswith(f"{left} "):
                continue
            a, b = values[left], values[right]
            if np.nanmin(a) > 0 and np.nanmin(b) > 0:
                yield f"{left} / {right}", a / b
            yield f"{left} - {right}", a - b
            a, b = (a - centres[left]) / scales[left], (b - centres[right]) / scales[right]
            yield f"{left} x {right}", a * b
            yield f"{left} and {right}, larger", np.maximum(a, b)
            yield f"{left} and {right}, smaller", np.minimum(a, b)


def strength(candidate: np.ndarray, residual: np.ndarray) -> float:
    """How surely a candidate says something about residuals: minus the log of the chance that it is luck."""
    known = np.isfinite(candidate)
    if known.sum() < 10 * BINS:
        return 0.0
    edges = np.unique(np.quantile(candidate[known], np.linspace(0, 1, BINS + 1)[1:-1]))
    return group_strength(np.searchsorted(edges, candidate[known]), residual[known])


def group_strength(group: np.ndarray, residual: np.ndarray) -> float:
    """The same for a division into groups, numbered from 0."""
    residual = residual.reshape(len(residual), -1)
    sizes = np.bincount(group)
    used = sizes > 0
    total = 0.0
    for column in residual.T:
        sums = np.bincount(group, column - column.mean())
        total += float((sums[used] ** 2 / sizes[used]).sum() / max(column.var(), 1e-12))
    return float(-chi2.logsf(total, max(1, (used.sum() - 1) * residual.shape[1])))


def binned(values: np.ndarray) -> np.ndarray:
    """The bin of each value, bins being of about the same size; missing values have one of their own."""
    known = np.isfinite(values)
    edges = np.unique(np.quantile(values[known], np.linspace(0, 1, BINS + 1)[1:-1])) if known.any() else np.zeros(0)
    return np.where(known, np.searchsorted(edges, values), len(edges) + 1)


def without_group_effects(groups: pd.DataFrame, residual: np.ndarray, rounds: int = 3) -> np.ndarray:
    """Residuals less what single groups can say about them, by taking out the means of each again and again."""
    left = residual.reshape(len(residual), -1).astype(float).copy()
    for name in list(groups) * rounds:
        group = groups[name].to_numpy()
        sizes = np.bincount(group)
        for column in left.T:
            column -= (np.bincount(group, column) / np.maximum(sizes, 1))[group]
    return left


def best_pairs(numbers: pd.DataFrame, residual: np.ndarray, most: int = 16) -> pd.DataFrame:
    """The pairs of numbers that say most about the residuals of train rows, which come first; for all rows."""
    bins = numbers.iloc[: len(residual)].apply(lambda column: binned(column.to_numpy(float)))
    residual = without_group_effects(bins, residual)
    rows = np.linspace(0, len(residual) - 1, min(len(residual), 6000)).astype(int)
    found = [
        (strength(values[rows], residual[rows]), name)
        for name, values in pair_candidates(numbers.iloc[: len(residual)])
    ]
    # Of so many candidates some look good by luck; what is surer than that is kept.
    lucky = np.log(max(len(found), 1)) + 2
    ranked = [name for sureness, name in sorted(found, reverse=True) if sureness > lucky][: 4 * most]
    wanted = {name: values for name, values in pair_candidates(numbers) if name in ranked}
    chosen: dict[str, np.ndarray] = {}
    for name in ranked:
        ranks = pd.Series(wanted[name]).rank()
        if len(chosen) < most and all(abs(ranks.corr(pd.Series(other).rank())) < 0.97 for other in chosen.values()):
            chosen[name] = wanted[name]
    return pd.DataFrame(chosen, index=numbers.index)


def best_crosses(groups: pd.DataFrame, numbers: pd.DataFrame, residual: np.ndarray, most: int = 6) -> pd.DataFrame:
    """The pairs of groups, or of a group and a number cut into bins, that say most about residuals of train rows."""
    rows = len(residual)
    cuts = numbers.apply(lambda column: binned(column.to_numpy(float)) // 3)
    cuts = cuts.loc[:, (cuts.nunique() > 1) & ~cuts.columns.isin(groups.columns)]
    residual = without_group_effects(groups.join(cuts).iloc[:rows], residual)
    found = []
    for place, left in enumerate(groups):
        for other in (*groups.columns[place + 1 :], *cuts):
            right = groups[other] if other in groups else cuts[other]
            crossed = pd.factorize(groups[left] * (right.max() + 1) + right)[0]
            if crossed.max() < rows / 8:
                found.append((group_strength(crossed[:rows], residual), f"{left} x {other}", crossed))
    lucky = np.log(max(len(found), 1)) + 2
    best = sorted(found, key=lambda one: -one[0])[:most]
    return pd.DataFrame({name: crossed for sure, name, crossed in best if sure > lucky}, index=groups.index)


def winsorised(residual: np.ndarray, width: float = 4.0) -> np.ndarray:
    """Residuals of which the farthest are drawn in, so that a few wrong rows do not decide."""
    spread = 1.4826 * np.median(np.abs(residual - np.median(residual, axis=0)), axis=0)
    return np.clip(residual, -width * spread, width * spread) if np.all(spread > 0) else residual
