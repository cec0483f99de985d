"""Additive effects of groups and smooth numbers, and interactions that are added where residuals show them missing."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.linalg import solve
from sklearn.linear_model import Ridge

from podium.recipes.kit.learning.feature_screening import winsorise

MAX_NEW_INTERACTIONS = 4
MIN_GAIN = 0.003
SCREENED_ROWS = 20_000


class Factor(NamedTuple):
    """Membership of rows, whole or partial: each part gives every row a member and a weight."""

    parts: list[tuple[np.ndarray, np.ndarray]]
    code: np.ndarray
    """The member with the largest weight."""
    size: int


def group_factor(codes: np.ndarray) -> Factor:
    """Every row is a member of one group."""
    return Factor([(codes, np.ones(len(codes), np.float32))], codes, int(codes.max()) + 1)


def number_factor(values: np.ndarray, knots: int = 7) -> Factor:
    """A number as weights of the two nearest knots: its effect is piecewise linear."""
    known = np.isfinite(values)
    knot_values = np.unique(np.quantile(values[known], np.linspace(0, 1, knots))) if known.any() else np.zeros(1)
    if len(knot_values) < 2:
        return group_factor(known.astype(int))
    left = np.clip(np.searchsorted(knot_values, values, side="right") - 1, 0, len(knot_values) - 2)
    share = np.where(
        known, np.clip((values - knot_values[left]) / (knot_values[left + 1] - knot_values[left]), 0, 1), 0
    )
    parts = [(left, np.where(known, 1 - share, 0)), (left + 1, share)]
    return Factor(parts, np.where(known, left + (share > 0.5), len(knot_values)), len(knot_values) + 1)


def season_factor(day_of_year: np.ndarray, waves: int = 3) -> Factor:
    """The day of the year as sine waves with one, two and more periods a year."""
    angle = 2 * np.pi * day_of_year / 365.25
    waves_of_year = [wave(count * angle) for count in range(1, waves + 1) for wave in (np.sin, np.cos)]
    parts = [(np.full(len(angle), index), wave) for index, wave in enumerate(waves_of_year)]
    return Factor(parts, (day_of_year / 30.5).astype(int), 2 * waves)


def interaction(*factors: Factor) -> Factor:
    """The combinations of members of several factors."""
    first = factors[0]
    for other in factors[1:]:
        parts = [(a * other.size + b, v * w) for a, v in first.parts for b, w in other.parts]
        first = Factor(parts, first.code * (other.code.max() + 1) + other.code, first.size * other.size)
    return first


def design_matrix(factor: Factor) -> sparse.csr_matrix:
    """A column for each member that some row belongs to."""
    rows = np.arange(len(factor.code))
    members, columns = np.unique(np.concatenate([codes for codes, _ in factor.parts]), return_inverse=True)
    weights = np.concatenate([weights for _, weights in factor.parts]).astype(np.float32)
    return sparse.csr_matrix((weights, (np.tile(rows, len(factor.parts)), columns)), shape=(len(rows), len(members)))


def explained_variance(code: np.ndarray, residual: np.ndarray, half: np.ndarray) -> float:
    """The share of the variance of residuals that group means explain, each half predicted from the other."""
    group = pd.factorize(code)[0]
    missed = 0.0
    for side in (False, True):
        sums, counts = (
            np.bincount(group[half == side], weights, group.max() + 1) for weights in (residual[half == side], None)
        )
        missed += float(((residual - (sums / (counts + 5))[group])[half != side] ** 2).sum())
    return 1 - missed / max(float((residual**2).sum()), 1e-12)


def missing_interactions(
    factors: dict[str, Factor], residual: np.ndarray, rows: np.ndarray, half: np.ndarray, known: set[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """The pairs and triples of factors that explain residuals best, besides those already used.

    Each has at most one number: more would fit what happened on single days.
    """
    numbers = {name for name, factor in factors.items() if len(factor.parts) > 1}
    some = slice(None, None, -(-len(rows) // SCREENED_ROWS))
    rows, residual, half = rows[some], residual[some], half[some]
    gains: dict[tuple[str, ...], float] = {}
    for names in [*combinations(factors, 2), *combinations(factors, 3)]:
        if names not in known and len(numbers & set(names)) < 2:
            code = interaction(*(Factor([], factors[name].code[rows], 0) for name in names)).code
            # A triple must explain more than the pairs in it.
            simpler = max((gains.get(pair, 0.0) for pair in combinations(names, 2)), default=0.0)
            gains[names] = explained_variance(code, residual, half) - (
                MIN_GAIN + simpler if len(names) > 2 else MIN_GAIN
            )
    chosen: list[tuple[str, ...]] = []
    for names in sorted(gains, key=lambda one: -gains[one]):
        if (
            gains[names] > 0
            and len(chosen) < MAX_NEW_INTERACTIONS
            and all(len(set(names) & set(other)) < 2 for other in chosen)
        ):
            chosen.append(names)
    return chosen


def ridge_weights(table: sparse.csr_matrix, y: np.ndarray, penalty: float) -> np.ndarray:
    """The weights of a ridge regression without intercept; exact unless there are very many columns."""
    if table.shape[1] > 4000:
        model = Ridge(alpha=penalty, solver="sparse_cg", tol=1e-3, fit_intercept=False).fit(table, y)
        return np.asarray(model.coef_)
    products = (table.T @ table).toarray().astype(float)
    products[np.diag_indices_from(products)] += penalty
    return np.asarray(solve(products, table.T @ y, assume_a="pos"))


def fit_effects(table: sparse.csr_matrix, y: np.ndarray, learn: np.ndarray, penalty: float) -> np.ndarray:
    """Predictions for all rows by effects learnt from some; outliers are left out of a second fit."""
    for _ in range(2):
        prediction = y[learn].mean() + table @ ridge_weights(table[learn], y[learn] - y[learn].mean(), penalty)
        residual = y[learn] - prediction[learn]
        learn = learn[np.abs(residual) < 5 * 1.4826 * np.median(np.abs(residual)) + 1e-9]
    return np.asarray(prediction)


def recent_residuals(
    residual: np.ndarray, series: np.ndarray, day: np.ndarray, learn: np.ndarray, origin: np.ndarray, half_life: float
) -> np.ndarray:
    """The recent mean residual of each row's series, as known at the row's origin; shrunk where days are few."""
    last = int(max(day.max(), origin.max())) + 1
    seen = origin >= 0
    sums, counts = np.zeros((last, series.max() + 1)), np.zeros((last, series.max() + 1))
    np.add.at(sums, (day[learn], series[learn]), winsorise(residual[learn]))
    np.add.at(counts, (day[learn], series[learn]), 1)
    decay = 0.5 ** (1 / half_life)
    for today in range(1, last):
        sums[today] += decay * sums[today - 1]
        counts[today] += decay * counts[today - 1]
    levels = sums / (counts + 0.2 * half_life)
    return np.where(seen, levels[np.clip(origin, 0, None), series], 0)


def forecast_effects(
    factors: dict[str, Factor],
    base: list[tuple[str, ...]],
    y: np.ndarray,
    learn: np.ndarray,
    position: tuple[np.ndarray, np.ndarray, np.ndarray],
    *,
    rounds: int,
    penalty: float = 3.0,
) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Predictions for all rows by effects and recent residuals, and the interactions that were used.

    Args:
        base: the interactions to start with; every round adds the most significant missing ones.
        y: of all rows; the values of rows outside `learn` are ignored.
        position: the series, the day and the origin of every row.
    """
    series, day, origin = position
    used = list(base)
    for number in range(rounds + 1):
        table = sparse.hstack([design_matrix(interaction(*(factors[name] for name in names))) for names in used], "csr")
        prediction = fit_effects(table, y, learn, penalty)
        residual = y - prediction
        levels = {life: recent_residuals(residual, series, day, learn, origin, life) for life in (15.0, 40.0, 120.0)}
        clipped = winsorise(residual[learn])
        fits = {
            life: (level[learn] @ clipped) / max(level[learn] @ level[learn], 1e-9) for life, level in levels.items()
        }
        life = min(fits, key=lambda one: float(np.sum((clipped - fits[one] * levels[one][learn]) ** 2)))
        if number == rounds:
            break
        detrended = clipped - recent_residuals(residual, series, day, learn, day, 15.0)[learn]
        more = missing_interactions(factors, detrended, learn, day[learn] // 28 % 2 == 0, set(used))
        if not more:
            break
        print("further interactions:", *(" x ".join(names) for names in more), sep="\n  ", flush=True)
        used += more
    print("recent residuals: half-life", life, "days, weight", round(float(fits[life]), 2), flush=True)
    return prediction + np.clip(fits[life], 0, 1.2) * levels[life], used
