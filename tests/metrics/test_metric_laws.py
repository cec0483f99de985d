"""What holds for every metric: stated once, run over all of them."""

from __future__ import annotations

import inspect
import math
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium import metrics
from podium.task import Metric

examples = settings(max_examples=50)

Side = np.ndarray
Cell = st.SearchStrategy[Any]


@dataclass(frozen=True)
class Rows:
    """Two sides, and the options that have a value for each row."""

    truth: Side
    prediction: Side
    options: dict[str, Side]

    def take(self, chosen: Side) -> Rows:
        return Rows(self.truth[chosen], self.prediction[chosen], {k: v[chosen] for k, v in self.options.items()})


@dataclass(frozen=True)
class Case:
    """A metric with its options, and what its two sides hold in each row."""

    metric: Metric
    row: st.SearchStrategy[tuple[Any, Any]]
    """A row's truth and prediction."""
    perfect: Callable[[Side], Side] = np.copy
    """The prediction nothing can beat."""
    options: Mapping[str, Cell] = field(default_factory=dict)
    """Options that have a value for each row."""
    adjust: Callable[[Side], Side] = np.copy
    """What is done to a drawn prediction as a whole."""

    def draw(self, data: st.DataObject) -> Rows:
        rows = data.draw(st.lists(st.tuples(self.row, *self.options.values()), min_size=1, max_size=6))
        sides, *options = zip(*rows, strict=True)
        truth, prediction = zip(*sides, strict=True)
        kind = object if isinstance(truth[0], str) else None
        per_row = {name: np.array(values) for name, values in zip(self.options, options, strict=True)}
        return Rows(np.array(truth, dtype=kind), self.adjust(np.array(prediction, dtype=kind)), per_row)

    def score(self, rows: Rows) -> float:
        return self.metric.using(**rows.options)(rows.truth, rows.prediction)


def pairs(cell: Cell) -> Cell:
    return st.tuples(cell, cell)


def alike(metric: Metric, cell: Cell, **options: Cell) -> Case:
    return Case(metric, pairs(cell), options=options)


def apart(metric: Metric, truth: Cell, prediction: Cell, **options: Cell) -> Case:
    return Case(metric, st.tuples(truth, prediction), options=options)


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
scores = st.tuples(probability, probability, probability)
distribution = st.tuples(*3 * [st.integers(1, 5)]).map(lambda shares: tuple(np.array(shares) / sum(shares)))
bits = st.tuples(bit, bit, bit)
orders = st.integers(0, 4).flatmap(lambda count: pairs(st.permutations("abcd"[:count]).map(" ".join)))


def objects(fields: list[Cell], most: int = 3) -> Cell:
    """Prediction strings of objects that differ in more than their confidence."""
    one = st.tuples(*fields).map(lambda values: " ".join(map(str, values)))
    return st.lists(one, max_size=most, unique_by=lambda text: text.replace(" 0.3 ", " 0.8 ")).map(" ".join)


place = st.sampled_from([0, 4, 10])
span = st.sampled_from([3, 8])
box = st.tuples(place, place, span, span).map(lambda box: f"{box[0]} {box[1]} {box[0] + box[2]} {box[1] + box[3]}")
boxes = objects([st.sampled_from([1, 2]), st.sampled_from([0.3, 0.8]), box])
upright = objects([st.just(0.8), place, place, st.just(0), span, span, st.just(2), st.sampled_from([0, 1]), word])
fields_apart = objects([word, st.sampled_from(["0 0 5 5", "6 0 4 4", "0 6 9 3"])])
points = objects([word, st.integers(0, 10), st.integers(0, 10)])


def falling_confidence(prediction: Side) -> Side:
    """The same boxes, no two of them with the same confidence: COCO takes equals in the order of rows."""
    confidence = iter(np.linspace(0.99, 0.01, 99))
    lines = (" ".join(f"{c} {next(confidence)} {b}" for c, b in _class_and_box(text)) for text in prediction)
    return np.array(list(lines), dtype=object)


def _class_and_box(text: str) -> list[tuple[str, str]]:
    values = text.split()
    return [(values[i], " ".join(values[i + 2 : i + 6])) for i in range(0, len(values), 6)]


def middles(truth: Side) -> Side:
    """The point in the middle of each box `label x y width height`."""

    def middle(label: str, *corner_and_size: str) -> str:
        x, y, width, height = map(float, corner_and_size)
        return f"{label} {x + width / 2} {y + height / 2}"

    rows = (np.array(text.split()).reshape(-1, 5) for text in truth)
    return np.array([" ".join(middle(*box) for box in row) for row in rows], dtype=object)


CASES = [
    alike(metrics.accuracy, label),
    alike(metrics.accuracy, phrase),
    alike(metrics.error_rate, label),
    apart(metrics.roc_auc, bit, probability),
    apart(metrics.roc_auc, pairs(bit), pairs(probability)),
    apart(metrics.weighted_auc, bit, probability),
    apart(metrics.bias_auc, bit, probability, groups=pairs(bit)),
    apart(metrics.log_loss, bit, probability),
    apart(metrics.log_loss, one_hot, scores),
    apart(metrics.weighted_log_loss.using(weights=(1, 2, 4), positive=3.0), bits, scores),
    apart(metrics.probabilistic_f1, bit, probability),
    alike(metrics.kl_divergence, distribution),
    apart(metrics.lwlrap, bits, scores),
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
    alike(metrics.group_log_mae, number, groups=word),
    alike(metrics.smape, number),
    alike(metrics.pinball.using(quantile=0.9), number),
    Case(
        metrics.pinball.using(quantiles=(0.1, 0.6)),
        st.tuples(number, pairs(number)),
        lambda truth: np.stack([truth, truth], axis=1),
    ),
    Case(
        metrics.laplace_log_likelihood,
        st.tuples(number, pairs(number.map(lambda x: 50 * x))),
        lambda truth: np.stack([truth, np.zeros_like(truth)], axis=1),
    ),
    Case(
        metrics.pinball.using(quantiles=(0.1, 0.6)),
        st.tuples(number.map(lambda x: (x, x)), pairs(number)),
    ),
    Case(
        metrics.concordance,
        st.tuples(st.sampled_from([-8.0, -1.0, 0.25, 1.0, 3.0]), number),
        lambda truth: -np.abs(truth),
    ),
    alike(metrics.pearson, number),
    alike(metrics.spearman, pairs(number)),
    alike(metrics.angular_error, pairs(st.sampled_from([0.0, 0.5, 1.0, 3.0]))),
    alike(metrics.percentile_distance_m, pairs(st.sampled_from([-80.0, 0.0, 0.001, 45.0])), groups=label),
    Case(metrics.kendall_tau, orders),
    alike(metrics.map_at_k.using(k=3), items),
    alike(metrics.ndcg_at_k.using(k=3), items),
    alike(metrics.word_jaccard, phrase),
    alike(metrics.label_micro_f1, phrase),
    alike(metrics.label_micro_f1.using(ignore_unknown=True), phrase),
    alike(metrics.label_mean_f1, phrase),
    alike(metrics.dice, bits),
    alike(metrics.dice.using(pooled=True), bits),
    alike(metrics.mean_iou, bits),
    alike(metrics.rle_dice, masks(20)),
    alike(metrics.rle_dice.using(pooled=True), masks(20)),
    alike(metrics.rle_mean_iou, masks(20)),
    alike(metrics.rle_f_beta.using(beta=0.5), masks(20)),
    alike(metrics.rle_iou_precision.using(size=20), masks(20)),
    alike(metrics.rle_iou_precision.using(size=20, blank_is_all=True), masks(20)),
    alike(metrics.dice_hausdorff, masks(20), stack=bit, layer=label, sides=st.just((4, 5))),
    alike(metrics.box_map, boxes),
    alike(metrics.box_map.using(misses_found=False), boxes),
    Case(metrics.coco_map, pairs(boxes), adjust=falling_confidence),
    Case(metrics.point_f1, st.tuples(fields_apart, points), middles),
    alike(metrics.box3d_map, upright),
    alike(metrics.mean_levenshtein, phrase),
    alike(metrics.normalised_levenshtein, phrase),
]

every_case = pytest.mark.parametrize(
    "case", CASES, ids=[f"{case.metric.name}{dict(case.metric.options) or ''}" for case in CASES]
)


def test_every_metric_of_the_package_is_exported_and_has_a_case() -> None:
    modules = [import_module(f"podium.metrics.{module.name}") for module in pkgutil.iter_modules(metrics.__path__)]
    defined = {value.name for module in modules for value in vars(module).values() if isinstance(value, Metric)}
    assert defined == set(metrics.__all__)
    assert defined == {case.metric.name for case in CASES}


@pytest.mark.parametrize("name", metrics.__all__)
def test_metric_is_self_describing(name: str) -> None:
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
    rows = case.draw(data)
    before = rows.take(np.arange(len(rows.truth)))
    score = case.score(rows)
    assert type(score) is float
    assert np.array_equal(rows.truth, before.truth)
    assert np.array_equal(rows.prediction, before.prediction)

    order = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(len(rows.truth))
    assert case.score(rows.take(order)) == pytest.approx(score, nan_ok=True, abs=1e-12)

    perfect = case.score(replace(rows, prediction=case.perfect(rows.truth)))
    assert perfect == pytest.approx(score, abs=1e-12) or not case.metric.is_better(score, perfect)


@every_case
def test_rows_must_be_there(case: Case) -> None:
    nothing = np.array([])
    with pytest.raises(ValueError, match="at least one row"):
        case.score(Rows(nothing, nothing, dict.fromkeys(case.options, nothing)))


@every_case
@settings(max_examples=1)
@given(data=st.data())
def test_rows_must_correspond(case: Case, data: st.DataObject) -> None:
    rows = case.draw(data)
    with pytest.raises(ValueError, match="expected"):
        case.score(replace(rows, truth=np.concatenate([rows.truth, rows.truth])))


@every_case
@settings(max_examples=5)
@given(data=st.data())
def test_read_only_arrays_and_lists_will_do(case: Case, data: st.DataObject) -> None:
    rows = case.draw(data)
    for values in (rows.truth, rows.prediction, *rows.options.values()):
        values.flags.writeable = False
    score = case.score(rows)
    options = {name: values.tolist() for name, values in rows.options.items()}
    again = case.metric.using(**options)(rows.truth.tolist(), rows.prediction.tolist())
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
