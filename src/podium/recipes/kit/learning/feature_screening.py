"""Selects features among very many candidates by the residuals of a first model."""

import numpy as np
import pandas as pd
from scipy.special import log_ndtr

from podium.recipes.kit.learning.cross_validation import evenly_spread
from podium.tables.script_settings import time_used

BINS = 12


def candidate_pairs(numbers: pd.DataFrame) -> list[tuple[str, str]]:
    """The pairs of numbers that may be informative together."""
    names = [str(name) for name in numbers if numbers[name].nunique() > 10]
    pairs = [(left, right) for index, left in enumerate(names) for right in names[index + 1 :]]
    return [(left, right) for left, right in pairs if not right.startswith(f"{left} ")]


def pair_combinations(left: pd.Series, right: pd.Series) -> dict[str, np.ndarray]:
    """Combinations of two numbers: ratio, difference, product, maximum and minimum."""
    a, b = left.to_numpy(float), right.to_numpy(float)
    forms = {"{} / {}": a / b} if np.nanmin(a) > 0 and np.nanmin(b) > 0 else {}
    forms["{} - {}"] = a - b
    a, b = (a - np.nanmean(a)) / (np.nanstd(a) or 1), (b - np.nanmean(b)) / (np.nanstd(b) or 1)
    forms |= {"{} x {}": a * b, "{} or {}, the larger": np.maximum(a, b), "{} or {}, the smaller": np.minimum(a, b)}
    return {form.format(left.name, right.name): values for form, values in forms.items()}


def number_significance(candidate: np.ndarray, residual: np.ndarray) -> float:
    """Return the significance of a number for residuals: minus the log of the p-value."""
    known = np.flatnonzero(np.isfinite(candidate))
    if len(known) < 10 * BINS:
        return 0.0
    ordered = residual[known[np.argsort(candidate[known])]].reshape(len(known), -1)
    starts = np.linspace(0, len(known), BINS + 1).astype(int)
    sums = np.add.reduceat(ordered - ordered.mean(axis=0), starts[:-1], axis=0)
    return significance(sums, np.diff(starts), ordered.var(axis=0))


def group_significance(group: np.ndarray, residual: np.ndarray) -> float:
    """The same for groups, numbered from 0."""
    residual = residual.reshape(len(residual), -1)
    sizes = np.bincount(group)
    sums = np.column_stack([np.bincount(group, column - column.mean()) for column in residual.T])
    return significance(sums[sizes > 0], sizes[sizes > 0], residual.var(axis=0))


def significance(sums: np.ndarray, sizes: np.ndarray, variance: np.ndarray) -> float:
    """Minus the log of the p-value of sums of residuals in groups (a chi-squared test).

    A cube root makes the statistic nearly normal (Wilson and Hilferty), which is much faster than the exact tail.
    """
    statistic = float((sums**2 / sizes[:, None] / np.maximum(variance, 1e-12)).sum())
    spread = 2 / (9 * max(1, (len(sizes) - 1) * sums.shape[1]))
    degrees = 2 / (9 * spread)
    return float(-log_ndtr(-((statistic / degrees) ** (1 / 3) - 1 + spread) / np.sqrt(spread)))


def bin_numbers(values: np.ndarray) -> np.ndarray:
    """The bin of each value, in bins of about the same size; missing values have their own."""
    known = np.isfinite(values)
    edges = np.unique(np.quantile(values[known], np.linspace(0, 1, BINS + 1)[1:-1])) if known.any() else np.zeros(0)
    return np.where(known, np.searchsorted(edges, values), len(edges) + 1)


def remove_group_means(groups: list[np.ndarray], residual: np.ndarray, rounds: int = 2) -> np.ndarray:
    """Residuals without the effects of single groups, by subtracting the means of each in turn."""
    left = residual.reshape(len(residual), -1).astype(float).copy()
    for group in groups * rounds:
        sizes = np.maximum(np.bincount(group), 1)
        for column in left.T:
            column -= (np.bincount(group, column) / sizes)[group]
    return left


def best_number_pairs(numbers: pd.DataFrame, residual: np.ndarray, most: int = 10, until: float = 0.35) -> pd.DataFrame:
    """The combinations of two numbers, for all rows, that explain the residuals of train rows best.

    What either number explains alone is removed first.

    Args:
        residual: of the train rows, which come first in `numbers`.
        until: the share of the script's time after which no further pairs are tried.
    """
    rows = evenly_spread(len(residual), 6000)
    known, target = numbers.iloc[rows], residual[rows]
    bins = {name: bin_numbers(known[name].to_numpy(float)) for name in known}
    found: list[tuple[float, str, str, str]] = []
    for left, right in candidate_pairs(numbers):
        if time_used() > until:
            break
        unexplained = remove_group_means([bins[left], bins[right]], target)
        forms = pair_combinations(known[left], known[right])
        found += [(number_significance(values, unexplained), name, left, right) for name, values in forms.items()]
    # Some of many candidates are significant by chance.
    by_luck = np.log(max(len(found), 1)) + 2
    chosen: dict[str, np.ndarray] = {}
    ranks: list[pd.Series] = []
    for significant, name, left, right in sorted(found, reverse=True)[: 4 * most]:
        forms = pair_combinations(numbers[left], numbers[right])
        if name not in forms:
            continue  # a ratio of numbers that are positive in some rows only
        values = forms[name]
        rank = pd.Series(values).rank()
        if significant > by_luck and len(chosen) < most and all(abs(rank.corr(other)) < 0.95 for other in ranks):
            chosen[name] = values
            ranks.append(rank)
    return pd.DataFrame(chosen, index=numbers.index)


def best_group_pairs(
    groups: pd.DataFrame, numbers: pd.DataFrame, residual: np.ndarray, most: int = 6, until: float = 0.45
) -> pd.DataFrame:
    """The pairs of groups, or of a group and a binned number, that explain the residuals of train rows best.

    Args:
        until: the share of the script's time after which no further pairs are tried.
    """
    rows = len(residual)
    binned = {name: bin_numbers(numbers[name].to_numpy(float)) // 3 for name in numbers if name not in groups}
    cuts = pd.DataFrame({name: bins for name, bins in binned.items() if len(np.unique(bins)) > 1}, index=numbers.index)
    found = []
    pairs = [(left, other) for index, left in enumerate(groups) for other in (*groups.columns[index + 1 :], *cuts)]
    for left, other in pairs:
        if time_used() > until:
            break
        right = groups[other] if other in groups else cuts[other]
        crossed = pd.factorize(groups[left] * (right.max() + 1) + right)[0]
        if max(groups[left].max(), right.max()) + 1 < crossed.max() < rows / 8:
            parents = [groups[left].to_numpy()[:rows], right.to_numpy()[:rows]]
            significant = group_significance(crossed[:rows], remove_group_means(parents, residual))
            found.append((significant, f"{left} x {other}", crossed))
    by_luck = np.log(max(len(found), 1)) + 2
    best = sorted(found, key=lambda one: -one[0])[:most]
    return pd.DataFrame(
        {name: crossed for significant, name, crossed in best if significant > by_luck}, index=groups.index
    )


def winsorise(residual: np.ndarray, width: float = 4.0) -> np.ndarray:
    """Residuals with the extremes clipped, so that a few wrong rows do not dominate."""
    spread = 1.4826 * np.median(np.abs(residual - np.median(residual, axis=0)), axis=0)
    return np.clip(residual, -width * spread, width * spread) if np.all(spread > 0) else residual
