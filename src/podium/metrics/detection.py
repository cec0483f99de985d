"""Scores of boxes and points found in pictures, written as prediction strings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from podium.errors import InvalidSubmission
from podium.metrics.input_checks import BoolArray, FloatArray, IntArray, ratio
from podium.metrics.prediction_strings import (
    ObjectPairs,
    Objects,
    encode_labels,
    group_keys,
    match_greedily,
    matching_pairs,
    parse_both,
    place_in_group,
)
from podium.task import metric

BOXES = "label confidence x_min y_min x_max y_max"
_CORNERS = ("x_min", "y_min", "x_max", "y_max")
_RECALL_LEVELS = np.linspace(0, 1, 101)
_MAX_AREA = 1e10
"""Largest area of unmatched boxes that COCO counts."""


@metric("mAP", higher_is_better=True)
def box_map(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    iou: float = 0.5,
    misses_found: bool = True,
    names: Sequence[object] | None = None,
) -> float:
    """Return the mean over classes of the truth of the average precision over all boxes of a class; NaN without any.

    AP = sum_n (R_n - R_(n-1)) P_n over the distinct confidences n, the highest first
    In each row the boxes of a class, by confidence, take the best free true box with an IoU above `iou`. An unmatched
    true box counts as found with confidence 0, a row without such boxes as a false alarm of confidence 0.

    Args:
        misses_found: True to count an unmatched true box as found, as in MLE-bench: boxes anywhere with confidences
            below 0 then score 1. If False, it counts as missed, and confidences must be greater than 0.

    >>> from podium.metrics import box_map
    >>> box_map(["cat 1 0 0 10 10"], ["cat 0.4 0 0 10 8 cat 0.9 20 20 30 30"])
    0.5
    """
    actual, predicted = parse_both(truth, prediction, BOXES, names=names, single_blanks=False)
    if not misses_found:
        _check_confidences(predicted, names)
    predicted = predicted.by("confidence")
    hit, found = _match(actual, predicted, iou)
    classes, guesses = encode_labels(actual, predicted)
    scores = []
    for label in np.unique(classes):
        mine, theirs = classes == label, guesses == label
        confidence = predicted.values["confidence"][theirs]
        if not misses_found:
            scores.append(_precision_of_hits(hit[theirs], confidence, int(np.count_nonzero(mine))))
            continue
        missed = int(np.count_nonzero(mine & ~found))
        silent = actual.count - len(np.union1d(actual.row[mine], predicted.row[theirs]))
        relevant = np.concatenate([hit[theirs], np.ones(missed, np.bool_), np.zeros(silent, np.bool_)])
        scores.append(average_precision(relevant, np.concatenate([confidence, np.zeros(missed + silent)])))
    return float(np.mean(scores)) if scores else math.nan


def _check_confidences(predicted: Objects, names: Sequence[object] | None) -> None:
    too_low = predicted.values["confidence"] <= 0
    if too_low.any():
        first = int(np.argmax(too_low))
        row = predicted.row[first]
        name = f"row {row + 1}" if names is None else names[row]
        confidence = predicted.values["confidence"][first]
        raise InvalidSubmission(f"{name}: confidence is {confidence:g}; it must be greater than 0.")


def _precision_of_hits(hit: BoolArray, confidence: FloatArray, positives: int) -> float:
    """Return the average precision where objects that are not hit are never found."""
    hits = int(np.count_nonzero(hit))
    return average_precision(hit, confidence) * hits / positives if hits else 0.0


def average_precision(relevant: BoolArray, score: FloatArray) -> float:
    """Return the precision at each distinct score, weighted by the recall gained there."""
    order = np.argsort(-score, kind="stable")
    last_of_equals = np.append(np.diff(score[order]) != 0, True)
    retrieved = np.flatnonzero(last_of_equals) + 1
    hits = np.cumsum(relevant[order])[last_of_equals]
    return float(np.sum(np.diff(hits, prepend=0) * hits / retrieved) / hits[-1])


def _match(actual: Objects, predicted: Objects, least: float) -> tuple[BoolArray, BoolArray]:
    """Which predicted boxes hit a true one, and which true ones are found."""
    guess_key, true_key = group_keys(predicted, actual)
    guesses, boxes = predicted.columns(*_CORNERS), actual.columns(*_CORNERS)
    pairs = matching_pairs(guess_key, true_key, lambda i, j: box_iou(guesses[i], boxes[j]), above=least).best_first()
    pairs = pairs.take(match_greedily(pairs.left, pairs.right))
    hit, found = np.zeros(len(predicted), dtype=np.bool_), np.zeros(len(actual), dtype=np.bool_)
    hit[pairs.left] = found[pairs.right] = True
    return hit, found


def box_iou(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the intersection over union of boxes (x_min, y_min, x_max, y_max) by row; 0 without a positive union."""
    sides = np.minimum(left[:, 2:], right[:, 2:]) - np.maximum(left[:, :2], right[:, :2])
    common = np.prod(np.maximum(sides, 0), axis=1)
    union = np.prod(left[:, 2:] - left[:, :2], axis=1) + np.prod(right[:, 2:] - right[:, :2], axis=1) - common
    return ratio(common, np.maximum(union, 0), empty=0.0)


@metric("COCO mAP", higher_is_better=True)
def coco_map(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    iou: float = 0.5,
    most: int = 100,
    corners: bool = True,
    id_zero: int | None = None,
    names: Sequence[object] | None = None,
) -> float:
    """Return the mean over classes of the truth of the precision interpolated at 101 levels of recall; NaN without any.

    AP = (1 / 101) sum over R = 0, 0.01, … 1 of the highest precision at a recall of R or more
    In each row the `most` boxes of a class with the highest confidence, by confidence, take the best free true box with
    an IoU of at least `iou`. Boxes that hit nothing and have a negative area are not counted. Classes are numbers
    without their decimals.

    Args:
        corners: True if boxes are given by their corners; if False, x_max and y_max are width and height.
        id_zero: Scores as COCO does if ids begin at 0, which it treats as "none": the first true box of all cannot be
            hit, and the first box of this row does not claim the true box it hits.

    >>> from podium.metrics import coco_map
    >>> coco_map(["3 1 0 0 10 10", "4 1 5 5 9 9"], ["3 0.9 0 0 10 8", "4 0.4 0 0 2 2"])
    0.5
    """
    actual, predicted = parse_both(truth, prediction, BOXES.replace("label", "class"), names=names)
    classes, guesses = _encode_classes(actual, predicted)
    order = np.argsort(-predicted.values["confidence"], kind="stable")
    labels = 1 + max(classes.max(initial=0), guesses.max(initial=0))
    order = order[place_in_group((predicted.row * labels + guesses)[order]) < most]
    zero = -1 if id_zero is None else int(np.searchsorted(predicted.row, id_zero))
    predicted, guesses = predicted.take(order), guesses[order]
    shapes, boxes = _boxes(predicted, corners=corners), _boxes(actual, corners=corners)
    pairs = matching_pairs(
        predicted.row * labels + guesses,
        actual.row * labels + classes,
        lambda i, j: box_iou(shapes[i], boxes[j]),
        above=np.nextafter(iou, 0),
    ).best_first(last_of_equals=True)
    hit = np.zeros(len(order), dtype=np.bool_)
    hit[_coco_hits(pairs) if id_zero is None else _coco_hits_with_id_zero(pairs, order, zero)] = True
    counted = hit | _has_area(predicted)
    scores = [
        _interpolated_precision(hit[(guesses == label) & counted], int(np.count_nonzero(classes == label)))
        for label in np.unique(classes)
    ]
    return float(np.mean(scores)) if scores else math.nan


def _encode_classes(actual: Objects, predicted: Objects) -> tuple[IntArray, IntArray]:
    whole = np.trunc(np.concatenate([actual.values["class"], predicted.values["class"]]))
    codes = np.unique(whole, return_inverse=True)[1]
    return codes[: len(actual)], codes[len(actual) :]


def _boxes(objects: Objects, *, corners: bool) -> FloatArray:
    boxes = objects.columns(*_CORNERS)
    if not corners:
        boxes[:, 2:] += boxes[:, :2]
    return boxes


def _has_area(boxes: Objects) -> BoolArray:
    corners = boxes.columns(*_CORNERS)
    area = np.prod(corners[:, 2:] - corners[:, :2], axis=1)
    in_range: BoolArray = (area >= 0) & (area <= _MAX_AREA)
    return in_range


def _coco_hits(pairs: ObjectPairs) -> IntArray:
    return pairs.left[match_greedily(pairs.left, pairs.right)]


def _coco_hits_with_id_zero(pairs: ObjectPairs, order: IntArray, zero: int) -> IntArray:
    turn = int(np.append(np.flatnonzero(order == zero), -1)[0])
    pairs = pairs.take(pairs.right != 0)
    others = pairs.take(pairs.left != turn)
    won = others.take(match_greedily(others.left, others.right))
    left_over = (pairs.left == turn) & ~np.isin(pairs.right, won.right[won.left < turn])
    return np.append(won.left, pairs.left[left_over])


def _interpolated_precision(hit: BoolArray, positives: int) -> float:
    """Return the mean over recall levels of the best precision there or beyond, for boxes by confidence."""
    hits = np.cumsum(hit)
    precision = hits / np.arange(1, len(hit) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    reached = np.searchsorted(hits / positives, _RECALL_LEVELS, side="left")
    return float(np.mean(np.append(envelope, 0.0)[reached]))


@metric("F1 of points in boxes", higher_is_better=True)
def point_f1(truth: ArrayLike, prediction: ArrayLike, *, names: Sequence[object] | None = None) -> float:
    """Return the F1 of all rows together of points that should lie inside boxes of their label; 0 without a hit.

    F1 = 2 TP / (boxes + points)
    In each row the boxes (label x y width height), in their order, take the first free point (label x y) of their label
    that lies strictly inside.

    >>> from podium.metrics import point_f1
    >>> point_f1(["A 0 0 10 10 B 20 0 10 10"], ["A 5 5 B 1 1"])
    0.5
    """
    boxes, points = parse_both(truth, prediction, "label x y", truth_fields="label x y width height", names=names)
    box_key, point_key = group_keys(boxes, points)
    low, place = boxes.columns("x", "y"), points.columns("x", "y")
    high = low + boxes.columns("width", "height")
    pairs = matching_pairs(
        box_key, point_key, lambda i, j: np.all((place[j] > low[i]) & (place[j] < high[i]), axis=1), above=0
    )
    hits = int(np.count_nonzero(match_greedily(pairs.left, pairs.right)))
    return 2 * hits / (len(boxes) + len(points)) if hits else 0.0
