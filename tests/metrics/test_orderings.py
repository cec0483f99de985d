from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import InvalidSubmission
from podium.metrics.orderings import count_inversions, kendall_tau

examples = settings(max_examples=50)

items = st.lists(st.sampled_from(["a", "b", "c", "ä", "日本", "10", "1"]), max_size=7, unique=True)
orders = items.flatmap(lambda row: st.tuples(st.just(row), st.permutations(row)))
Rows = list[tuple[list[str], list[str]]]


def slow_inversions(values: list[int]) -> int:
    return sum(first > second for first, second in combinations(values, 2))


def slow_tau(rows: Rows) -> float:
    pairs = sum(len(truth) * (len(truth) - 1) for truth, _ in rows)
    opposite = sum(slow_inversions([truth.index(item) for item in prediction]) for truth, prediction in rows)
    return 1 - 4 * opposite / pairs if pairs else math.nan


@examples
@given(st.integers(0, 40).flatmap(lambda length: st.permutations(range(length))))
def test_inversions_are_the_pairs_in_the_wrong_order(values: list[int]) -> None:
    assert count_inversions(np.array(values, dtype=np.int64)) == slow_inversions(values)


@examples
@given(st.lists(orders, min_size=1, max_size=6))
def test_tau_counts_opposite_pairs_of_all_rows_together(rows: Rows) -> None:
    truth, prediction = [" ".join(left) for left, _ in rows], ["\t ".join(right) for _, right in rows]
    assert kendall_tau(truth, prediction) == pytest.approx(slow_tau(rows), nan_ok=True)
    assert kendall_tau(prediction, truth) == pytest.approx(slow_tau(rows), nan_ok=True)


def test_the_same_order_scores_1_and_the_opposite_one_minus_1() -> None:
    assert kendall_tau(["a b c", "x"], ["a b c", "x"]) == 1
    assert kendall_tau(["a b c", "x"], ["c b a", "x"]) == -1


@pytest.mark.parametrize(
    ("prediction", "problem"),
    [
        ("a c x", "'x' is not one of its items; 1 of its 3 items is missing"),
        ("a c c", "'c' occurs more than once; 1 of its 3 items is missing"),
        ("a b c c", "'c' occurs more than once. "),
        ("", "3 of its 3 items are missing"),
    ],
)
def test_a_row_with_other_items_is_named(prediction: str, problem: str) -> None:
    with pytest.raises(InvalidSubmission, match=f"^second: {problem}"):
        kendall_tau.using(names=["first", "second"])(["a b", "a b c"], ["b a", prediction])


def test_a_row_that_lacks_the_last_of_a_million_items_is_refused_at_once() -> None:
    items = [str(number) for number in range(1_000_000)]
    with pytest.raises(InvalidSubmission, match=r"^row 1: 'x' is not one of its items; 1 of its 1000000 items is"):
        kendall_tau([" ".join(items)], [" ".join([*items[:-1], "x"])])


def test_truth_with_an_item_twice_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="an item twice"):
        kendall_tau(["a a"], ["a a"])
