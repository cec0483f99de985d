"""Scores of labels and of probabilities of labels."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.metrics.input_checks import (
    BoolArray,
    FloatArray,
    IntArray,
    flags,
    numbers,
    paired,
)
from podium.task import metric


@metric("Accuracy", higher_is_better=True)
def accuracy(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the share of values that are equal.

    accuracy = (number of i with truth_i == prediction_i) / n

    >>> from podium.metrics import accuracy
    >>> accuracy([1, 0, 1, 1], [1, 0, 0, 1])
    0.75
    """
    left, right = paired(truth, prediction)
    return float(np.mean(left == right))


@metric("Error rate", higher_is_better=False)
def error_rate(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the share of values that differ.

    error rate = 1 - accuracy

    >>> from podium.metrics import error_rate
    >>> error_rate([1, 0, 1, 1], [1, 0, 0, 1])
    0.25
    """
    return 1 - accuracy(truth, prediction)


@metric("ROC AUC", higher_is_better=True)
def roc_auc(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the area under the ROC curve, averaged over columns; NaN where a column has one class only.

    AUC = (W + T / 2) / (P N), for P positives and N negatives, where of the P N pairs
    W have the positive scored higher and T have both scored the same

    >>> from podium.metrics import roc_auc
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    left, right = numbers(truth, prediction)
    rows = len(left)
    classes, scores = flags(left).reshape(rows, -1), right.reshape(rows, -1)
    return float(np.mean([_auc(classes[:, i], scores[:, i]) for i in range(classes.shape[1])]))


def _auc(positive: BoolArray, score: FloatArray) -> float:
    above, below = np.sort(score[positive]), np.sort(score[~positive])
    pairs = len(above) * len(below)
    if pairs == 0 or np.isnan(above[-1]) or np.isnan(below[-1]):
        return math.nan
    wins = np.searchsorted(below, above, side="left").sum()
    wins_and_ties = np.searchsorted(below, above, side="right").sum()
    return int(wins + wins_and_ties) / (2 * pairs)


@metric("Log loss", higher_is_better=False)
def log_loss(truth: ArrayLike, prediction: ArrayLike, *, eps: float = 2.220446049250313e-16) -> float:
    """Return the mean negative log of the probability given to the true class, with probabilities kept off 0 and 1.

    log loss = -(1 / n) sum_i ln(min(max(p_i, eps), 1 - eps)), p_i = probability of the true class of row i
    One axis: truth is 0 or 1 and the prediction the probability of 1. Two axes: truth is one-hot and the
    prediction has a column per class; rows are not made to add up to 1.

    >>> from podium.metrics import log_loss
    >>> round(log_loss([0, 1], [0.25, 0.5]), 4)
    0.4904
    """
    left, right = numbers(truth, prediction)
    chosen = flags(left)
    if chosen.ndim == 1:
        probability = np.where(chosen, right, 1 - right)
    elif np.all(np.count_nonzero(chosen, axis=1) == 1):
        probability = right[chosen]
    else:
        raise ValueError("truth is not one-hot: expected exactly one 1 in each row")
    return -float(np.mean(np.log(np.clip(probability, eps, 1 - eps))))


@metric("F1", higher_is_better=True)
def f1(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    average: Literal["binary", "macro", "micro"] = "binary",
    positive: Any = 1,
) -> float:
    """Return the harmonic mean of precision and recall: of one label, or over all labels of both sides.

    F1 = 2 TP / (2 TP + FP + FN), and 0 where that is 0 / 0
    binary: of the label `positive`; macro: mean over labels; micro: counts added up over labels first

    >>> from podium.metrics import f1
    >>> f1.using(average="macro")(["a", "b", "a"], ["a", "a", "a"])
    0.4
    """
    if average == "binary":
        left, right = paired(truth, prediction)
        return _f_beta(left == positive, right == positive, 1.0)
    if average not in ("macro", "micro"):
        raise ValueError(f"average is {average!r}; expected 'binary', 'macro' or 'micro'")
    labels = _encode(truth, prediction)
    hits = np.bincount(labels.truth[labels.truth == labels.prediction], minlength=labels.count)
    if average == "micro":
        return int(hits.sum()) / len(labels.truth)
    return float(np.mean(2 * hits / (labels.truth_counts + labels.prediction_counts)))


@metric("F-beta", higher_is_better=True)
def f_beta(truth: ArrayLike, prediction: ArrayLike, *, beta: float = 1.0) -> float:
    """Return the weighted harmonic mean of precision and recall over all values of 0/1 arrays of any shape.

    F = (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP), and 0 where that is 0 / 0

    >>> from podium.metrics import f_beta
    >>> round(f_beta.using(beta=0.5)([1, 0, 1, 0], [1, 1, 1, 1]), 4)
    0.5556
    """
    left, right = paired(truth, prediction)
    return _f_beta(flags(left), flags(right), beta)


def _f_beta(truth: BoolArray, prediction: BoolArray, beta: float) -> float:
    hits = int(np.count_nonzero(truth & prediction))
    if hits == 0:
        return 0.0
    weight = beta**2
    total = weight * int(np.count_nonzero(truth)) + int(np.count_nonzero(prediction))
    return (1 + weight) * hits / total


@metric("Quadratic weighted kappa", higher_is_better=True)
def quadratic_kappa(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Cohen's kappa with quadratic weights; NaN where both sides are the same constant.

    a_i, b_i = positions of truth_i and prediction_i in the sorted union of labels
    kappa = 1 - (sum_i (a_i - b_i)^2) / ((1 / n) sum_i sum_j (a_i - b_j)^2)

    >>> from podium.metrics import quadratic_kappa
    >>> quadratic_kappa([0, 1, 2], [0, 2, 2])
    0.8
    """
    labels = _encode(truth, prediction)
    position = labels.positions()
    left, right = position[labels.truth], position[labels.prediction]
    # Whole numbers until the division, so that a constant side scores exactly 0.
    observed = int(np.sum((left - right) ** 2)) * len(left)
    squares = int(np.sum(left**2)) + int(np.sum(right**2))
    expected = squares * len(left) - 2 * int(left.sum()) * int(right.sum())
    return (expected - observed) / expected if expected else math.nan


@metric("Matthews correlation", higher_is_better=True)
def matthews(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the multi-class Matthews correlation coefficient; 0 where one side is constant.

    c = number of equal rows, t_k and p_k = how often truth and prediction are label k
    MCC = (c n - sum_k t_k p_k) / sqrt((n^2 - sum_k p_k^2) (n^2 - sum_k t_k^2))

    >>> from podium.metrics import matthews
    >>> round(matthews([1, 0, 1, 0], [1, 0, 1, 1]), 4)
    0.5774
    """
    labels = _encode(truth, prediction)
    total = len(labels.truth)
    actual, predicted = labels.truth_counts, labels.prediction_counts
    covariance = int(np.sum(labels.truth == labels.prediction)) * total - int(actual @ predicted)
    variances = (total**2 - int(actual @ actual)) * (total**2 - int(predicted @ predicted))
    return covariance / math.sqrt(variances) if variances else 0.0


@dataclass(frozen=True)
class _Labels:
    """Two columns of labels as numbers below `count`."""

    values: list[Any]
    """The distinct labels; a code is an index into them."""
    truth: IntArray
    prediction: IntArray

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def truth_counts(self) -> IntArray:
        return np.bincount(self.truth, minlength=self.count)

    @property
    def prediction_counts(self) -> IntArray:
        return np.bincount(self.prediction, minlength=self.count)

    def positions(self) -> IntArray:
        """Return the position of each label in sorted order."""
        order = sorted(range(self.count), key=self.values.__getitem__)
        return np.argsort(np.array(order, dtype=np.int64))


def _encode(truth: ArrayLike, prediction: ArrayLike) -> _Labels:
    left, right = paired(truth, prediction)
    if left.ndim != 1:
        raise ValueError(f"labels have {left.ndim} axes; expected one label per row")
    if left.dtype.kind in "biuf" and right.dtype.kind in "biuf":
        values, codes = _number_codes(np.concatenate([left, right]))
    else:
        values, codes = _object_codes([*left.tolist(), *right.tolist()])
    return _Labels(values, codes[: len(left)], codes[len(left) :])


def _number_codes(labels: NDArray[Any]) -> tuple[list[Any], IntArray]:
    # Asking for counts makes numpy sort; its hash table is ten times slower where many labels differ.
    values = np.unique(labels, return_counts=True)[0]
    return values.tolist(), np.searchsorted(values, labels)


def _object_codes(labels: list[Any]) -> tuple[list[Any], IntArray]:
    codes: defaultdict[Any, int] = defaultdict(count().__next__)
    coded = np.fromiter(map(codes.__getitem__, labels), dtype=np.int64, count=len(labels))
    return list(codes), coded
