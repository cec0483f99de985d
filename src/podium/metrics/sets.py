"""Scores of sets: each row is a text whose words, separated by blanks, form a set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import IntArray, paired_texts, ratio
from podium.metrics.token_sets import Tokens, encode, encode_parts, unique_pairs
from podium.task import metric


@metric("Word Jaccard", higher_is_better=True)
def word_jaccard(truth: ArrayLike, prediction: ArrayLike, *, both_empty: float = 1.0) -> float:
    """Return the mean over rows of the Jaccard index of the lower-cased words; `both_empty` for a row without any.

    J = |A and B| / |A or B|

    >>> from podium.metrics import word_jaccard
    >>> word_jaccard(["a b c d"], ["A b"])
    0.5
    """
    left, right = paired_texts(truth, prediction)
    sizes = _sizes(encode_parts([text.lower() for text in left], [text.lower() for text in right]))
    return float(np.mean(ratio(sizes.common, sizes.total - sizes.common, empty=both_empty)))


@metric("Micro F1 of labels", higher_is_better=True)
def label_micro_f1(truth: ArrayLike, prediction: ArrayLike, *, ignore_unknown: bool = False) -> float:
    """Return the F1 of all (row, label) pairs together; 0 where no row has a label on either side.

    F1 = 2 TP / (2 TP + FP + FN), counted over all rows
    With `ignore_unknown`, predicted labels that no row of the truth has are dropped; otherwise they are FP.

    >>> from podium.metrics import label_micro_f1
    >>> round(label_micro_f1(["a b", "c"], ["a", "c d"]), 4)
    0.6667
    """
    texts = paired_texts(truth, prediction)
    sizes = _sizes([_drop_unknown(*encode(*texts))] if ignore_unknown else encode_parts(*texts))
    return float(ratio(2 * sizes.common.sum(), sizes.total.sum(), empty=0.0))


@metric("Mean F1 of labels", higher_is_better=True)
def label_mean_f1(truth: ArrayLike, prediction: ArrayLike, *, both_empty: float = 1.0) -> float:
    """Return the mean over rows of the F1 of the row's label sets; `both_empty` for a row without any.

    F1 = 2 |A and B| / (|A| + |B|)

    >>> from podium.metrics import label_mean_f1
    >>> round(label_mean_f1(["a b", "c"], ["a", "c"]), 4)
    0.8333
    """
    sizes = _sizes(encode_parts(*paired_texts(truth, prediction)))
    return float(np.mean(ratio(2 * sizes.common, sizes.total, empty=both_empty)))


@dataclass(frozen=True)
class _Sizes:
    """Words of each row: in both sets, and in the two sets added up."""

    common: IntArray
    total: IntArray


def _sizes(parts: Iterable[tuple[Tokens, Tokens]]) -> _Sizes:
    common, total = [], []
    for left, right in parts:
        actual, predicted = unique_pairs(left), unique_pairs(right)
        common.append(predicted.where(actual.contain(predicted.key)).sizes())
        total.append(actual.sizes() + predicted.sizes())
    return _Sizes(np.concatenate(common), np.concatenate(total))


def _drop_unknown(actual: Tokens, predicted: Tokens) -> tuple[Tokens, Tokens]:
    known = np.bincount(actual.code, minlength=actual.vocabulary) > 0
    return actual, predicted.where(known[predicted.code])
