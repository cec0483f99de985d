"""Scores of predicted distributions where the truth is a distribution too."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import numbers
from podium.task import metric


@metric("KL divergence", higher_is_better=False)
def kl_divergence(truth: ArrayLike, prediction: ArrayLike, *, eps: float = 1e-15) -> float:
    """Return the mean over rows of the Kullback-Leibler divergence (a column per outcome), with predictions clipped.

    KL = (1 / n) sum_i sum_k t_ik ln(t_ik / min(max(p_ik, eps), 1 - eps)), a term with t_ik = 0 being 0
    Rows are not made to add up to 1.

    >>> from podium.metrics import kl_divergence
    >>> round(kl_divergence([[0.5, 0.5], [1, 0]], [[0.5, 0.5], [0.5, 0.5]]), 4)
    0.3466
    """
    left, right = numbers(truth, prediction)
    certain = left > 0
    terms = left[certain] * np.log(left[certain] / np.clip(right[certain], eps, 1 - eps))
    return float(np.sum(terms)) / len(left)
