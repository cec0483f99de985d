from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics.distributions import kl_divergence

examples = settings(max_examples=50)

weights = st.lists(st.sampled_from([0.0, 0.1, 0.5, 3.0]), min_size=3, max_size=3).filter(any)
distributions = weights.map(lambda row: [weight / sum(row) for weight in row])
Rows = list[tuple[list[float], list[float]]]
rows = st.lists(st.tuples(distributions, distributions), min_size=1, max_size=6)


def slow_divergence(rows: Rows) -> float:
    total = 0.0
    for truth, prediction in rows:
        for true, predicted in zip(truth, prediction, strict=True):
            if true > 0:
                total += true * math.log(true / min(max(predicted, 1e-15), 1 - 1e-15))
    return total / len(rows)


@examples
@given(rows)
def test_divergence_is_the_mean_of_its_rows(rows: Rows) -> None:
    truth, prediction = map(np.array, zip(*rows, strict=True))
    assert kl_divergence(truth, prediction) == pytest.approx(slow_divergence(rows), abs=1e-12)


@examples
@given(rows)
def test_only_the_truth_itself_diverges_by_nothing(rows: Rows) -> None:
    truth, prediction = map(np.array, zip(*rows, strict=True))
    assert kl_divergence(truth, truth) == pytest.approx(0, abs=1e-12)
    assert kl_divergence(truth, prediction) >= -1e-12


def test_what_was_ruled_out_costs_as_much_as_the_clip_allows() -> None:
    assert kl_divergence([[1.0, 0.0]], [[0.0, 1.0]]) == pytest.approx(15 * math.log(10))
    assert kl_divergence.using(eps=1e-3)([[1.0, 0.0]], [[0.0, 1.0]]) == pytest.approx(3 * math.log(10))


def test_rows_must_correspond() -> None:
    with pytest.raises(ValueError, match="expected"):
        kl_divergence([[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match="at least one row"):
        kl_divergence([], [])
