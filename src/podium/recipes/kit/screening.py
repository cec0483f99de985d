"""Finds features among very many candidates by what a first model could not explain."""

import numpy as np
import pandas as pd
from scipy.special import log_ndtr

from podium.recipes.kit.environment import time_used

BINS = 12


def pair_names(numbers: pd.DataFrame) -> list[tuple[str, str]]:
    """The pairs of numbers that may say something together."""
    names = [str(name) for name in numbers if numbers[name].nunique() > 10]
    pairs = [(left, right) for place, left in enumerate(names) for right in names[place + 1 :]]
    return [(left, right) for left, right in pairs if not right.startswith(f"{left} ")]


def pair_forms(left: pd.Series, right: pd.Series) -> dict[str, np.ndarray]:
    """What two numbers can say together: ratio, difference, product, the larger and the smaller."""
    a, b = left.to_numpy(float), right.to_numpy(float)
    forms = {"{} / {}": a / b} if np.nanmin(a) > 0 and np.nanmin(b) > 0 else {}
    forms["{} - {}"] = a - b
    a, b = (a - np.nanmean(a)) / (np.nanstd(a) or 1), (b - np.nanmean(b)) / (np.nanstd(b) or 1)
    forms |= {"{} x {}": a * b, "{} or {}, the larger": np.maximum(a, b), "{} or {}, the smaller": np.minimum(a, b)}
    return {form.format(left.name, right.name): values for form, values in forms.items()}


def strength(candidate: np.ndarray, residual: np.ndarray) -> float:
    """How surely a candidate says something about residuals: minus the log of the chance that it is luck."""
    known = np.flatnonzero(np.isfinite(candidate))
    if len(known) < 10 * BINS:
        return 0.0
    ordered = residual[known[np.argsort(candidate[known])]].reshape(len(known), -1)
    starts = np.linspace(0, len(known), BINS + 1).astype(int)
    sums = np.add.reduceat(ordered - ordered.mean(axis=0), starts[:-1], axis=0)
    return sureness_of(sums, np.diff(starts), ordered.var(axis=0))


def group_strength(group: np.ndarray, residual: np.ndarray) -> float:
    """The same for a division into groups, numbered from 0."""
    residual = residual.reshape(len(residual), -1)
    sizes = np.bincount(group)
    sums = np.column_stack([np.bincount(group, column - column.mean()) for column in residual.T])
    return sureness_of(sums[sizes > 0], sizes[sizes > 0], residual.var(axis=0))


def sureness_of(sums: np.ndarray, sizes: np.ndarray, variance: np.ndarray) -> float:
    """Minus the log of the chance that sums of residuals in groups differ so much (a chi-squared test).

    A cube root makes the statistic nearly normal (Wilson and Hilferty), which is much faster than the exact tail.
    """
    statistic = float((sums**2 / sizes[:, None] / np.maximum(variance, 1e-12)).sum())
    spread = 2 / (9 * max(1, (len(sizes) - 1) * sums.shape[1]))
    degrees = 2 / (9 * spread)
    return float(-log_ndtr(-((statistic / degrees) ** (1 / 3) - 1 + spread) / np.sqrt(spread)))


def binned(values: np.ndarray) -> np.ndarray:
    """The bin of each value, bins being of about the same size; missing values have one of their own."""
    known = np.isfinite(values)
    edges = np.unique(np.quantile(values[known], np.linspace(0, 1, BINS + 1)[1:-1])) if known.any() else np.zeros(0)
    return np.where(known, np.searchsorted(edges, values), len(edges) + 1)


def without_group_effects(groups: list[np.ndarray], residual: np.ndarray, rounds: int = 2) -> np.ndarray:
    """Residuals less what single groups can say about them, by taking out the means of each again and again."""
    left = residual.reshape(len(residual), -1).astype(float).copy()
    for group in groups * rounds:
        sizes = np.maximum(np.bincount(group), 1)
        for column in left.T:
            column -= (np.bincount(group, column) / sizes)[group]
    return left


def best_pairs(numbers: pd.DataFrame, residual: np.ndarray, most: int = 10, until: float = 0.35) -> pd.DataFrame:
    """The pairs of numbers that say most about the residuals of train rows, which come first; for all rows.

    What either number says alone is taken out before.

    Args:
        until: the part of the script's time after which no further pairs are looked at.
    """
    rows = np.linspace(0, len(residual) - 1, min(len(residual), 6000)).astype(int)
    known, wanted = numbers.iloc[rows], residual[rows]
    bins = {name: binned(known[name].to_numpy(float)) for name in known}
    found: list[tuple[float, str, str, str]] = []
    for left, right in pair_names(numbers):
        if time_used() > until:
            break
        rest = without_group_effects([bins[left], bins[right]], wanted)
        forms = pair_forms(known[left], known[right])
        found += [(strength(values, rest), name, left, right) for name, values in forms.items()]
    # Of so many candidates some look good by luck; what is surer than that is kept.
    lucky = np.log(max(len(found), 1)) + 2
    chosen: dict[str, np.ndarray] = {}
    ranks: list[pd.Series] = []
    for sureness, name, left, right in sorted(found, reverse=True)[: 4 * most]:
        forms = pair_forms(numbers[left], numbers[right])
        if name not in forms:
            continue  # a ratio of numbers that are positive in some rows only
        values = forms[name]
        rank = pd.Series(values).rank()
        if sureness > lucky and len(chosen) < most and all(abs(rank.corr(other)) < 0.95 for other in ranks):
            chosen[name] = values
            ranks.append(rank)
    return pd.DataFrame(chosen, index=numbers.index)


def best_crosses(
    groups: pd.DataFrame,
    numbers: pd.DataFrame,
    residual: np.ndarray,
    most: int = 6,
    rows: np.ndarray | None = None,
) -> pd.DataFrame:
    """The pairs of groups, or of a group and a number cut into bins, that say most about residuals.

    These are of the first rows, unless it is said which.
    """
    rows = np.arange(len(residual)) if rows is None else rows
    cuts = numbers.apply(lambda column: binned(column.to_numpy(float)) // 3)
    cuts = cuts.loc[:, (cuts.nunique() > 1) & ~cuts.columns.isin(groups.columns)]
    found = []
    for place, left in enumerate(groups):
        for other in (*groups.columns[place + 1 :], *cuts):
            right = groups[other] if other in groups else cuts[other]
            crossed = pd.factorize(groups[left] * (right.max() + 1) + right)[0]
            if max(groups[left].max(), right.max()) + 1 < crossed.max() < len(rows) / 8:
                parents = [groups[left].to_numpy()[rows], right.to_numpy()[rows]]
                sureness = group_strength(crossed[rows], without_group_effects(parents, residual))
                found.append((sureness, f"{left} x {other}", crossed))
    lucky = np.log(max(len(found), 1)) + 2
    best = sorted(found, key=lambda one: -one[0])[:most]
    return pd.DataFrame({name: crossed for sure, name, crossed in best if sure > lucky}, index=groups.index)


def winsorised(residual: np.ndarray, width: float = 4.0) -> np.ndarray:
    """Residuals of which the farthest are drawn in, so that a few wrong rows do not decide."""
    spread = 1.4826 * np.median(np.abs(residual - np.median(residual, axis=0)), axis=0)
    return np.clip(residual, -width * spread, width * spread) if np.all(spread > 0) else residual
