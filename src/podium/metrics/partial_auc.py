"""Areas under parts of the ROC curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import BoolArray, FloatArray, flags, numbers
from podium.task import metric


@metric("Weighted AUC", higher_is_better=True)
def weighted_auc(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    cuts: Sequence[float] = (0.0, 0.4, 1.0),
    weights: Sequence[float] = (2.0, 1.0),
) -> float:
    """Return the area under the ROC curve, cut at true positive rates into weighted slices; NaN for a single class.

    slice_k = integral over the false positive rate x of min(max(TPR(x), cut_k), cut_k+1) - cut_k
    score = (sum_k weight_k slice_k) / (sum_k weight_k (cut_k+1 - cut_k))

    >>> from podium.metrics import weighted_auc
    >>> round(weighted_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8214
    """
    left, right = numbers(truth, prediction)
    positive = flags(left)
    if positive.ndim != 1:
        raise ValueError(f"truth has {positive.ndim} axes; expected one score per row")
    if positive.all() or not positive.any() or np.isnan(right).any():
        return math.nan
    x, y = _insert(*_roc(positive, right), np.asarray(cuts, dtype=np.float64))
    slices = [_area(x, np.clip(y, low, high) - low) for low, high in pairwise(cuts)]
    return float(np.dot(weights, slices) / np.dot(weights, np.diff(cuts)))


def _roc(positive: BoolArray, score: FloatArray) -> tuple[FloatArray, FloatArray]:
    """False and true positive rates as the threshold falls; equal scores make one step."""
    order = np.argsort(-score, kind="stable")
    falling = score[order]
    last = np.append(falling[1:] != falling[:-1], True)
    hits = np.cumsum(positive[order])[last]
    misses = np.cumsum(~positive[order])[last]
    return np.insert(misses / misses[-1], 0, 0.0), np.insert(hits / hits[-1], 0, 0.0)


def _insert(x: FloatArray, y: FloatArray, cuts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the curve with a point at each cut, so that no step crosses one."""
    new = np.setdiff1d(cuts, y)
    after = np.searchsorted(y, new)
    share = (new - y[after - 1]) / (y[after] - y[after - 1])
    return np.insert(x, after, x[after - 1] + share * (x[after] - x[after - 1])), np.insert(y, after, new)


def _area(x: FloatArray, y: FloatArray) -> float:
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
