"""What holds for every metric: stated once, run over all of them."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium import metrics
from podium.task import Metric

examples = settings(max_examples=50, deadline=None)

Side = np.ndarray
Cell = st.SearchStrategy[Any]


@dataclass(frozen=True)
class Case:
    """A metric with its options, and what its two sides hold in each row."""

    metric: Metric
    truth: Cell
    prediction: Cell
    perfect: Callable[[Side], Side] = np.copy
    """The prediction nothing can beat."""

    def sides(self, data: st.DataObject) -> tuple[Side, Side]:
        rows = data.draw(st.lists(st.tuples(self.truth, self.prediction), min_size=1, max_size=6))
        kind = object if isinstance(rows[0][0], str) else None
        return np.array([row[0] for row in rows], dtype=kind), np.array([row[1] for row in rows], dtype=kind)


def alike(metric: Metric, cell: Cell) -> Case:
    return Case(metric, cell, cell)


def pairs(cell: Cell) -> Cell:
    return st.tuples(cell, cell)


def masks(size: int) -> Cell:
    """Run-length texts of one to three runs or none, from cuts along the line."""
    cuts = st.lists(st.integers(1, size), max_size=6, unique=True).map(sorted)
    return cuts.map(lambda c: " ".join(f"{a} {b - a}" for a, b in zip(c[0::2], c[1::2], strict=False)))


bit = st.integers(0, 1)
probability = st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0])
number = st.sampled_from([-3.0, 0.0, 0.25, 1.0, 8.0])
positive = number.map(abs)
label = st.integers(0, 3)
word = st.sampled_from(["a", "b", "C", "é", "日本"])
items = st.lists(word, max_size=4, unique=True).map(" ".join)
phrase = st.lists(word, max_size=4).map("  ".join)
one_hot = st.integers(0, 2).map(lambda i: tuple(np.eye(3)[i]))
distribution = st.tuples(probability, probability, probability)

CASES = [
    alike(metrics.accuracy, label),
    alike(metrics.accuracy, phrase),
    Case(metrics.roc_auc, bit, probability),
    Case(metrics.roc_auc, pairs(bit), pairs(probability)),
    Case(metrics.log_loss, bit, probability),
    Case(metrics.log_loss, one_hot, distribution),
    alike(metrics.f1, bit),
    alike(metrics.f1.using(average="macro"), label),
    alike(metrics.f1.using(average="micro"), word),
    alike(metrics.f_beta.using(beta=0.5), bit),
    alike(metrics.quadratic_kappa, label),
    alike(metrics.matthews, word),
    alike(metrics.rmse, number),
    alike(metrics.rmse, pairs(number)),
    alike(metrics.rmsle, positive),
    alike(metrics.mae, number),
    alike(metrics.smape, number),
    alike(metrics.pinball.using(quantile=0.9), number),
    Case(
        metrics.pinball.using(quantiles=(0.1, 0.6)),
        number,
        pairs(number),
        lambda truth: np.stack([truth, truth], axis=1),
    ),
    Case(
        metrics.laplace_log_likelihood,
        number,
        pairs(number.map(lambda x: 50 * x)),
        lambda truth: np.stack([truth, np.zeros_like(truth)], axis=1),
    ),
    alike(metrics.pearson, number),
    alike(metrics.spearman, pairs(number)),
    alike(metrics.map_at_k.using(k=3), items),
    alike(metrics.ndcg_at_k.using(k=3), items),
    alike(metrics.word_jaccard, phrase),
    alike(metrics.label_micro_f1, phrase),
    alike(metrics.label_micro_f1.using(ignore_unknown=True), phrase),
    alike(metrics.label_mean_f1, phrase),
    alike(metrics.dice, st.tuples(bit, bit, bit)),
    alike(metrics.dice.using(pooled=True), st.tuples(bit, bit, bit)),
    alike(metrics.mean_iou, st.tuples(bit, bit, bit)),
    alike(metrics.rle_dice, masks(20)),
    alike(metrics.rle_dice.using(pooled=True), masks(20)),
    alike(metrics.rle_mean_iou, masks(20)),
    alike(metrics.mean_levenshtein, phrase),
    alike(metrics.normalised_levenshtein, phrase),
]

every_case = pytest.mark.parametrize(
    "case", CASES, ids=[f"{case.metric.name}{dict(case.metric.options) or ''}" for case in CASES]
)


def test_every_metric_has_a_case() -> None:
    assert {case.metric.name for case in CASES} == set(metrics.__all__)


@pytest.mark.parametrize("name", metrics.__all__)
def test_a_metric_says_what_it_is(name: str) -> None:
    metric = getattr(metrics, name)
    assert isinstance(metric, Metric)
    assert metric.name == name
    assert " = " in (inspect.getdoc(metric.function) or "")
    truth, prediction, *options = inspect.signature(metric.function).parameters.values()
    assert (truth.name, prediction.name) == ("truth", "prediction")
    assert all(option.kind is option.KEYWORD_ONLY for option in options)


@every_case
@examples
@given(data=st.data())
def test_laws(case: Case, data: st.DataObject) -> None:
    """Order of rows does not matter, nothing beats the perfect prediction, and the input stays as it was."""
    truth, prediction = case.sides(data)
    before = truth.copy(), prediction.copy()
    score = case.metric(truth, prediction)
    assert type(score) is float
    assert np.array_equal(truth, before[0])
    assert np.array_equal(prediction, before[1])

    order = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(len(truth))
    assert case.metric(truth[order], prediction[order]) == pytest.approx(score, nan_ok=True, abs=1e-12)

    perfect = case.metric(truth, case.perfect(truth))
    assert perfect == pytest.approx(score, abs=1e-12) or not case.metric.is_better(score, perfect)


@every_case
def test_rows_must_be_there(case: Case) -> None:
    with pytest.raises(ValueError, match="at least one row"):
        case.metric([], [])


@every_case
@settings(max_examples=1, deadline=None)
@given(data=st.data())
def test_rows_must_correspond(case: Case, data: st.DataObject) -> None:
    truth, prediction = case.sides(data)
    with pytest.raises(ValueError, match="expected"):
        case.metric(np.concatenate([truth, truth]), prediction)


@every_case
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_read_only_arrays_and_lists_will_do(case: Case, data: st.DataObject) -> None:
    truth, prediction = case.sides(data)
    truth.flags.writeable = prediction.flags.writeable = False
    score = case.metric(truth, prediction)
    again = case.metric(truth.tolist(), prediction.tolist())
    assert again == score or (math.isnan(again) and math.isnan(score))


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("word_jaccard", [float("nan")], "expected text, found float"),
        ("mean_levenshtein", [["a"]], "one text per row"),
        ("f1", [[1]], "one label per row"),
        ("rmse", [[[1.0]]], "rows and columns"),
        ("roc_auc", [2], "only 0 and 1"),
    ],
)
def test_the_wrong_kind_of_input_is_named(name: str, value: list[Any], problem: str) -> None:
    metric: Metric = getattr(metrics, name)
    options = {"average": "macro"} if name == "f1" else {}
    with pytest.raises(ValueError, match=problem):
        metric.using(**options)(value, value)


def test_importing_metrics_is_light() -> None:
    heavy = {"pandas", "sklearn", "scipy", "rapidfuzz"}
    code = f"import sys, podium.metrics; print({heavy} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
