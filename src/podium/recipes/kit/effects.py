"""Effects that add up: of groups, of smooth numbers, and of crossings of both that are found where they are missing."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.linalg import solve
from sklearn.linear_model import Ridge

from podium.recipes.kit.screening import winsorised

MOST = 4
LEAST = 0.003
ENOUGH = 20_000


class Factor(NamedTuple):
    """What rows belong to, wholly or in parts: each part gives every row a member and a weight."""

    parts: list[tuple[np.ndarray, np.ndarray]]
    code: np.ndarray
    """The member that a row belongs to most."""
    size: int


def group_factor(codes: np.ndarray) -> Factor:
    """Every row belongs to one group."""
    return Factor([(codes, np.ones(len(codes), np.float32))], codes, int(codes.max()) + 1)


def number_factor(values: np.ndarray, knots: int = 7) -> Factor:
    """A number lies between two of a few knots, nearer to one or the other: effects of it are broken lines."""
    known = np.isfinite(values)
    places = np.unique(np.quantile(values[known], np.linspace(0, 1, knots))) if known.any() else np.zeros(1)
    if len(places) < 2:
        return group_factor(known.astype(int))
    left = np.clip(np.searchsorted(places, values, side="right") - 1, 0, len(places) - 2)
    share = np.where(known, np.clip((values - places[left]) / (places[left + 1] - places[left]), 0, 1), 0)
    parts = [(left, np.where(known, 1 - share, 0)), (left + 1, share)]
    return Factor(parts, np.where(known, left + (share > 0.5), len(places)), len(places) + 1)


def wave_factor(day_of_year: np.ndarray, waves: int = 3) -> Factor:
    """Where in the year a day lies, as waves that come once, twice and more often a year."""
    angle = 2 * np.pi * day_of_year / 365.25
    turns = [turn(count * angle) for count in range(1, waves + 1) for turn in (np.sin, np.cos)]
    parts = [(np.full(len(angle), place), turn) for place, turn in enumerate(turns)]
    return Factor(parts, (day_of_year / 30.5).astype(int), 2 * waves)


def crossing(*factors: Factor) -> Factor:
    """Members of several factors together."""
    first = factors[0]
    for other in factors[1:]:
        parts = [(a * other.size + b, v * w) for a, v in first.parts for b, w in other.parts]
        first = Factor(parts, first.code * (other.code.max() + 1) + other.code, first.size * other.size)
    return first


def effect_columns(factor: Factor) -> sparse.csr_matrix:
    """A column for each member that some row belongs to."""
    rows = np.arange(len(factor.code))
    found, places = np.unique(np.concatenate([codes for codes, _ in factor.parts]), return_inverse=True)
    weights = np.concatenate([weights for _, weights in factor.parts]).astype(np.float32)
    return sparse.csr_matrix((weights, (np.tile(rows, len(factor.parts)), places)), shape=(len(rows), len(found)))


def said_by(code: np.ndarray, rest: np.ndarray, half: np.ndarray) -> float:
    """The share of the variance of residuals that the means of groups explain, each half being judged by the other."""
    place = pd.factorize(code)[0]
    missed = 0.0
    for side in (False, True):
        sums, counts = (
            np.bincount(place[half == side], weights, place.max() + 1) for weights in (rest[half == side], None)
        )
        missed += float(((rest - (sums / (counts + 5))[place])[half != side] ** 2).sum())
    return 1 - missed / max(float((rest**2).sum()), 1e-12)


def missing_crossings(
    factors: dict[str, Factor], rest: np.ndarray, rows: np.ndarray, half: np.ndarray, known: set[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """The pairs and triples of factors that say most about residuals, beside those that are known.

    Of numbers, one at most is in each: more would follow what happened on single days.
    """
    numbers = {name for name, factor in factors.items() if len(factor.parts) > 1}
    some = slice(None, None, -(-len(rows) // ENOUGH))
    rows, rest, half = rows[some], rest[some], half[some]
    gains: dict[tuple[str, ...], float] = {}
    for names in [*combinations(factors, 2), *combinations(factors, 3)]:
        if names not in known and len(numbers & set(names)) < 2:
            code = crossing(*(Factor([], factors[name].code[rows], 0) for name in names)).code
            # A triple must say more than the pairs in it.
            simpler = max((gains.get(pair, 0.0) for pair in combinations(names, 2)), default=0.0)
            gains[names] = said_by(code, rest, half) - (LEAST + simpler if len(names) > 2 else LEAST)
    chosen: list[tuple[str, ...]] = []
    for names in sorted(gains, key=lambda one: -gains[one]):
        if gains[names] > 0 and len(chosen) < MOST and all(len(set(names) & set(other)) < 2 for other in chosen):
            chosen.append(names)
    return chosen


def penalised(table: sparse.csr_matrix, aim: np.ndarray, penalty: float) -> np.ndarray:
    """The weights of a ridge regression without a constant; exact unless there are very many columns."""
    if table.shape[1] > 4000:
        model = Ridge(alpha=penalty, solver="sparse_cg", tol=1e-3, fit_intercept=False).fit(table, aim)
        return np.asarray(model.coef_)
    products = (table.T @ table).toarray().astype(float)
    products[np.diag_indices_from(products)] += penalty
    return np.asarray(solve(products, table.T @ aim, assume_a="pos"))


def fitted_effects(table: sparse.csr_matrix, aim: np.ndarray, learn: np.ndarray, penalty: float) -> np.ndarray:
    """What effects, learnt from some rows, say of all rows. Rows that are far off are left out the second time."""
    for _ in range(2):
        told = aim[learn].mean() + table @ penalised(table[learn], aim[learn] - aim[learn].mean(), penalty)
        rest = aim[learn] - told[learn]
        learn = learn[np.abs(rest) < 5 * 1.4826 * np.median(np.abs(rest)) + 1e-9]
    return told


def recent_levels(
    rest: np.ndarray, series: np.ndarray, day: np.ndarray, learn: np.ndarray, origin: np.ndarray, half_life: float
) -> np.ndarray:
    """By how much each row's series was off of late, as known at the row's origin; little is believed of few days."""
    last = int(max(day.max(), origin.max())) + 1
    seen = origin >= 0
    sums, counts = np.zeros((last, series.max() + 1)), np.zeros((last, series.max() + 1))
    np.add.at(sums, (day[learn], series[learn]), winsorised(rest[learn]))
    np.add.at(counts, (day[learn], series[learn]), 1)
    fade = 0.5 ** (1 / half_life)
    for now in range(1, last):
        sums[now] += fade * sums[now - 1]
        counts[now] += fade * counts[now - 1]
    levels = sums / (counts + 0.2 * half_life)
    return np.where(seen, levels[np.clip(origin, 0, None), series], 0)


def crossed_forecast(
    factors: dict[str, Factor],
    base: list[tuple[str, ...]],
    aim: np.ndarray,
    learn: np.ndarray,
    place: tuple[np.ndarray, np.ndarray, np.ndarray],
    *,
    rounds: int,
    penalty: float = 3.0,
) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """What effects and recent levels say of all rows, and the crossings that were used.

    Args:
        base: the crossings to begin with; in each round come those that are missing most.
        aim: of all rows; those that are not learnt from may hold anything.
        place: the series, the day and the origin of every row.
    """
    series, day, origin = place
    used = list(base)
    for number in range(rounds + 1):
        table = sparse.hstack([effect_columns(crossing(*(factors[name] for name in names))) for names in used], "csr")
        told = fitted_effects(table, aim, learn, penalty)
        rest = aim - told
        levels = {life: recent_levels(rest, series, day, learn, origin, life) for life in (15.0, 40.0, 120.0)}
        clear = winsorised(rest[learn])
        fits = {life: (level[learn] @ clear) / max(level[learn] @ level[learn], 1e-9) for life, level in levels.items()}
        life = min(fits, key=lambda one: float(np.sum((clear - fits[one] * levels[one][learn]) ** 2)))
        if number == rounds:
            break
        smooth = clear - recent_levels(rest, series, day, learn, day, 15.0)[learn]
        more = missing_crossings(factors, smooth, learn, day[learn] // 28 % 2 == 0, set(used))
        if not more:
            break
        print("further crossings:", *(" x ".join(names) for names in more), sep="\n  ", flush=True)
        used += more
    print("recent levels fade by half in", life, "days and count", round(float(fits[life]), 2), flush=True)
    return told + np.clip(fits[life], 0, 1.2) * levels[life], used
