"""Scores of ranked lists: each row is a text of items separated by blanks, the best first."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics._arrays import FloatArray, IntArray, as_texts, paired_texts, ratio
from podium.metrics.tokens import encode, unique_pairs
from podium.task import metric

_EMPTY_ITEM = re.compile(r"(?<![^ ])(?= )")


@metric("MAP@k", higher_is_better=True)
def map_at_k(truth: ArrayLike, prediction: ArrayLike, *, k: int, empty_items: bool = False) -> float:
    """The mean over rows of the average precision within the first k predicted items.

    AP@k = (1 / min(number of relevant items, k)) sum over hits at rank r <= k of (hits up to r) / r
    An item counts as a hit once, repeats use up a rank; a row without relevant items has AP 0.

    Args:
        empty_items: Whether every blank of a prediction ends an item, so that two in a row cost a rank.
    """
    if empty_items:
        prediction = [_EMPTY_ITEM.sub("-", text) for text in as_texts(prediction)]
    hits = _find_hits(truth, prediction, k)
    first_of_row = np.searchsorted(hits.row, hits.row)
    so_far = np.arange(1, len(hits.row) + 1) - first_of_row
    return _mean_gain(hits, so_far / hits.rank, np.minimum(hits.relevant, k))


@metric("NDCG@k", higher_is_better=True)
def ndcg_at_k(truth: ArrayLike, prediction: ArrayLike, *, k: int) -> float:
    """The mean over rows of the discounted gain of the first k predicted items, as a share of the best.

    DCG = sum over hits at rank r <= k of 1 / log2(r + 1)
    NDCG@k = DCG / (sum over r = 1 .. min(number of relevant items, k) of 1 / log2(r + 1))
    An item counts as a hit once, repeats use up a rank; a row without relevant items has NDCG 0.
    """
    hits = _find_hits(truth, prediction, k)
    best = np.minimum(hits.relevant, k)
    discounts = 1 / np.log2(np.arange(int(best.max())) + 2)
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])[best]
    return _mean_gain(hits, 1 / np.log2(hits.rank + 1), ideal)


@dataclass(frozen=True)
class _Hits:
    """The first place of each relevant item among the predicted ones, by row and rank."""

    row: IntArray
    rank: IntArray
    relevant: IntArray
    """Number of distinct relevant items of each row."""


def _find_hits(truth: ArrayLike, prediction: ArrayLike, k: int) -> _Hits:
    if k < 1:
        raise ValueError(f"k is {k}; expected at least 1")
    items, guesses = encode(*paired_texts(truth, prediction))
    relevant, keys = unique_pairs(items), guesses.key
    hit = np.flatnonzero(relevant.contain(keys) & (guesses.position < k))
    first = np.unique(keys[hit], return_index=True)[1]
    chosen = hit[np.sort(first)]
    return _Hits(guesses.row[chosen], guesses.position[chosen] + 1, relevant.sizes())


def _mean_gain(hits: _Hits, gains: FloatArray, ideal: ArrayLike) -> float:
    totals = np.bincount(hits.row, weights=gains, minlength=len(hits.relevant))
    return float(np.mean(ratio(totals, ideal, empty=0.0)))
