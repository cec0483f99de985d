"""Scores of tags: rows that may have any number of labels, and a score for each label."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import flags, numbers
from podium.task import metric


@metric("Label-weighted label-ranking average precision", higher_is_better=True)
def lwlrap(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the mean over all true labels of the precision at their rank within the row; NaN if there are none.

    lwlrap = (1 / number of true labels) sum over true labels (i, j) of t_ij / r_ij, where in row i
    r_ij labels are scored at least as high as label j, and t_ij of these are true

    >>> from podium.metrics import lwlrap
    >>> lwlrap([[1, 0, 0], [0, 0, 1]], [[0.9, 0.5, 0.1], [0.9, 0.5, 0.7]])
    0.75
    """
    left, right = numbers(truth, prediction)
    if left.ndim != 2:
        raise ValueError(f"truth has {left.ndim} axes; expected rows and a column per label")
    order = np.argsort(-right, axis=1)
    scores = np.take_along_axis(right, order, axis=1)
    true = np.take_along_axis(flags(left), order, axis=1)
    place = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    ends_tie = np.diff(scores, axis=1, append=math.nan) != 0
    last = np.minimum.accumulate(np.where(ends_tie, place, scores.shape[1])[:, ::-1], axis=1)[:, ::-1]
    precision = np.take_along_axis(np.cumsum(true, axis=1), last, axis=1) / (last + 1)
    return float(np.mean(precision[true])) if true.any() else math.nan
