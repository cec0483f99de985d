"""Scores of predicted numbers.

Absurdly large predictions may overflow to an infinite or undefined score; that is no reason to warn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import FloatArray, check_rows, numbers, ratio
from podium.task import metric


@metric("RMSE", higher_is_better=False)
@np.errstate(over="ignore", invalid="ignore")
def rmse(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the root of the mean squared error, averaged over columns.

    RMSE = sqrt((1 / n) sum_i (truth_i - prediction_i)^2)

    >>> from podium.metrics import rmse
    >>> rmse([1, 2, 3, 4], [1, 2, 3, 6])
    1.0
    """
    return _rmse(*numbers(truth, prediction))


@metric("RMSLE", higher_is_better=False)
@np.errstate(over="ignore", invalid="ignore")
def rmsle(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the root of the mean squared error of logarithms, averaged over columns; NaN with any value <= -1.

    RMSLE = sqrt((1 / n) sum_i (ln(1 + truth_i) - ln(1 + prediction_i))^2)

    >>> from podium.metrics import rmsle
    >>> round(rmsle([0, 1], [0, 3]), 4)
    0.4901
    """
    left, right = numbers(truth, prediction)
    return _rmse(_log1p(left), _log1p(right))


def _rmse(truth: FloatArray, prediction: FloatArray) -> float:
    return float(np.mean(np.sqrt(np.mean((truth - prediction) ** 2, axis=0))))


def _log1p(values: FloatArray) -> FloatArray:
    return np.log1p(values, out=np.full_like(values, math.nan), where=values > -1)


@metric("MAE", higher_is_better=False)
@np.errstate(over="ignore", invalid="ignore")
def mae(truth: ArrayLike, prediction: ArrayLike, *, decimals: int | None = None) -> float:
    """Return the mean absolute error over all values, rounded where `decimals` are given: halves to the even number.

    MAE = (1 / n) sum_i |truth_i - prediction_i|

    >>> from podium.metrics import mae
    >>> mae([1, 2], [2, 4])
    1.5
    """
    left, right = numbers(truth, prediction)
    error = float(np.mean(np.abs(left - right)))
    return error if decimals is None else round(error, decimals)


@metric("Mean log MAE of groups", higher_is_better=False)
@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def group_log_mae(truth: ArrayLike, prediction: ArrayLike, *, groups: ArrayLike, floor: float = 0.0) -> float:
    """Return the mean over groups of rows of the logarithm of their MAE; minus infinity where a group has no error.

    score = (1 / G) sum_g ln(max(MAE of group g, floor))

    >>> from podium.metrics import group_log_mae
    >>> round(group_log_mae.using(groups=["a", "a", "b"])([1, 2, 5], [2, 3, 5.5]), 4)
    -0.3466
    """
    left, right = numbers(truth, prediction)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    errors = np.bincount(codes, weights=np.abs(left - right)) / np.bincount(codes)
    return float(np.mean(np.log(np.maximum(errors, floor))))


@metric("SMAPE", higher_is_better=False)
@np.errstate(over="ignore", invalid="ignore")
def smape(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the symmetric mean absolute error in percent, from 0 to 200.

    SMAPE = (100 / n) sum_i 2 |truth_i - prediction_i| / (|truth_i| + |prediction_i|), a term of 0 / 0 being 0

    >>> from podium.metrics import smape
    >>> round(smape([1, 2], [1, 4]), 4)
    33.3333
    """
    left, right = numbers(truth, prediction)
    return 200 * float(np.mean(ratio(np.abs(left - right), np.abs(left) + np.abs(right), empty=0.0)))


@metric("Pinball loss", higher_is_better=False)
@np.errstate(over="ignore", invalid="ignore")
def pinball(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    quantile: float = 0.5,
    quantiles: Sequence[float] | None = None,
) -> float:
    """Return the mean pinball loss of one predicted quantile, or of several in the columns of the prediction.

    loss = mean of max(q d, (q - 1) d), d = truth - prediction
    The truth has one column, or the same one for each quantile.

    >>> from podium.metrics import pinball
    >>> pinball.using(quantile=0.9)([1, 2], [2, 1])
    0.5
    """
    levels = np.array([quantile] if quantiles is None else quantiles, dtype=np.float64)
    if not np.all((levels > 0) & (levels < 1)):
        raise ValueError(f"quantiles are {levels.tolist()}; expected numbers between 0 and 1")
    columns = np.asarray(prediction, dtype=np.float64)
    if columns.ndim == 1:
        columns = columns[:, None]
    left = np.asarray(truth, dtype=np.float64)
    if left.shape != columns.shape or columns.shape[1] != len(levels):
        left = _one_column(left, columns, width=len(levels))
    difference = left - columns
    return float(np.mean(np.maximum(levels * difference, (levels - 1) * difference)))


@metric("Laplace log likelihood", higher_is_better=True)
@np.errstate(over="ignore", invalid="ignore")
def laplace_log_likelihood(
    truth: ArrayLike, prediction: ArrayLike, *, floor: float = 70.0, cap: float = 1000.0
) -> float:
    """Return the mean log likelihood of a Laplace law whose value and sigma are the two columns of the prediction.

    s = max(sigma, floor), d = min(|truth - value|, cap)
    score = mean of -sqrt(2) d / s - ln(sqrt(2) s)

    >>> from podium.metrics import laplace_log_likelihood
    >>> round(laplace_log_likelihood([2000], [[2070, 70]]), 4)
    -6.0093
    """
    columns = np.asarray(prediction, dtype=np.float64)
    left = _one_column(truth, columns, width=2)[:, 0]
    sigma = np.maximum(columns[:, 1], floor)
    distance = np.minimum(np.abs(left - columns[:, 0]), cap)
    return float(np.mean(-math.sqrt(2) * distance / sigma - np.log(math.sqrt(2) * sigma)))


def _one_column(truth: ArrayLike, columns: FloatArray, *, width: int) -> FloatArray:
    left = np.asarray(truth, dtype=np.float64)
    check_rows(left)
    if left.ndim != 1 or columns.shape != (len(left), width):
        shapes = f"truth has shape {left.shape} and prediction {columns.shape}"
        raise ValueError(f"{shapes}; expected (rows,) and (rows, {width})")
    return left[:, None]


@metric("Pearson correlation", higher_is_better=True)
@np.errstate(over="ignore", invalid="ignore")
def pearson(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the linear correlation, averaged over columns; NaN where a column is constant.

    r = sum_i (t_i - mean t)(p_i - mean p) / sqrt(sum_i (t_i - mean t)^2 sum_i (p_i - mean p)^2)

    >>> from podium.metrics import pearson
    >>> round(pearson([1, 2, 3], [1, 2, 4]), 4)
    0.982
    """
    return _correlation(*numbers(truth, prediction))


@metric("Spearman correlation", higher_is_better=True)
@np.errstate(over="ignore", invalid="ignore")
def spearman(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the correlation of ranks, averaged over columns; NaN where a column is constant.

    rho = Pearson correlation of the ranks, equal values sharing the mean of their ranks

    >>> from podium.metrics import spearman
    >>> round(spearman([1, 2, 3], [10, 30, 20]), 4)
    0.5
    """
    from scipy.stats import rankdata

    left, right = numbers(truth, prediction)
    return _correlation(rankdata(left, axis=0), rankdata(right, axis=0))


def _correlation(truth: FloatArray, prediction: FloatArray) -> float:
    products = _unit(truth) * _unit(prediction)
    return float(np.mean(np.clip(np.sum(products, axis=0), -1, 1)))


def _unit(values: FloatArray) -> FloatArray:
    """Return each column shifted to mean 0 and scaled to length 1; NaN if it is constant."""
    constant = np.min(values, axis=0) == np.max(values, axis=0)
    centred = values - np.mean(values, axis=0)
    scaled = centred / np.max(np.abs(centred), axis=0)  # squares of tiny numbers would vanish
    unit: FloatArray = scaled / np.sqrt(np.sum(scaled**2, axis=0))
    return np.where(constant, math.nan, unit)
