from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics import accuracy, f1, f_beta, log_loss, matthews, quadratic_kappa, roc_auc

examples = settings(max_examples=50)

Pairs = list[tuple[Any, Any]]
label_kinds = st.sampled_from(
    [
        st.integers(-2, 2),
        st.booleans(),
        st.sampled_from([0.5, 1.0, -0.0, 0.0]),
        st.sampled_from(["", "a", "b", "é", "日本", "a b", "a\0", "10", "9"]),
    ]
)
label_pairs = label_kinds.flatmap(lambda kind: st.lists(st.tuples(kind, kind), min_size=1, max_size=12))
bits = st.integers(0, 1)
coarse = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])
probabilities = coarse | st.floats(0, 1)


def column(values: Sequence[Any]) -> np.ndarray:
    """Text as pandas hands it over, which keeps trailing zero bytes; the rest as numpy sees it."""
    return np.array(values, dtype=object) if isinstance(values[0], str) else np.array(values)


def sides(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    return column([pair[0] for pair in pairs]), column([pair[1] for pair in pairs])


def quietly(function: Callable[..., Any], *arguments: Any, **options: Any) -> float:
    """What scikit-learn gives, without its warnings on undefined values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*arguments, **options))


def slow_auc(truth: Sequence[int], score: Sequence[float]) -> float:
    above = [s for t, s in zip(truth, score, strict=True) if t == 1]
    below = [s for t, s in zip(truth, score, strict=True) if t == 0]
    if not above or not below:
        return math.nan
    return sum(1 if a > b else 0.5 if a == b else 0 for a in above for b in below) / len(above) / len(below)


def slow_f1(pairs: Pairs, label: Any) -> float:
    hits = sum(t == label and p == label for t, p in pairs)
    misses = sum((t == label) != (p == label) for t, p in pairs)
    return 2 * hits / (2 * hits + misses) if hits + misses else 0.0


def slow_kappa(pairs: Pairs) -> float:
    order = sorted({label for pair in pairs for label in pair})
    observed = sum((order.index(t) - order.index(p)) ** 2 for t, p in pairs)
    expected = sum((order.index(t) - order.index(p)) ** 2 for t, _ in pairs for _, p in pairs) / len(pairs)
    return 1 - observed / expected if expected else math.nan


def slow_matthews(pairs: Pairs) -> float:
    """The correlation of the two one-hot tables."""
    labels = sorted({label for pair in pairs for label in pair})

    def covariance(left: int, right: int) -> float:
        total = 0.0
        for label in labels:
            mean_left = sum(pair[left] == label for pair in pairs) / len(pairs)
            mean_right = sum(pair[right] == label for pair in pairs) / len(pairs)
            total += sum(((pair[left] == label) - mean_left) * ((pair[right] == label) - mean_right) for pair in pairs)
        return total

    if len({t for t, _ in pairs}) == 1 or len({p for _, p in pairs}) == 1:
        return 0.0
    return covariance(0, 1) / math.sqrt(covariance(0, 0) * covariance(1, 1))


@examples
@given(label_pairs)
def test_accuracy_counts_equal_values(pairs: Pairs) -> None:
    expected = sum(t == p for t, p in pairs) / len(pairs)
    assert accuracy(*sides(pairs)) == pytest.approx(expected)


def test_text_never_equals_a_number() -> None:
    assert accuracy(np.array(["1", "2"]), np.array([1, 2])) == 0
    assert f1.using(average="macro")(np.array(["1", "2"]), np.array([1, 2])) == 0


@examples
@given(st.lists(st.tuples(bits, coarse | st.floats(-1e300, 1e300)), min_size=1, max_size=14))
def test_roc_auc_counts_pairs_and_halves_ties(pairs: list[tuple[int, float]]) -> None:
    truth, score = sides(pairs)
    expected = slow_auc(truth.tolist(), score.tolist())
    assert roc_auc(truth, score) == pytest.approx(expected, nan_ok=True)
    if not math.isnan(expected):
        assert roc_auc(truth, score) == pytest.approx(sklearn.metrics.roc_auc_score(truth, score))


@examples
@given(st.lists(st.tuples(bits, bits, coarse, coarse), min_size=1, max_size=12))
def test_roc_auc_of_columns_is_their_mean(rows: list[tuple[int, int, float, float]]) -> None:
    table = np.array(rows)
    expected = sum(slow_auc(table[:, i].tolist(), table[:, i + 2].tolist()) for i in (0, 1)) / 2
    assert roc_auc(table[:, :2], table[:, 2:]) == pytest.approx(expected, nan_ok=True)


def test_roc_auc_of_nan_is_nan() -> None:
    assert math.isnan(roc_auc([0, 1, 1], [0.2, math.nan, 0.3]))
    assert math.isnan(roc_auc([0, 1, 0], [math.nan, 0.2, 0.3]))


@examples
@given(st.lists(st.tuples(bits, probabilities), min_size=1, max_size=12))
def test_log_loss_of_one_probability(pairs: list[tuple[int, float]]) -> None:
    truth, probability = sides(pairs)
    eps = 2.220446049250313e-16
    kept = [min(max(p if t else 1 - p, eps), 1 - eps) for t, p in pairs]
    assert log_loss(truth, probability) == pytest.approx(-sum(map(math.log, kept)) / len(kept))
    assert log_loss(truth, probability) == pytest.approx(
        sklearn.metrics.log_loss(truth, probability.astype(float), labels=[0, 1])
    )


@examples
@given(st.lists(st.tuples(st.integers(0, 2), st.tuples(coarse, coarse, coarse)), min_size=1, max_size=10))
def test_log_loss_of_classes(rows: list[tuple[int, tuple[float, float, float]]]) -> None:
    truth = np.eye(3)[[label for label, _ in rows]]
    weights = np.array([row for _, row in rows]) + 1e-17
    table = weights / weights.sum(axis=1, keepdims=True)
    expected = sklearn.metrics.log_loss([label for label, _ in rows], table, labels=[0, 1, 2])
    assert log_loss(truth, table) == pytest.approx(expected)


def test_log_loss_leaves_rows_as_they_are() -> None:
    assert log_loss([[1, 0]], [[0.25, 0.25]]) == pytest.approx(-math.log(0.25))


def test_log_loss_keeps_probabilities_off_the_ends() -> None:
    assert log_loss.using(eps=0.01)([1, 0], [0.0, 1.0]) == pytest.approx(-math.log(0.01))


@pytest.mark.parametrize("truth", [[[1, 1]], [[0, 0]], [[0.5, 0.5]]])
def test_log_loss_refuses_a_truth_that_is_not_one_hot(truth: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"one-hot|0 and 1"):
        log_loss(truth, [[0.5, 0.5]])


@examples
@given(label_pairs)
def test_f1_over_all_labels(pairs: Pairs) -> None:
    labels = {label for pair in pairs for label in pair}
    macro = sum(slow_f1(pairs, label) for label in labels) / len(labels)
    assert f1.using(average="macro")(*sides(pairs)) == pytest.approx(macro)
    assert f1.using(average="micro")(*sides(pairs)) == pytest.approx(accuracy(*sides(pairs)))


@examples
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_f1_is_that_of_scikit_learn(pairs: Pairs) -> None:
    truth, prediction = sides(pairs)
    for average in ("macro", "micro"):
        expected = quietly(sklearn.metrics.f1_score, truth, prediction, average=average, zero_division=0)
        assert f1.using(average=average)(truth, prediction) == pytest.approx(expected)
    binary = quietly(sklearn.metrics.f1_score, truth == 1, prediction == 1, zero_division=0)
    assert f1(truth, prediction) == pytest.approx(binary)


@examples
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("abc")), min_size=1, max_size=8))
def test_f1_of_one_label(pairs: Pairs) -> None:
    assert f1.using(positive="a")(*sides(pairs)) == pytest.approx(slow_f1(pairs, "a"))


def test_f1_refuses_an_unknown_average() -> None:
    with pytest.raises(ValueError, match="'weighted'"):
        f1.using(average="weighted")([1], [1])


@examples
@given(
    st.lists(st.tuples(bits, bits), min_size=1, max_size=12),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_f_beta_is_that_of_scikit_learn(pairs: Pairs, beta: float) -> None:
    truth, prediction = sides(pairs)
    hits = sum(t == p == 1 for t, p in pairs)
    precision = hits / max(sum(p for _, p in pairs), 1)
    recall = hits / max(sum(t for t, _ in pairs), 1)
    slow = (1 + beta**2) * precision * recall / (beta**2 * precision + recall) if hits else 0.0
    expected = quietly(sklearn.metrics.fbeta_score, truth, prediction, beta=beta, zero_division=0)
    assert f_beta.using(beta=beta)(truth, prediction) == pytest.approx(slow)
    assert f_beta.using(beta=beta)(truth.astype(bool), prediction) == pytest.approx(expected)


def test_f_beta_takes_pictures() -> None:
    assert f_beta(np.ones((2, 3, 4)), np.ones((2, 3, 4))) == 1


@examples
@given(label_pairs)
def test_kappa_weighs_positions(pairs: Pairs) -> None:
    truth, prediction = sides(pairs)
    assert quadratic_kappa(truth, prediction) == pytest.approx(slow_kappa(pairs), nan_ok=True)


@examples
@given(st.lists(st.tuples(st.sampled_from([0, 1, 5]), st.sampled_from([0, 1, 5])), min_size=1, max_size=12))
def test_kappa_is_that_of_scikit_learn(pairs: Pairs) -> None:
    truth, prediction = sides(pairs)
    expected = quietly(sklearn.metrics.cohen_kappa_score, truth, prediction, weights="quadratic")
    assert quadratic_kappa(truth, prediction) == pytest.approx(expected, nan_ok=True)


def test_kappa_of_constants() -> None:
    assert quadratic_kappa([1, 2, 3, 5], [2, 2, 2, 2]) == 0
    assert quadratic_kappa([1, 1], [2, 2]) == 0
    assert math.isnan(quadratic_kappa([7, 7], [7, 7]))


@examples
@given(label_pairs)
def test_matthews_correlates_one_hot_tables(pairs: Pairs) -> None:
    assert matthews(*sides(pairs)) == pytest.approx(slow_matthews(pairs))


@examples
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_matthews_is_that_of_scikit_learn(pairs: Pairs) -> None:
    truth, prediction = sides(pairs)
    expected = quietly(sklearn.metrics.matthews_corrcoef, truth, prediction)
    assert matthews(truth, prediction) == pytest.approx(expected)
