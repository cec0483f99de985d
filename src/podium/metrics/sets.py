"""Scores of sets: each row is a text whose words, separated by blanks, form a set."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics._arrays import paired_texts, ratio
from podium.metrics.tokens import Pairs, encode_sets
from podium.task import metric


@metric("Word Jaccard", higher_is_better=True)
def word_jaccard(truth: ArrayLike, prediction: ArrayLike, *, both_empty: float = 1.0) -> float:
    """The mean over rows of the Jaccard index of the lower-cased words; `both_empty` for a row without any.

    J = |A and B| / |A or B|
    """
    left, right = paired_texts(truth, prediction)
    actual, predicted = encode_sets([text.lower() for text in left], [text.lower() for text in right])
    common, total = _common(actual, predicted).sizes(), actual.sizes() + predicted.sizes()
    return float(np.mean(ratio(common, total - common, empty=both_empty)))


@metric("Micro F1 of labels", higher_is_better=True)
def label_micro_f1(truth: ArrayLike, prediction: ArrayLike, *, ignore_unknown: bool = False) -> float:
    """The F1 of all (row, label) pairs together; 0 where no row has a label on either side.

    F1 = 2 TP / (2 TP + FP + FN), counted over all rows
    With `ignore_unknown`, predicted labels that no row of the truth has are dropped; otherwise they are FP.
    """
    actual, predicted = encode_sets(*paired_texts(truth, prediction))
    if ignore_unknown:
        predicted = predicted.where(np.isin(predicted.code, actual.code))
    total = len(actual.key) + len(predicted.key)
    return 2 * len(_common(actual, predicted).key) / total if total else 0.0


@metric("Mean F1 of labels", higher_is_better=True)
def label_mean_f1(truth: ArrayLike, prediction: ArrayLike, *, both_empty: float = 1.0) -> float:
    """The mean over rows of the F1 of the row's label sets; `both_empty` for a row without any.

    F1 = 2 |A and B| / (|A| + |B|)
    """
    actual, predicted = encode_sets(*paired_texts(truth, prediction))
    common = _common(actual, predicted).sizes()
    return float(np.mean(ratio(2 * common, actual.sizes() + predicted.sizes(), empty=both_empty)))


def _common(left: Pairs, right: Pairs) -> Pairs:
    return right.where(left.contain(right.key))
