from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics.tagging import lwlrap

examples = settings(max_examples=100)

Row = tuple[list[int], list[float]]
Rows = list[Row]
tags = st.lists(st.integers(0, 1), min_size=4, max_size=4)
scores = st.lists(st.sampled_from([-2.0, -0.0, 0.0, 0.3, 1.0, 50.0]), min_size=4, max_size=4)
rows = st.lists(st.tuples(tags, scores), min_size=1, max_size=6)


def slow_lwlrap(rows: Rows) -> float:
    """Ties give a label the worst of their ranks."""
    precisions = []
    for tags, scores in rows:
        for label in np.flatnonzero(tags):
            above = [other for other in range(len(tags)) if scores[other] >= scores[label]]
            precisions.append(sum(tags[other] for other in above) / len(above))
    return sum(precisions) / len(precisions) if precisions else math.nan


@examples
@given(rows)
def test_it_is_the_mean_precision_at_the_rank_of_each_true_label(rows: Rows) -> None:
    truth, prediction = map(np.array, zip(*rows, strict=True))
    assert lwlrap(truth, prediction) == pytest.approx(slow_lwlrap(rows), nan_ok=True)


@examples
@given(rows)
def test_it_is_what_scikit_learn_gives_with_a_weight_per_label(rows: Rows) -> None:
    from sklearn.metrics import label_ranking_average_precision_score

    truth, prediction = map(np.array, zip(*rows, strict=True))
    tagged = truth.any(axis=1)
    if tagged.any():
        expected = label_ranking_average_precision_score(
            truth[tagged], prediction[tagged], sample_weight=truth[tagged].sum(axis=1)
        )
        assert lwlrap(truth, prediction) == pytest.approx(expected)


@examples
@given(rows)
def test_the_truth_itself_is_perfect(rows: Rows) -> None:
    truth = np.array([tags for tags, _ in rows])
    assert lwlrap(truth, truth) == 1 or not truth.any()


def test_equal_scores_give_the_share_of_true_labels() -> None:
    assert lwlrap([[1, 0, 0, 0]], [[0.5] * 4]) == 0.25


def test_labels_need_columns_of_their_own() -> None:
    with pytest.raises(ValueError, match="expected rows and a column per label"):
        lwlrap([1, 0], [0.5, 0.5])
    with pytest.raises(ValueError, match="at least one row"):
        lwlrap([], [])
