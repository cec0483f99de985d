"""Scores of predicted risks, where not every event was seen."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import numbers
from podium.task import metric

_ROWS_AT_ONCE = 500


@metric("Concordance index", higher_is_better=True)
def concordance(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the share of comparable pairs in which the higher risk has its event first; NaN if there are none.

    C = (pairs in the right order + half of those with equal risks) / pairs that can be compared
    The truth is a time; a negative one says that nothing had happened until then. Two rows can be compared if the
    earlier time is that of an event.

    >>> from podium.metrics import concordance
    >>> round(concordance([2, -3, 5, 9], [0.9, 0.1, 0.4, 0.5]), 4)
    0.75
    """
    left, risk = numbers(truth, prediction)
    if left.ndim > 1:
        raise ValueError(f"truth has {left.ndim} axes; expected one time per row")
    time, right, compared = np.abs(left), 0.0, 0
    for rows in np.array_split(np.flatnonzero(left > 0), max(1, len(left) // _ROWS_AT_ONCE)):
        later = time[rows, None] < time[None, :]
        difference = risk[rows, None] - risk[None, :]
        compared += int(later.sum())
        right += float(np.sum(later & (difference > 0)) + 0.5 * np.sum(later & (difference == 0)))
    return right / compared if compared else math.nan
