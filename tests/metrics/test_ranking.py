from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics import map_at_k, ndcg_at_k

examples = settings(max_examples=50)

items = st.sampled_from(["a", "b", "c", "ä", "日本", "10", "1"])
blanks = st.sampled_from([" ", "  ", "\t", "\n", "\u00a0"])
lists = st.lists(st.tuples(items, blanks), max_size=7).map(lambda parts: "".join(item + blank for item, blank in parts))
rows = st.lists(st.tuples(lists, lists), min_size=1, max_size=6)
cutoffs = st.integers(1, 8)

Rows = list[tuple[str, str]]


def sides(texts: Rows) -> tuple[np.ndarray, np.ndarray]:
    return np.array([t for t, _ in texts], dtype=object), np.array([p for _, p in texts], dtype=object)


def hit_ranks(truth: str, prediction: str, k: int) -> list[int]:
    relevant, seen, ranks = set(truth.split()), set(), []
    for rank, item in enumerate(prediction.split()[:k], start=1):
        if item in relevant and item not in seen:
            ranks.append(rank)
        seen.add(item)
    return ranks


def slow_average_precision(truth: str, prediction: str, k: int) -> float:
    best = min(len(set(truth.split())), k)
    precisions = [hits / rank for hits, rank in enumerate(hit_ranks(truth, prediction, k), start=1)]
    return sum(precisions) / best if best else 0.0


def slow_ndcg(truth: str, prediction: str, k: int) -> float:
    best = min(len(set(truth.split())), k)
    gain = sum(1 / math.log2(rank + 1) for rank in hit_ranks(truth, prediction, k))
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, best + 1)) if best else 0.0


@examples
@given(rows, cutoffs)
def test_map_is_the_mean_average_precision(texts: Rows, k: int) -> None:
    slow = [slow_average_precision(t, p, k) for t, p in texts]
    assert map_at_k.using(k=k)(*sides(texts)) == pytest.approx(sum(slow) / len(slow))


@examples
@given(rows, cutoffs)
def test_ndcg_is_the_mean_relative_gain(texts: Rows, k: int) -> None:
    slow = [slow_ndcg(t, p, k) for t, p in texts]
    assert ndcg_at_k.using(k=k)(*sides(texts)) == pytest.approx(sum(slow) / len(slow))


@examples
@given(st.permutations("abcdef"), st.sets(st.sampled_from("abcdef"), min_size=1), cutoffs)
def test_ndcg_is_that_of_scikit_learn(ranked: list[str], relevant: set[str], k: int) -> None:
    gains = [[float(item in relevant) for item in ranked]]
    expected = sklearn.metrics.ndcg_score(gains, [range(len(ranked), 0, -1)], k=k)
    assert ndcg_at_k.using(k=k)([" ".join(relevant)], [" ".join(ranked)]) == pytest.approx(expected)


def test_a_repeated_hit_uses_up_a_rank() -> None:
    assert map_at_k.using(k=3)(["a b"], ["a a b"]) == pytest.approx((1 + 2 / 3) / 2)
    assert map_at_k.using(k=2)(["a b"], ["a a b"]) == pytest.approx(1 / 2)


def test_empty_items_can_use_up_ranks() -> None:
    assert map_at_k.using(k=3)(["a"], ["b  a"]) == pytest.approx(1 / 2)
    assert map_at_k.using(k=3, empty_items=True)(["a"], ["b  a"]) == pytest.approx(1 / 3)
    assert map_at_k.using(k=3, empty_items=True)(["a"], [" a "]) == pytest.approx(1 / 2)


@pytest.mark.parametrize("metric", [map_at_k, ndcg_at_k])
def test_nothing_relevant_or_nothing_predicted_scores_0(metric: object) -> None:
    scored = metric.using(k=5)  # type: ignore[attr-defined]
    assert scored([""], ["a"]) == 0
    assert scored(["a"], [" "]) == 0
    assert scored([""], [""]) == 0


def test_the_cutoff_is_at_least_1() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        map_at_k.using(k=0)(["a"], ["a"])
