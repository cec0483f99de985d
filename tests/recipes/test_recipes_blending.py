"""Blends: weights, and a second layer where rows that it was not fitted on say that it is better."""

from __future__ import annotations

import numpy as np
import pytest

from podium.recipes.kit.learning.blend_weights import blend, blend_weights
from podium.recipes.kit.learning.cross_validation import Predictions
from podium.recipes.kit.outputs.decisions import best_class_weights
from podium.recipes.kit.outputs.script_scores import accuracy, log_loss, rmse

ROWS, TESTS = 600, 200


def part(values: np.ndarray) -> Predictions:
    return values[:ROWS], values[ROWS:], np.ones(ROWS, dtype=bool)


def test_a_second_layer_learns_what_weights_cannot_express(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    good, habit = rng.normal(size=(2, ROWS + TESTS))
    y = good - habit + rng.normal(0, 0.1, ROWS + TESTS)
    oof, prediction, rows = blend({"good": part(good), "habit": part(habit)}, y[:ROWS], rmse)
    assert rows.all() and rmse(y[:ROWS], oof) < 0.2 and rmse(y[ROWS:], prediction) < 0.2
    assert "second layer" in capsys.readouterr().out


def test_weights_stay_where_a_second_layer_is_not_better() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4, ROWS + TESTS))
    parts = {name: part(one) for name, one in zip("abcd", values, strict=True)}
    y = values.mean(axis=0) + rng.normal(0, 1, ROWS + TESTS)
    oof, prediction, _ = blend(parts, y[:ROWS], rmse)
    low, high = (bound([one[1] for one in parts.values()], axis=0) for bound in (np.min, np.max))
    assert ((low <= prediction) & (prediction <= high)).all(), "a weighted mean lies between its parts"
    assert rmse(y[:ROWS], oof) < min(rmse(y[:ROWS], one[0]) for one in parts.values())


def test_a_second_layer_of_classes_gives_probabilities() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, ROWS + TESTS))
    y = (left - right > 0).astype(int)
    parts = {name: part(1 / (1 + np.exp(-values))) for name, values in (("left", left), ("right", right))}
    oof, prediction, _ = blend(parts, y[:ROWS], log_loss)
    assert ((oof >= 0) & (oof <= 1)).all() and log_loss(y[ROWS:], prediction) < 0.3


def test_weights_of_models_and_classes_are_found_by_some_of_many_rows() -> None:
    """They come before the submission, so that they must not take the time that is left."""
    rng = np.random.default_rng(0)
    y, seen = rng.integers(0, 3, 50_000), []
    oofs = [np.eye(3)[y] + rng.random((50_000, 3)) for _ in range(2)]

    def score(truth: np.ndarray, chosen: np.ndarray) -> float:
        seen.append(len(truth))
        return accuracy(truth, chosen if chosen.ndim == 1 else chosen.argmax(axis=1))

    weights = blend_weights(y, oofs, lambda truth, oof: -score(truth, oof))
    assert weights.sum() == pytest.approx(1) and best_class_weights(y, oofs[0], score).shape == (3,)
    assert set(seen) == {20_000}
