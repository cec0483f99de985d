"""Concordance: pairs are compared only if the earlier time is that of an event."""

from __future__ import annotations

import math

import numpy as np
import pytest

from podium.metrics import concordance


@pytest.mark.parametrize(
    ("truth", "risk", "expected"),
    [
        ([1, 2, 3], [3, 2, 1], 1.0),
        ([1, 2, 3], [1, 2, 3], 0.0),
        ([1, 2, 3], [5, 5, 5], 0.5),
        ([-1, 2, 3], [0, 2, 1], 1.0),
        ([1, -2, -3], [9, 1, 5], 1.0),
        ([2, 2], [1, 0], math.nan),
        ([-1, -2], [1, 0], math.nan),
    ],
)
def test_known_values(truth: list[float], risk: list[float], expected: float) -> None:
    assert concordance(truth, risk) == pytest.approx(expected, nan_ok=True)


def test_without_censoring_of_two_times_it_is_the_area_under_the_roc_curve() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    soon, risk = rng.integers(0, 2, 1500), rng.random(1500).round(2)
    assert concordance(np.where(soon, 1.0, -2.0), risk) == pytest.approx(roc_auc_score(soon, risk))
