"""Statistics of reports as pure functions over arrays. `docs/statistics.md` has the formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
NORMAL_95 = 1.96
"""Normal quantile of a 95 % interval, as MLE-bench rounds it."""
POWER_80 = 0.8416
"""Normal quantile for a test with 80 % power."""
REPEATS = 10_000
EXACT_UP_TO = 50_000
"""Maximum number of permutations that are enumerated; above it they are sampled."""
MAX_SEEDS = 1000
"""Upper bound of the recommended number of additional seeds."""


@dataclass(frozen=True)
class Interval:
    """95 % interval."""

    low: float
    high: float


def mean_and_sem(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and its standard error (sample variance, ddof 1), None for a single value."""
    array = np.asarray(values, dtype=float)
    if len(array) < 2:
        return float(array.mean()), None
    return float(array.mean()), float(array.std(ddof=1) / math.sqrt(len(array)))


def pass_at_k(runs: int, successes: int, k: int) -> float:
    """Return the unbiased estimate of the probability that one of k runs succeeds: 1 - C(n-c,k)/C(n,k).

    The estimate gets noisy as k approaches the number of runs; k up to half of it is customary.
    """
    if not 0 <= successes <= runs or not 1 <= k <= runs:
        raise ValueError(f"pass@{k} of {successes} successes in {runs} runs makes no sense")
    return 1.0 - math.comb(runs - successes, k) / math.comb(runs, k)


def bootstrap_interval(by_task: Numbers, *, repeats: int = REPEATS, seed: int = 0) -> Interval | None:
    """Return the 95 % percentile interval of the mean, by a bootstrap over tasks with all their runs.

    Args:
        by_task: Mean over the runs of each task.

    Returns:
        None for fewer than two tasks, which do not generalise.
    """
    if len(by_task) < 2:
        return None
    means = by_task[_draws(len(by_task), repeats, seed)].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(low), float(high))


@lru_cache(maxsize=4)
def _draws(count: int, repeats: int, seed: int) -> npt.NDArray[np.intp]:
    """Return the tasks drawn by each repetition, identical for every measure and every call."""
    return np.random.default_rng(seed).integers(0, count, size=(repeats, count))


def permutation_p(pairs: Sequence[tuple[Numbers, Numbers]], *, repeats: int = REPEATS, seed: int = 0) -> float:
    """Return the two-sided p-value of the mean difference between two sets of runs on the same tasks.

    Under the null hypothesis both sets come from the same agent, so every split of a task's runs is equally likely.
    All splits are enumerated if there are few enough, otherwise they are sampled. With one run on each side of every
    task this is a sign-flip test.

    Args:
        pairs: Values of the first and of the second set for each task.
    """
    observed = abs(sum(float(first.mean() - second.mean()) for first, second in pairs))
    splits = [math.comb(len(first) + len(second), len(first)) for first, second in pairs]
    rng = np.random.default_rng(seed)
    exact = math.prod(splits) <= EXACT_UP_TO
    totals = np.zeros(1 if exact else repeats)
    for first, second in pairs:
        if exact:
            totals = np.add.outer(totals, _all_splits(first, second)).ravel()
        else:
            totals += _random_splits(first, second, repeats, rng)
    # Sums of the same numbers in another order differ in their last bits.
    as_extreme = int(np.sum(np.abs(totals) >= observed - 1e-9 * max(1.0, observed)))
    return as_extreme / len(totals) if exact else (as_extreme + 1) / (repeats + 1)


def _all_splits(first: Numbers, second: Numbers) -> Numbers:
    """Return the difference of means for every way to split one task's runs."""
    values, size = np.concatenate([first, second]), len(first)
    chosen = np.array([values[list(some)].sum() for some in combinations(range(len(values)), size)])
    return np.asarray(chosen / size - (values.sum() - chosen) / (len(values) - size))


def _random_splits(first: Numbers, second: Numbers, repeats: int, rng: np.random.Generator) -> Numbers:
    values, size = np.concatenate([first, second]), len(first)
    shuffled = values[rng.random((repeats, len(values))).argsort(axis=1)]
    chosen = shuffled[:, :size].sum(axis=1)
    return np.asarray(chosen / size - (values.sum() - chosen) / (len(values) - size))


@dataclass(frozen=True)
class Settling:
    """Number of additional seeds that would settle a comparison."""

    more_seeds: int | None
    """Additional seeds on each side; None if the observed difference is zero."""
    at_most: bool
    """True if this is an upper bound, because one run per task gives no variance within tasks."""


def seeds_to_settle(pairs: Sequence[tuple[Numbers, Numbers]]) -> Settling:
    """Return the additional seeds needed to detect the observed difference with 80 % power at the 5 % level."""
    count = len(pairs)
    difference = sum(float(first.mean() - second.mean()) for first, second in pairs) / count
    seeds = min(min(len(first), len(second)) for first, second in pairs)
    known = seeds >= 2
    if known:
        spread = sum(float(first.var(ddof=1) + second.var(ddof=1)) for first, second in pairs) / count**2
    else:
        # The variance over tasks and seeds is an upper bound of the variance over seeds.
        sides = [np.array([side.mean() for side in column]) for column in zip(*pairs, strict=True)]
        spread = sum(float(side.var(ddof=1)) if count > 1 else 0.0 for side in sides) / count
    if difference == 0 or (not known and count < 2):
        return Settling(None, at_most=not known)
    needed = math.ceil(spread * ((NORMAL_95 + POWER_80) / difference) ** 2)
    return Settling(min(max(needed - seeds, 0), MAX_SEEDS), at_most=not known)
