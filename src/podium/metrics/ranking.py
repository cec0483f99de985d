"""Scores of ranked lists: each row is a text of items separated by blanks, the best first."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import FloatArray, IntArray, as_texts, paired_texts, ratio
from podium.metrics.token_sets import Tokens, encode_parts, unique_pairs
from podium.task import metric

_EMPTY_ITEM = re.compile(r"(?<![^ ])(?= )")


@metric("MAP@k", higher_is_better=True)
def map_at_k(truth: ArrayLike, prediction: ArrayLike, *, k: int, empty_items: bool = False) -> float:
    """Return the mean over rows of the average precision within the first k predicted items.

    AP@k = (1 / min(number of relevant items, k)) sum over hits at rank r <= k of (hits up to r) / r
    An item counts as a hit once, repeats use up a rank; a row without relevant items has AP 0.

    Args:
        empty_items: Whether every blank of a prediction ends an item, so that two in a row cost a rank.

    >>> from podium.metrics import map_at_k
    >>> round(map_at_k.using(k=3)(["a b", "c"], ["a x b", "c"]), 4)
    0.9167
    """
    if empty_items:
        prediction = [_EMPTY_ITEM.sub("-", text) for text in as_texts(prediction)]

    def average_precision(hits: _Hits) -> FloatArray:
        first_of_row = np.searchsorted(hits.row, hits.row)
        so_far = np.arange(1, len(hits.row) + 1) - first_of_row
        return hits.add_up(so_far / hits.rank, best=np.minimum(hits.relevant, k))

    return _mean_over_rows(truth, prediction, k, average_precision)


@metric("NDCG@k", higher_is_better=True)
def ndcg_at_k(truth: ArrayLike, prediction: ArrayLike, *, k: int) -> float:
    """Return the mean over rows of the discounted gain of the first k predicted items, as a share of the best.

    DCG = sum over hits at rank r <= k of 1 / log2(r + 1)
    NDCG@k = DCG / (sum over r = 1 .. min(number of relevant items, k) of 1 / log2(r + 1))
    An item counts as a hit once, repeats use up a rank; a row without relevant items has NDCG 0.

    >>> from podium.metrics import ndcg_at_k
    >>> round(ndcg_at_k.using(k=3)(["a b", "c"], ["a x b", "c"]), 4)
    0.9599
    """

    def gain(hits: _Hits) -> FloatArray:
        count = np.minimum(hits.relevant, k)
        discounts = 1 / np.log2(np.arange(int(count.max())) + 2)
        return hits.add_up(1 / np.log2(hits.rank + 1), best=np.concatenate([[0.0], np.cumsum(discounts)])[count])

    return _mean_over_rows(truth, prediction, k, gain)


@dataclass(frozen=True)
class _Hits:
    """The first place of each relevant item among the predicted ones, by row and rank."""

    row: IntArray
    rank: IntArray
    relevant: IntArray
    """Number of distinct relevant items of each row."""

    def add_up(self, gains: FloatArray, *, best: ArrayLike) -> FloatArray:
        """Return the gain of the hits of each row, as a share of the best possible gain."""
        return ratio(np.bincount(self.row, weights=gains, minlength=len(self.relevant)), best, empty=0.0)


def _mean_over_rows(truth: ArrayLike, prediction: ArrayLike, k: int, score: Callable[[_Hits], FloatArray]) -> float:
    if k < 1:
        raise ValueError(f"k is {k}; expected at least 1")
    parts = encode_parts(*paired_texts(truth, prediction))
    return float(np.mean(np.concatenate([score(_find_hits(items, guesses, k)) for items, guesses in parts])))


def _find_hits(items: Tokens, guesses: Tokens, k: int) -> _Hits:
    relevant = unique_pairs(items)
    hit = np.flatnonzero(relevant.contain(guesses.key))
    first = np.unique(guesses.key[hit], return_index=True)[1]
    chosen = hit[np.sort(first)]
    rank = guesses.places(chosen) + 1
    kept = rank <= k
    return _Hits(guesses.row[chosen[kept]], rank[kept], relevant.sizes())
