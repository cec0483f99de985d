from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics import roc_auc
from podium.metrics.partial_auc import weighted_auc

examples = settings(max_examples=50)

scores = st.sampled_from([-2.0, 0.0, 0.25, 0.5, 1.0, 1e308, -1e308])
rows = st.lists(st.tuples(st.integers(0, 1), scores), min_size=2, max_size=12).filter(
    lambda found: {label for label, _ in found} == {0, 1}
)
Rows = list[tuple[int, float]]


def slow_curve(found: Rows) -> list[tuple[Fraction, Fraction]]:
    """Points (false positive rate, true positive rate), from the highest threshold to the lowest."""
    positives = sum(label for label, _ in found)
    points = [(Fraction(0), Fraction(0))]
    for threshold in sorted({score for _, score in found}, reverse=True):
        taken = [label for label, score in found if score >= threshold]
        points.append((Fraction(len(taken) - sum(taken), len(found) - positives), Fraction(sum(taken), positives)))
    return points


def slow_weighted_auc(found: Rows, cuts: list[Fraction], weights: list[int]) -> float:
    """Walks along the curve and cuts each step where it crosses the border of a slice."""
    total = Fraction(0)
    curve = slow_curve(found)
    for (low, high), weight in zip(pairwise(cuts), weights, strict=True):
        for (x0, y0), (x1, y1) in pairwise(curve):
            inner = [y0, *(cut for cut in (low, high) if y0 < cut < y1), y1]
            for below, above in pairwise(inner):
                width = (x1 - x0) * (above - below) / (y1 - y0) if y1 > y0 else x1 - x0
                heights = [min(max(y, low), high) - low for y in (below, above)]
                total += weight * width * sum(heights) / 2
    whole = sum(weight * (high - low) for (low, high), weight in zip(pairwise(cuts), weights, strict=True))
    return float(total / whole)


@examples
@given(rows)
def test_slices_have_the_given_weights(found: Rows) -> None:
    truth, prediction = zip(*found, strict=True)
    expected = slow_weighted_auc(found, [Fraction(0), Fraction(2, 5), Fraction(1)], [2, 1])
    assert weighted_auc(truth, prediction) == pytest.approx(expected)


@examples
@given(rows)
def test_equal_weights_give_the_plain_area(found: Rows) -> None:
    truth, prediction = (np.array(side) for side in zip(*found, strict=True))
    three = weighted_auc.using(cuts=(0, 0.25, 0.7, 1), weights=(3, 3, 3))
    assert three(truth, prediction) == pytest.approx(roc_auc(truth, prediction))


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [([0.1, 0.2, 0.8, 0.9], 1.0), ([0.9, 0.8, 0.2, 0.1], 0.0), ([5, 5, 5, 5], 0.82 / 1.4)],
)
def test_perfect_inverted_and_constant(prediction: list[float], expected: float) -> None:
    assert weighted_auc([0, 0, 1, 1], prediction) == pytest.approx(expected)


def test_one_class_has_no_curve() -> None:
    assert math.isnan(weighted_auc([1, 1], [0.1, 0.2]))
    assert math.isnan(weighted_auc([0, 0], [0.1, 0.2]))


def test_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="one score per row"):
        weighted_auc([[0, 1]], [[0.1, 0.2]])
