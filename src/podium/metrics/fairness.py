"""Scores that ask whether a model does equally well on groups of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.classification import roc_auc
from podium.metrics.input_checks import BoolArray, FloatArray, flags, numbers
from podium.task import metric


@metric("Bias-weighted AUC", higher_is_better=True)
def bias_auc(truth: ArrayLike, prediction: ArrayLike, *, groups: ArrayLike, power: float = -5.0) -> float:
    """Return the mean of the overall ROC AUC and of three AUCs generalised over groups; NaN if a part has one class.

    score = (AUC + M(within) + M(positives outside) + M(negatives outside)) / 4, where
    M(x) = ((1 / G) sum_g x_g^power)^(1 / power) over the G columns of `groups` (0/1, a row may be in several) and
    within = AUC of the rows of the group
    positives outside = AUC of the negatives of the group and the positives of the rest
    negatives outside = AUC of the positives of the group and the negatives of the rest

    >>> from podium.metrics import bias_auc
    >>> bias_auc.using(groups=[[1], [1], [0], [0]])([1, 0, 1, 0], [0.9, 0.4, 0.45, 0.5])
    0.9375
    """
    left, score = numbers(truth, prediction)
    positive, members = flags(left), flags(groups)
    if left.ndim != 1 or members.ndim != 2 or len(members) != len(left):
        raise ValueError(f"groups have shape {members.shape}, truth {left.shape}; expected (rows, groups) and (rows,)")
    same_side = members == positive[:, None]
    parts = [roc_auc(positive, score)]
    parts += [_power_mean(_aucs(positive, score, chosen), power) for chosen in (members, ~same_side, same_side)]
    return float(np.mean(parts))


def _aucs(positive: BoolArray, score: FloatArray, chosen: BoolArray) -> FloatArray:
    """Return the AUC of the rows chosen by each column."""
    return np.array([roc_auc(positive[rows], score[rows]) if rows.any() else np.nan for rows in chosen.T])


def _power_mean(values: FloatArray, power: float) -> float:
    with np.errstate(divide="ignore"):  # to a negative power, a single 0 makes the mean 0
        return float(np.mean(values**power) ** (1 / power))
