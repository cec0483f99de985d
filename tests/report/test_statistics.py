"""Statistics against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from podium.report.statistics import (
    bootstrap_interval,
    mean_and_sem,
    pass_at_k,
    permutation_p,
    seeds_to_settle,
)

ONE, ZERO = np.array([100.0]), np.array([0.0])


def test_sem_divides_by_one_less_than_the_number_of_seeds() -> None:
    mean, sem = mean_and_sem([1.0, 2.0, 6.0])
    assert mean == 3.0
    assert sem == pytest.approx(math.sqrt((4 + 1 + 9) / 2) / math.sqrt(3))


def test_one_seed_has_no_sem() -> None:
    assert mean_and_sem([4.0]) == (4.0, None)


@pytest.mark.parametrize(
    ("runs", "successes", "k", "expected"),
    [
        (4, 1, 1, 0.25),
        (4, 1, 2, 0.5),  # 3 of 6 pairs hold the one success
        (4, 2, 2, 5 / 6),  # only 1 of 6 pairs holds none
        (4, 3, 2, 1.0),
        (5, 0, 5, 0.0),
        (36, 3, 6, 1 - math.comb(33, 6) / math.comb(36, 6)),
    ],
)
def test_pass_at_k_counts_the_ways_to_choose_k_runs(runs: int, successes: int, k: int, expected: float) -> None:
    assert pass_at_k(runs, successes, k) == pytest.approx(expected)


def test_pass_at_more_runs_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="pass@4"):
        pass_at_k(3, 1, 4)


def test_the_bootstrap_draws_tasks() -> None:
    # Two tasks, one always solved and one never: a quarter of draws each has both or neither.
    found = bootstrap_interval(np.array([0.0, 100.0]))
    assert found is not None
    assert (found.low, found.high) == (0.0, 100.0)
    same = bootstrap_interval(np.full(10, 30.0))
    assert same is not None
    assert (same.low, same.high) == (30.0, 30.0)


def test_the_bootstrap_nears_the_normal_interval_of_many_tasks() -> None:
    values = np.random.default_rng(1).normal(50, 10, 400)
    found = bootstrap_interval(values)
    assert found is not None
    width = 1.96 * values.std(ddof=1) / 20
    assert found.low == pytest.approx(values.mean() - width, abs=0.1)
    assert found.high == pytest.approx(values.mean() + width, abs=0.1)


def test_the_bootstrap_is_deterministic_and_needs_two_tasks() -> None:
    values = np.arange(9.0)
    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval(values[:1]) is None


def test_with_one_run_each_the_permutation_test_flips_signs() -> None:
    # All five tasks favour the first: 2 of the 2**5 sign patterns are as extreme.
    assert permutation_p([(ONE, ZERO)] * 5) == pytest.approx(2 / 32)
    # Three for, one against: sums of four signs; 10 of 16 patterns have a sum of 2 or more in size.
    assert permutation_p([(ONE, ZERO)] * 3 + [(ZERO, ONE)]) == pytest.approx(10 / 16)


def test_with_several_runs_the_permutation_test_splits_them_anew() -> None:
    # One task, three against three, fully apart: 2 of the 20 splits are as extreme.
    assert permutation_p([(np.array([3.0, 4.0, 5.0]), np.array([0.0, 1.0, 2.0]))]) == pytest.approx(2 / 20)


def test_a_permutation_test_of_equal_sides_is_not_significant() -> None:
    assert permutation_p([(ONE, ONE), (ZERO, ZERO)]) == 1.0


def test_sampled_permutations_agree_with_enumeration() -> None:
    pairs = [(ONE, ZERO)] * 12 + [(ZERO, ONE)] * 6
    exact = 2 * sum(math.comb(18, k) for k in range(12, 19)) / 2**18
    assert 2**18 > 50_000
    assert permutation_p(pairs) == pytest.approx(exact, abs=0.02)
    assert permutation_p([(ONE, ZERO)] * 40) == pytest.approx(1 / 10_001)


def test_p_values_are_uniform_when_there_is_no_difference() -> None:
    rng = np.random.default_rng(3)
    found = [
        permutation_p([(rng.normal(size=2), rng.normal(size=2)) for _ in range(5)], repeats=400) for _ in range(200)
    ]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=0.04)


def test_seeds_to_settle_follow_from_the_spread_within_tasks() -> None:
    # Two tasks, each with variance 2 on either side: the variance of the difference is (2+2+2+2)/4 = 2 over n seeds.
    # A difference of 1 needs n = 2 * (1.96 + 0.8416)**2 = 15.7, so 16; there are 2.
    pairs = [(np.array([0.0, 2.0]) + 1, np.array([0.0, 2.0]))] * 2
    found = seeds_to_settle(pairs)
    assert (found.more_seeds, found.at_most) == (14, False)


def test_a_settled_difference_needs_no_more_seeds() -> None:
    pairs = [(np.array([99.0, 101.0]), np.array([0.0, 2.0]))] * 5
    assert seeds_to_settle(pairs).more_seeds == 0


def test_one_seed_gives_an_upper_bound() -> None:
    pairs = [(np.array([a]), np.array([b])) for a, b in ((1.0, 0.0), (3.0, 1.0), (5.0, 2.0))]
    found = seeds_to_settle(pairs)
    assert found.at_most
    # Variances over tasks 4 and 1, mean difference 2: (4 + 1) / 3 * (2.8016 / 2)**2 = 3.27, so 4; there is 1.
    assert found.more_seeds == 3


def test_no_difference_is_never_settled() -> None:
    assert seeds_to_settle([(ONE, ONE), (ZERO, ZERO)]).more_seeds is None
