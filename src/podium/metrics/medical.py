"""Scores of diagnoses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import flags, numbers, ratio
from podium.task import metric


@metric("Weighted multi-label log loss", higher_is_better=False)
def weighted_log_loss(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    weights: ArrayLike = 1.0,
    positive: float = 1.0,
    eps: float = 1e-15,
) -> float:
    """Return the mean over rows of the weighted mean of a row's log losses, with probabilities kept off 0 and 1.

    loss = (1 / n) sum_i (sum_j w_ij l_ij) / (sum_j w_ij), l_ij = -ln of the probability given to what is true
    w_ij = weights_j, times `positive` where label j is true of row i

    >>> from podium.metrics import weighted_log_loss
    >>> round(weighted_log_loss.using(weights=[1, 3])([[1, 0]], [[0.5, 0.2]]), 4)
    0.3406
    """
    left, right = numbers(truth, prediction)
    if left.ndim != 2:
        raise ValueError(f"truth has {left.ndim} axes; expected rows and a column per label")
    true, probability = flags(left), np.clip(right, eps, 1 - eps)
    losses = -np.log(np.where(true, probability, 1 - probability))
    return float(np.mean(np.average(losses, axis=1, weights=np.where(true, positive, 1.0) * weights)))


@metric("Probabilistic F1", higher_is_better=True)
def probabilistic_f1(truth: ArrayLike, prediction: ArrayLike) -> float:
    """F1 where a prediction counts as positive in part, by its probability kept within 0 and 1.

    pF1 = 2 TP / (number of positives + TP + FP), and 0 where that is 0 / 0
    TP and FP = sums of the predictions for positives and for negatives

    >>> from podium.metrics import probabilistic_f1
    >>> probabilistic_f1([1, 0], [0.8, 0.2])
    0.8
    """
    left, right = numbers(truth, prediction)
    positive, probability = flags(left), np.clip(right, 0, 1)
    hits = probability[positive].sum()
    return float(ratio(2 * hits, np.count_nonzero(positive) + probability.sum(), empty=0.0))
