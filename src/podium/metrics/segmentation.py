"""Scores of masks, as boolean arrays or as run-length text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import InvalidSubmission
from podium.metrics._arrays import IntArray, flags, paired, paired_texts, ratio
from podium.metrics.runs import area, overlap, parse_runs
from podium.task import metric


@metric("Dice", higher_is_better=True)
def dice(truth: ArrayLike, prediction: ArrayLike, *, pooled: bool = False) -> float:
    """The Dice coefficient of 0/1 arrays, first axis = sample: mean over samples, or of all pixels at once.

    Dice = 2 |A and B| / (|A| + |B|), and 1 where both are empty
    """
    return _dice(_dense_sizes(truth, prediction), pooled=pooled)


@metric("Mean IoU", higher_is_better=True)
def mean_iou(truth: ArrayLike, prediction: ArrayLike) -> float:
    """The mean over samples of the intersection over union of 0/1 arrays, first axis = sample.

    IoU = |A and B| / |A or B|, and 1 where both are empty
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
    """The Dice coefficient of run-length masks: mean over rows, or of all pixels at once.

    Dice = 2 |A and B| / (|A| + |B|), and 1 where both are empty
    Names, size and strict_size are those of `podium.metrics.runs.parse_runs`.
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
    """The mean over rows of the intersection over union of run-length masks.

    IoU = |A and B| / |A or B|, and 1 where both are empty
    Names, size and strict_size are those of `podium.metrics.runs.parse_runs`.
    """
    return _mean_iou(_run_sizes(truth, prediction, names, size, strict=strict_size))


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
    left, right = paired_texts(truth, prediction)
    called = [f"row {number}" for number in range(1, len(left) + 1)] if names is None else names
    try:
        actual = parse_runs(left, names=called, size=size, strict_size=strict)
    except InvalidSubmission as fault:  # no submission is to blame for the answers
        raise ValueError(f"The truth is malformed. {fault}") from fault
    predicted = parse_runs(right, names=called, size=size, strict_size=strict)
    return _Sizes(overlap(actual, predicted), area(actual) + area(predicted))


def _dice(sizes: _Sizes, *, pooled: bool) -> float:
    common, total = (sizes.common.sum(), sizes.total.sum()) if pooled else (sizes.common, sizes.total)
    return float(np.mean(ratio(2 * common, total, empty=1.0)))


def _mean_iou(sizes: _Sizes) -> float:
    return float(np.mean(ratio(sizes.common, sizes.total - sizes.common, empty=1.0)))
