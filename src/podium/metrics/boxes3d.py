"""Scores of boxes in space that stand upright and are turned about the vertical, written as prediction strings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from podium.errors import InvalidSubmission
from podium.metrics.input_checks import BoolArray, FloatArray, IntArray, ratio
from podium.metrics.prediction_strings import (
    ObjectPairs,
    Objects,
    group_keys,
    matching_pairs,
    parse_both,
    place_in_group,
)
from podium.task import metric

BOXES_3D = "confidence x y z width length height yaw label"
_SHAPE = ("x", "y", "z", "width", "length", "height", "yaw")
_THRESHOLDS = np.arange(50, 100, 5) / 100


@metric("mAP over 3D IoU", higher_is_better=True)
def box3d_map(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    thresholds: ArrayLike = _THRESHOLDS,
    names: Sequence[object] | None = None,
) -> float:
    """Return the mean over rows, IoU thresholds and classes of the row's truth of the average precision of a class.

    AP = sum over hits of (highest precision from there on) / (number of true boxes), by falling confidence
    A box hits the true box it overlaps best if their IoU is above the threshold and no box before has hit that one.

    >>> from podium.metrics import box3d_map
    >>> box3d_map(["1 0 0 0 2 4 2 0 car"], ["0.9 0 0 0.2 2 4 2 0 car"])
    0.7
    """
    actual, predicted = parse_both(truth, prediction, BOXES_3D, names=names)
    _check_sizes(predicted, names)
    predicted = predicted.by("confidence")
    guess_key, true_key = group_keys(predicted, actual)
    levels = np.asarray(thresholds, dtype=np.float64)
    best = _best_overlaps(predicted, actual, guess_key, true_key, above=float(levels.min()))
    groups, first, sizes = np.unique(true_key, return_index=True, return_counts=True)
    rank = 1 + place_in_group(guess_key)
    totals = np.zeros(len(groups))
    for level in levels:
        close = np.flatnonzero(best.value > level)
        hit = close[np.sort(np.unique(best.right[close], return_index=True)[1])]
        group = np.searchsorted(groups, guess_key[best.left[hit]])
        totals += np.bincount(group, weights=_envelope(group, rank[best.left[hit]]), minlength=len(groups))
    rows = actual.row[first]
    per_row = np.bincount(rows, weights=totals / sizes, minlength=actual.count)
    classes = np.bincount(rows, minlength=actual.count)
    return float(np.mean(ratio(per_row, classes * len(levels), empty=0.0)))


def _check_sizes(boxes: Objects, names: Sequence[object] | None) -> None:
    for side in ("width", "length", "height"):
        wrong = boxes.values[side] <= 0
        if wrong.any():
            first = int(np.argmax(wrong))
            row = int(boxes.row[first])
            name = f"row {row + 1}" if names is None else names[row]
            raise InvalidSubmission(f"{name}: {side} is {boxes.values[side][first]:g}; it must be greater than 0.")


def _best_overlaps(
    predicted: Objects, actual: Objects, guess_key: IntArray, true_key: IntArray, *, above: float
) -> ObjectPairs:
    """For each predicted box that has one, the true box of its row and class with the highest IoU above a bound."""
    guesses, boxes = predicted.columns(*_SHAPE), actual.columns(*_SHAPE)

    def overlap(left: IntArray, right: IntArray) -> FloatArray:
        out = np.zeros(len(left))
        near = np.flatnonzero(_may_touch(guesses[left], boxes[right]))
        out[near] = box3d_iou(guesses[left[near]], boxes[right[near]])
        return out

    pairs = matching_pairs(guess_key, true_key, overlap, above=above).best_first()
    return pairs.take(np.diff(pairs.left, prepend=-1) != 0)


def _may_touch(left: FloatArray, right: FloatArray) -> BoolArray:
    """Return whether the bounding circles of two boxes intersect, seen from above."""
    reach = (np.hypot(left[:, 3], left[:, 4]) + np.hypot(right[:, 3], right[:, 4])) / 2
    near: BoolArray = np.hypot(left[:, 0] - right[:, 0], left[:, 1] - right[:, 1]) < reach
    return near


def box3d_iou(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the intersection over union of the boxes (x, y, z, width, length, height, yaw) in each row.

    The length lies along the yaw, the width across; x, y and z are the centre.
    """
    top = np.minimum(left[:, 2] + left[:, 5] / 2, right[:, 2] + right[:, 5] / 2)
    bottom = np.maximum(left[:, 2] - left[:, 5] / 2, right[:, 2] - right[:, 5] / 2)
    common = _ground_overlap(left, right) * np.maximum(top - bottom, 0)
    union = np.prod(left[:, 3:6], axis=1) + np.prod(right[:, 3:6], axis=1) - common
    iou: FloatArray = common / union
    return iou


def _ground_overlap(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the area two boxes share, seen from above."""
    half = right[:, [4, 3]] / 2
    polygon = _corners(left, right)
    for axis in (0, 1):
        for side in (1.0, -1.0):
            polygon = _clip(polygon, half[:, None, axis] - side * polygon[:, :, axis])
    following = np.roll(polygon, -1, axis=1)
    cross = polygon[:, :, 0] * following[:, :, 1] - polygon[:, :, 1] * following[:, :, 0]
    area: FloatArray = np.abs(cross.sum(axis=1)) / 2
    return area


def _corners(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the corners of the left box in the frame of the right one, where that box lies along the axes around 0."""
    local = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * left[:, None, [4, 3]] / 2
    centre = _turned((left[:, :2] - right[:, :2])[:, None], -right[:, 6])
    return centre + _turned(local, left[:, 6] - right[:, 6])


def _turned(points: FloatArray, angle: FloatArray) -> FloatArray:
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    x, y = points[..., 0], points[..., 1]
    return np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)


def _clip(polygon: FloatArray, depth: FloatArray) -> FloatArray:
    """Return the parts of convex polygons where the depth, which is linear and given at their corners, is not negative.

    All results have the same number of corners: those with fewer repeat one, those with none lie in one point.
    """
    after, depth_after = np.roll(polygon, -1, axis=1), np.roll(depth, -1, axis=1)
    crossing = (depth < 0) != (depth_after < 0)
    share = ratio(depth, depth - depth_after, empty=0.0)[:, :, None]
    crossings = polygon + share * (after - polygon)
    count, corners = depth.shape
    points = np.stack([polygon, crossings], axis=2).reshape(count, 2 * corners, 2)
    kept = np.stack([depth >= 0, crossing], axis=2).reshape(count, 2 * corners)
    order = np.argsort(~kept, axis=1, kind="stable")
    counts = np.count_nonzero(kept, axis=1)[:, None]
    corner = np.arange(int(counts.max(initial=1)))
    corner = np.where(corner < counts, corner, 0)
    chosen = np.take_along_axis(order, corner, axis=1)
    return np.take_along_axis(points, chosen[:, :, None], axis=1)


def _envelope(group: IntArray, rank: IntArray) -> FloatArray:
    """Return the highest precision of a group at each of its hits or later; `rank` counts its boxes up to the hit."""
    order = np.lexsort((rank, group))
    precision = (1 + place_in_group(group[order])) / rank[order]
    # Groups are lifted above each other, so that one running maximum serves all of them.
    lift = np.cumsum(np.diff(group[order][::-1], prepend=-1) != 0)
    highest = np.empty(len(group))
    highest[order] = (np.maximum.accumulate(precision[::-1] + lift) - lift)[::-1]
    return highest
