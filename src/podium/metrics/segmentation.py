"""Scores of masks, as boolean arrays or as run-length text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.metrics.input_checks import IntArray, flags, paired, ratio
from podium.metrics.run_length import area, overlap, parse_both
from podium.task import metric


@metric("Dice", higher_is_better=True)
def dice(truth: ArrayLike, prediction: ArrayLike, *, pooled: bool = False) -> float:
    """Return the Dice coefficient of 0/1 arrays, first axis = sample: mean over samples, or over all pixels together.

    Dice = 2 |A and B| / (|A| + |B|), and 1 where both are empty

    >>> from podium.metrics import dice
    >>> round(dice([[1, 1, 0, 0]], [[1, 0, 0, 0]]), 4)
    0.6667
    """
    return _dice(_dense_sizes(truth, prediction), pooled=pooled)


@metric("Mean IoU", higher_is_better=True)
def mean_iou(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the mean over samples of the intersection over union of 0/1 arrays, first axis = sample.

    IoU = |A and B| / |A or B|, and 1 where both are empty

    >>> from podium.metrics import mean_iou
    >>> mean_iou([[1, 1, 0, 0]], [[1, 0, 0, 0]])
    0.5
    """
    return _mean_iou(_dense_sizes(truth, prediction))


@metric("Dice", higher_is_better=True)
def rle_dice(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    pooled: bool = False,
    names: Sequence[object] | None = None,
    size: int | NDArray[np.integer] | None = None,
    strict_size: bool = False,
) -> float:
    """Return the Dice coefficient of run-length masks: mean over rows, or over all pixels together.

    Dice = 2 |A and B| / (|A| + |B|), and 1 where both are empty
    Names, size and strict_size are those of `podium.metrics.run_length.parse_runs`.

    >>> from podium.metrics import rle_dice
    >>> round(rle_dice(["1 4"], ["1 2"]), 4)
    0.6667
    """
    return _dice(_run_sizes(truth, prediction, names, size, strict=strict_size), pooled=pooled)


@metric("Mean IoU", higher_is_better=True)
def rle_mean_iou(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    names: Sequence[object] | None = None,
    size: int | NDArray[np.integer] | None = None,
    strict_size: bool = False,
) -> float:
    """Return the mean over rows of the intersection over union of run-length masks.

    IoU = |A and B| / |A or B|, and 1 where both are empty
    Names, size and strict_size are those of `podium.metrics.run_length.parse_runs`.

    >>> from podium.metrics import rle_mean_iou
    >>> rle_mean_iou(["1 4"], ["1 2"])
    0.5
    """
    return _mean_iou(_run_sizes(truth, prediction, names, size, strict=strict_size))


@metric("F-beta of masks", higher_is_better=True)
def rle_f_beta(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    beta: float = 1.0,
    names: Sequence[object] | None = None,
    size: int | NDArray[np.integer] | None = None,
    strict_size: bool = False,
) -> float:
    """Return the mean over rows of the weighted harmonic mean of precision and recall of run-length masks.

    F = (1 + beta^2) |A and B| / (beta^2 |A| + |B|) for the true mask A and the predicted B, and 0 where both are empty
    Names, size and strict_size are those of `podium.metrics.run_length.parse_runs`.

    >>> from podium.metrics import rle_f_beta
    >>> round(rle_f_beta.using(beta=0.5)(["1 4"], ["1 2"]), 4)
    0.8333
    """
    actual, predicted = parse_both(truth, prediction, names=names, size=size, strict_size=strict_size)
    weighted = beta**2 * area(actual) + area(predicted)
    return float(np.mean(ratio((1 + beta**2) * overlap(actual, predicted), weighted, empty=0.0)))


@metric("Mean precision over IoU thresholds", higher_is_better=True)
def rle_iou_precision(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    size: int,
    blank_is_all: bool = False,
    names: Sequence[object] | None = None,
) -> float:
    """Return the mean share of the thresholds 0.5, 0.55, … 0.95 that the IoU of a row's run-length masks exceeds.

    IoU = |A and B| / |A or B|, and 1 where both are empty
    With `blank_is_all`, an empty prediction is one that covers everything, unless the true mask is empty as well.

    >>> from podium.metrics import rle_iou_precision
    >>> rle_iou_precision.using(size=9)(["1 4"], ["1 3"])
    0.5
    """
    actual, predicted = parse_both(truth, prediction, names=names, size=size)
    common, true_area, found_area = overlap(actual, predicted), area(actual), area(predicted)
    if blank_is_all:
        blank = (found_area == 0) & (true_area > 0)
        common, found_area = np.where(blank, true_area, common), np.where(blank, size, found_area)
    iou = ratio(common, true_area + found_area - common, empty=1.0)
    return float(np.mean(iou[:, None] > np.arange(0.5, 1.0, 0.05)))


@dataclass(frozen=True)
class _Sizes:
    """Pixels of each sample: in both masks, and in the two masks added up."""

    common: IntArray
    total: IntArray


def _dense_sizes(truth: ArrayLike, prediction: ArrayLike) -> _Sizes:
    left, right = paired(truth, prediction)
    actual, predicted = flags(left).reshape(len(left), -1), flags(right).reshape(len(left), -1)
    total = np.count_nonzero(actual, axis=1) + np.count_nonzero(predicted, axis=1)
    return _Sizes(np.count_nonzero(actual & predicted, axis=1), total)


def _run_sizes(
    truth: ArrayLike,
    prediction: ArrayLike,
    names: Sequence[object] | None,
    size: int | NDArray[np.integer] | None,
    *,
    strict: bool,
) -> _Sizes:
    actual, predicted = parse_both(truth, prediction, names=names, size=size, strict_size=strict)
    return _Sizes(overlap(actual, predicted), area(actual) + area(predicted))


def _dice(sizes: _Sizes, *, pooled: bool) -> float:
    common, total = (sizes.common.sum(), sizes.total.sum()) if pooled else (sizes.common, sizes.total)
    return float(np.mean(ratio(2 * common, total, empty=1.0)))


def _mean_iou(sizes: _Sizes) -> float:
    return float(np.mean(ratio(sizes.common, sizes.total - sizes.common, empty=1.0)))
