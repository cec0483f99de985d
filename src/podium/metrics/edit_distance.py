"""Scores of texts by edit distance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import IntArray, paired_texts
from podium.task import metric


@metric("Mean Levenshtein distance", higher_is_better=False)
def mean_levenshtein(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the mean over rows of the number of characters to insert, delete or replace.

    score = (1 / n) sum_i distance(truth_i, prediction_i)

    >>> from podium.metrics import mean_levenshtein
    >>> mean_levenshtein(["kitten"], ["sitting"])
    3.0
    """
    return float(np.mean(_distances(*paired_texts(truth, prediction))))


@metric("Normalised Levenshtein distance", higher_is_better=False)
def normalised_levenshtein(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Blank-separated tokens to insert, delete or replace, per token of the truth; NaN if it has none.

    score = (sum_i distance(truth_i, prediction_i)) / (sum_i number of tokens of truth_i)

    >>> from podium.metrics import normalised_levenshtein
    >>> normalised_levenshtein(["a b c d"], ["a c d"])
    0.25
    """
    left, right = paired_texts(truth, prediction)
    # Millions of lists would keep the garbage collector busy; it lets go of tuples of text.
    actual, predicted = [tuple(text.split()) for text in left], [tuple(text.split()) for text in right]
    length = sum(map(len, actual))
    return int(_distances(actual, predicted).sum()) / length if length else math.nan


def _distances(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> IntArray:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    distances: IntArray = cpdist(left, right, scorer=Levenshtein.distance, dtype=np.int64)
    return distances
