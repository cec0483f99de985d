from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from podium.metrics import laplace_log_likelihood, mae, pearson, pinball, rmse, rmsle, smape, spearman
from podium.metrics.regression import group_log_mae
from podium.task import Metric

examples = settings(max_examples=50)

tied = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])
shapes = st.tuples(st.integers(1, 8)) | st.tuples(st.integers(1, 8), st.integers(1, 3))


def both_sides(values: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    def of_shape(shape: tuple[int, ...]) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
        side = arrays.arrays(np.float64, shape, elements=values)
        return st.tuples(side, side)

    return shapes.flatmap(of_shape)


def columns(array: np.ndarray) -> list[list[float]]:
    return array.reshape(len(array), -1).T.tolist()


def slow_rmse(truth: np.ndarray, prediction: np.ndarray) -> float:
    errors = [
        math.sqrt(sum((t - p) ** 2 for t, p in zip(left, right, strict=True)) / len(left))
        for left, right in zip(columns(truth), columns(prediction), strict=True)
    ]
    return sum(errors) / len(errors)


def slow_pearson(left: list[float], right: list[float]) -> float:
    if len(set(left)) == 1 or len(set(right)) == 1:
        return math.nan
    mean_left, mean_right = math.fsum(left) / len(left), math.fsum(right) / len(right)
    top = math.fsum((a - mean_left) * (b - mean_right) for a, b in zip(left, right, strict=True))
    size_left = math.sqrt(math.fsum((a - mean_left) ** 2 for a in left))
    size_right = math.sqrt(math.fsum((b - mean_right) ** 2 for b in right))
    return top / size_left / size_right


def slow_ranks(values: list[float]) -> list[float]:
    return [sum(b < a for b in values) + (sum(b == a for b in values) + 1) / 2 for a in values]


@examples
@given(both_sides(tied | st.floats(-1e6, 1e6)))
def test_rmse_is_the_mean_over_columns(pair: tuple[np.ndarray, np.ndarray]) -> None:
    assert rmse(*pair) == pytest.approx(slow_rmse(*pair))
    assert rmse(*pair) == pytest.approx(sklearn.metrics.root_mean_squared_error(*pair))


@examples
@given(both_sides(st.sampled_from([0.0, 1.0, -0.5]) | st.floats(-0.999, 1e6)))
def test_rmsle_is_the_rmse_of_logarithms(pair: tuple[np.ndarray, np.ndarray]) -> None:
    logarithms = [np.vectorize(math.log1p)(side) for side in pair]
    assert rmsle(*pair) == pytest.approx(slow_rmse(*logarithms))


@pytest.mark.parametrize("value", [-1.0, -3.0, math.nan])
def test_rmsle_has_no_logarithm_to_take(value: float) -> None:
    assert math.isnan(rmsle([1.0, 2.0], [1.0, value]))
    assert math.isnan(rmsle([value, 2.0], [1.0, 2.0]))


@examples
@given(both_sides(tied | st.floats(-1e6, 1e6)))
def test_mae_and_smape_average_all_values(pair: tuple[np.ndarray, np.ndarray]) -> None:
    cells = list(zip(pair[0].ravel().tolist(), pair[1].ravel().tolist(), strict=True))
    absolute = sum(abs(t - p) for t, p in cells) / len(cells)
    relative = [2 * abs(t - p) / (abs(t) + abs(p)) if t or p else 0.0 for t, p in cells]
    assert mae(*pair) == pytest.approx(absolute)
    assert smape(*pair) == pytest.approx(100 * sum(relative) / len(cells))


def test_smape_runs_from_0_to_200() -> None:
    assert smape([0, 1], [0, 1]) == 0
    assert smape([0, 1], [5, -1]) == 200


@examples
@given(st.lists(st.tuples(tied, tied), min_size=1), st.sampled_from([0.1, 0.5, 0.9]))
def test_pinball_weighs_both_directions(pairs: list[tuple[float, float]], quantile: float) -> None:
    slow = [quantile * (t - p) if t >= p else (1 - quantile) * (p - t) for t, p in pairs]
    truth, prediction = [t for t, _ in pairs], [p for _, p in pairs]
    score = pinball.using(quantile=quantile)(truth, prediction)
    assert score == pytest.approx(sum(slow) / len(slow))
    assert score == pytest.approx(sklearn.metrics.mean_pinball_loss(truth, prediction, alpha=quantile))


@examples
@given(st.lists(st.tuples(tied, tied, tied), min_size=1))
def test_pinball_of_several_quantiles_is_their_mean(rows: list[tuple[float, float, float]]) -> None:
    table = np.array(rows)
    apart = [pinball.using(quantile=q)(table[:, 0], table[:, i]) for i, q in ((1, 0.2), (2, 0.8))]
    together = pinball.using(quantiles=(0.2, 0.8))(table[:, 0], table[:, 1:])
    assert together == pytest.approx(sum(apart) / 2)


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.1, math.nan])
def test_pinball_refuses_quantiles_outside_their_range(quantile: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        pinball.using(quantile=quantile)([1.0], [1.0])


@examples
@given(
    st.lists(
        st.tuples(st.floats(0, 6000), st.floats(-1e4, 1e4), st.floats(-10, 5000) | st.just(70.0)),
        min_size=1,
    )
)
def test_laplace_likelihood(rows: list[tuple[float, float, float]]) -> None:
    slow = [
        -math.sqrt(2) * min(abs(t - value), 1000) / max(sigma, 70) - math.log(math.sqrt(2) * max(sigma, 70))
        for t, value, sigma in rows
    ]
    table = np.array(rows)
    assert laplace_log_likelihood(table[:, 0], table[:, 1:]) == pytest.approx(sum(slow) / len(slow))


def test_laplace_bounds_are_options() -> None:
    score = laplace_log_likelihood.using(floor=1.0, cap=2.0)([0.0], [[9.0, 0.5]])
    assert score == pytest.approx(-2 * math.sqrt(2) - math.log(math.sqrt(2)))


@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 3), (2, 2)])
def test_laplace_needs_two_columns(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"expected \(rows,\) and \(rows, 2\)"):
        laplace_log_likelihood(np.zeros(3), np.zeros(shape))


@examples
@given(both_sides(tied | st.integers(-1000, 1000).map(float)))
def test_correlations_are_means_over_columns(pair: tuple[np.ndarray, np.ndarray]) -> None:
    sides = list(zip(columns(pair[0]), columns(pair[1]), strict=True))
    linear = [slow_pearson(left, right) for left, right in sides]
    ranked = [slow_pearson(slow_ranks(left), slow_ranks(right)) for left, right in sides]
    assert pearson(*pair) == pytest.approx(sum(linear) / len(linear), nan_ok=True, abs=1e-9)
    assert spearman(*pair) == pytest.approx(sum(ranked) / len(ranked), nan_ok=True, abs=1e-9)


@examples
@given(st.lists(st.tuples(tied, tied), min_size=2))
def test_correlations_are_those_of_scipy(pairs: list[tuple[float, float]]) -> None:
    truth, prediction = np.array(pairs).T
    assume(len(set(truth)) > 1 and len(set(prediction)) > 1)
    assert pearson(truth, prediction) == pytest.approx(scipy.stats.pearsonr(truth, prediction)[0], abs=1e-9)
    assert spearman(truth, prediction) == pytest.approx(scipy.stats.spearmanr(truth, prediction)[0], abs=1e-9)


def test_log_errors_are_averaged_over_groups() -> None:
    metric = group_log_mae.using(groups=["x", "y", "x"])
    assert metric([1.0, 2.0, 3.0], [2.0, 5.0, 6.0]) == pytest.approx((math.log(2) + math.log(3)) / 2)
    assert metric([1.0, 2.0, 3.0], [1.0, 5.0, 3.0]) == -math.inf
    assert metric.using(floor=1e-9)([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]) == pytest.approx(math.log(1e-9))


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_a_constant_has_no_correlation(correlation: Metric) -> None:
    assert math.isnan(correlation([1.0, 2.0, 3.0], [0.1, 0.1, 0.1]))
    assert math.isnan(correlation([[1.0, 0.1], [2.0, 0.1]], [[1.0, 1.0], [2.0, 2.0]]))
    assert math.isnan(correlation([1.0], [1.0]))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_pearson_survives_extreme_scales(scale: float) -> None:
    values = np.array([1.0, 2.0, 4.0])
    assert pearson(values, values * scale) == pytest.approx(1)


def test_mae_may_be_rounded_halves_to_the_even_number() -> None:
    assert [mae.using(decimals=0)([0.0], [error]) for error in (0.5, 1.5, 1.7)] == [0, 2, 2]


@pytest.mark.parametrize("metric", [rmse, rmsle, mae, smape, pinball, pearson])
@pytest.mark.parametrize("value", [1e308, -1e308, math.inf, math.nan])
def test_absurd_numbers_neither_warn_nor_win(metric: Metric, value: float) -> None:
    truth = [1.0, 2.0, 4.0]
    score, perfect = metric(truth, [value, 2.0, 4.0]), metric(truth, truth)
    assert not metric.is_better(score, perfect)
    assert score != perfect
