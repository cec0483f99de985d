from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics.medical import probabilistic_f1, weighted_log_loss

examples = settings(max_examples=100)

WEIGHTS, POSITIVE, EPS = (7.0, 1.0, 1.0), 2.0, 1e-15
bit = st.integers(0, 1)
probability = st.sampled_from([0.0, 0.01, 0.3, 0.5, 1.0])
Studies = list[tuple[tuple[int, ...], tuple[float, ...]]]
studies = st.lists(st.tuples(st.tuples(bit, bit, bit), st.tuples(*[probability] * 3)), min_size=1, max_size=6)
Cells = list[tuple[int, float]]
cells = st.lists(st.tuples(bit, st.sampled_from([-1.0, 0.0, 0.2, 0.9, 1.0, 3.0])), min_size=1, max_size=8)


def slow_loss(studies: Studies) -> float:
    total = 0.0
    for truth, prediction in studies:
        loss = weight = 0.0
        for true, predicted, basic in zip(truth, prediction, WEIGHTS, strict=True):
            kept = min(max(predicted, EPS), 1 - EPS)
            this = basic * (POSITIVE if true else 1)
            loss -= this * math.log(kept if true else 1 - kept)
            weight += this
        total += loss / weight
    return total / len(studies)


@examples
@given(studies)
def test_each_row_is_weighted_by_itself(studies: Studies) -> None:
    truth, prediction = map(np.array, zip(*studies, strict=True))
    metric = weighted_log_loss.using(weights=WEIGHTS, positive=POSITIVE)
    assert metric(truth, prediction) == pytest.approx(slow_loss(studies))
    assert metric(truth, truth) == pytest.approx(0, abs=1e-12)


@examples
@given(cells)
def test_parts_of_hits_add_up_to_precision_and_recall(cells: Cells) -> None:
    clipped = [(true, min(max(predicted, 0), 1)) for true, predicted in cells]
    hits = sum(predicted for true, predicted in clipped if true)
    positives, predicted = sum(true for true, _ in cells), sum(predicted for _, predicted in clipped)
    expected = 0.0
    if hits > 0:
        precision, recall = hits / predicted, hits / positives
        expected = 2 * precision * recall / (precision + recall)
    truth, prediction = zip(*cells, strict=True)
    assert probabilistic_f1(truth, prediction) == pytest.approx(expected)


def test_whole_predictions_give_the_plain_f1() -> None:
    assert probabilistic_f1([1, 1, 0, 0], [1, 0, 1, 0]) == 0.5
    assert probabilistic_f1([0, 0], [0, 0]) == 0
    assert probabilistic_f1([1, 0], [-1, -1]) == 0


def test_rows_must_correspond() -> None:
    for metric in (weighted_log_loss, probabilistic_f1):
        with pytest.raises(ValueError, match="expected the same"):
            metric([[1, 0]], [[0.5]])
    with pytest.raises(ValueError, match="a column per label"):
        weighted_log_loss([1, 0], [0.5, 0.5])
