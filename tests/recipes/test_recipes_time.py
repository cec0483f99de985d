"""Scripts keep to their time, keep what they have when it runs out, and spend none on constants."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for

from podium.metrics import rmse
from podium.recipes.kinds.fallback_recipes import FALLBACKS
from podium.recipes.kit.inputs.table_features import relative_features
from podium.recipes.kit.learning.cross_validation import (
    Fit,
    Predictions,
    PredictRows,
    cross_predict,
    each_column_until,
    make_folds,
    residuals,
    smallest_residuals,
)
from podium.recipes.kit.learning.ensemble import train_ensemble
from podium.recipes.kit.learning.feature_screening import best_group_pairs
from podium.recipes.kit.learning.fit_models import one_hot_encoder
from podium.recipes.kit.outputs.script_scores import rmse as rmse_score
from podium.recipes.recipe import recipes_for
from podium.recipes.script_writer import write_script
from podium.tables import script_settings

ROWS = 40
NUMBERS = pd.DataFrame({"a": np.arange(50.0)})
GROUPS = pd.DataFrame(index=NUMBERS.index)
Y = np.sin(np.arange(float(ROWS)))


def use_up_time() -> None:
    script_settings.STARTED = time.monotonic() - script_settings.TIME_S


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """What a model waits for that takes too long; it comes when the test is over, and so do the threads that waited."""
    before = set(threading.enumerate())
    event = threading.Event()
    yield event
    event.set()
    for thread in set(threading.enumerate()) - before:
        thread.join()


def at_once(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int) -> PredictRows:
    return lambda features, groups: np.full(len(features), y.mean())


def test_models_that_are_done_are_kept_when_time_runs_out(never: threading.Event) -> None:
    def too_long(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int) -> PredictRows:
        use_up_time()
        never.wait()
        return at_once(features, groups, y, seed)

    fits = {"at once": at_once, "too long": too_long}
    oof, prediction, rows = train_ensemble(NUMBERS, GROUPS, Y, make_folds(Y, 4), fits, rmse_score, until=9.0)
    assert rows.all() and np.allclose(oof, 0, atol=0.2) and prediction.shape == (10,)
    use_up_time()
    with pytest.raises(TimeoutError):
        train_ensemble(NUMBERS, GROUPS, Y, make_folds(Y, 4), {"too long": too_long}, rmse_score, until=9.0)


def test_folds_that_are_done_are_kept_when_time_runs_out(never: threading.Event) -> None:
    def predict_fold(number: int, learn: np.ndarray, check: np.ndarray) -> np.ndarray:
        if number:
            use_up_time()
            never.wait()
        return np.zeros(len(check) + 10)

    folds = make_folds(Y, 4)
    _, _, rows = cross_predict(predict_fold, folds, ROWS, until=9.0)
    assert set(np.flatnonzero(rows)) == set(folds[0][1])


def test_an_error_of_a_model_is_not_mistaken_for_lack_of_time() -> None:
    def fails(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int) -> PredictRows:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train_ensemble(NUMBERS, GROUPS, Y, make_folds(Y, 4), {"fails": fails}, rmse_score)


def test_a_model_that_fails_does_not_end_the_others() -> None:
    def fails(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int) -> PredictRows:
        raise ZeroDivisionError

    fits = {"fails": fails, "at once": at_once}
    _, _, rows = train_ensemble(NUMBERS, GROUPS, Y, make_folds(Y, 4), fits, rmse_score)
    assert rows.all()


def test_a_model_that_would_not_be_done_in_time_is_given_up_and_a_faster_one_is_trained() -> None:
    tried: list[int] = []

    def slow(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int) -> PredictRows:
        tried.append(seed)
        script_settings.STARTED -= 0.3 * script_settings.TIME_S
        return at_once(features, groups, y, seed)

    further = iter([("slow 2", slow), ("fast", at_once)])
    fits = {"at once": at_once, "slow": slow}
    train_ensemble(NUMBERS, GROUPS, Y, make_folds(Y, 4), fits, rmse_score, further=further, until=0.9)
    assert len(tried) == 1 and next(further, None) is None


def test_the_clock_of_a_script_starts_before_libraries_are_imported() -> None:
    script = write_script("The time.", "print(time_used(), np.zeros(3))", recipe="test")
    assert script.count("STARTED = ") == 1
    assert script.index("import time") < script.index("STARTED = ") < script.index("import numpy")


def test_no_time_is_spent_on_constants(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"row": np.arange(400), "a": rng.normal(size=400), "always": "x", "nearly": 0, "y": 7.0})
    table.loc[5, "nearly"] = 1
    for name, target in {"constant": 7.0, "varied": rng.normal(size=400)}.items():
        (tmp_path / name).mkdir()
        table.assign(y=target)[:300].to_csv(tmp_path / name / "train.csv", index=False)
        table[300:].drop(columns="y").to_csv(tmp_path / name / "test.csv", index=False)
        table[300:][["row", "y"]].to_csv(tmp_path / name / "sample_submission.csv", index=False)
        profile = profile_of(tmp_path / name, rmse, ids=("row",), targets=("y",))
        assert [column.name for column in profile.features] == ["a"]
        assert ({recipe.name for recipe in recipes_for(profile)} <= set(FALLBACKS)) == (name == "constant")


def test_a_constant_column_among_several_targets_is_learnt_once() -> None:
    further = iter([("further", at_once)])
    folds = make_folds(Y, 4)
    oof, _, _ = train_ensemble(NUMBERS, GROUPS, 0 * Y + 3, folds, {"first": at_once}, rmse_score, further=further)
    assert (oof == 3).all() and next(further, None) is not None


def test_columns_that_are_done_are_kept_when_time_runs_out() -> None:
    started: list[int] = []

    def one(column: np.ndarray, until: float) -> Predictions:
        started.append(len(started))
        if len(started) == 2:
            raise TimeoutError
        if len(started) == 3:
            use_up_time()
        return column, np.ones(5), np.arange(ROWS) < 30

    truth = np.column_stack([Y, Y + 1, Y + 2, Y + 3])
    oof, prediction, rows = each_column_until(one, truth, 0.9)
    assert len(started) == 3 and rows.sum() == 30
    assert np.allclose(oof[:, [0, 2]], truth[:, [0, 2]]) and np.allclose(oof[:, [1, 3]], truth[:, [1, 3]].mean(axis=0))
    assert np.allclose(prediction[:, 3], truth[:, 3].mean()) and prediction.shape == (5, 4)


def test_first_models_that_take_too_long_leave_time_for_the_others(never: threading.Event) -> None:
    def too_long(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int) -> PredictRows:
        script_settings.STARTED = time.monotonic() - 0.5 * script_settings.TIME_S
        never.wait()
        return at_once(features, groups, y, seed)

    folds = make_folds(Y, 3)
    quick, slow = (residuals(NUMBERS, GROUPS, Y, folds, fit) for fit in (at_once, too_long))
    assert quick.any() and not slow.any()
    assert smallest_residuals([slow, quick]) is quick


def test_no_features_are_looked_for_when_time_is_up() -> None:
    rng = np.random.default_rng(0)
    groups = pd.DataFrame({"left": rng.integers(0, 12, 3000), "right": rng.integers(0, 12, 3000)})
    numbers = pd.DataFrame({"a": groups["left"] + rng.normal(0, 0.1, 3000)})
    residual = (groups["left"] * groups["right"] % 2).to_numpy(float)
    assert list(relative_features(numbers, groups)) == ["a beside left"]
    assert "left x right" in best_group_pairs(groups, numbers, residual)
    use_up_time()
    assert relative_features(numbers, groups).shape == (3000, 0)
    assert best_group_pairs(groups, numbers, residual).shape == (3000, 0)


def test_there_are_fewer_one_hot_columns_where_rows_or_groups_are_many() -> None:
    rng = np.random.default_rng(0)
    small, wide, long = (rng.integers(0, 700, shape) for shape in ((3_000, 1), (3_000, 12), (400_000, 12)))
    assert one_hot_encoder(small, 800).max_categories == 800
    assert one_hot_encoder(wide, 800).max_categories * 12 <= 1000
    assert one_hot_encoder(long, 800).max_categories * 12 <= 250
    assert one_hot_encoder(long[:, :0], 800).max_categories == 800


def test_large_tables_are_not_screened_for_pairs(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"row": np.arange(400), "a": rng.normal(size=400), "y": rng.normal(size=400)})
    table[:300].to_csv(tmp_path / "train.csv", index=False)
    table[300:].drop(columns="y").to_csv(tmp_path / "test.csv", index=False)
    table[300:][["row", "y"]].to_csv(tmp_path / "sample_submission.csv", index=False)
    small = profile_of(tmp_path, rmse, ids=("row",), targets=("y",))
    assert small.train is not None
    recipe = recipe_for(small, "ensemble")
    assert recipe.defaults(small)["pairs"] and recipe.defaults(small)["relative"]
    for large in (replace(small.train, rows=6_000_000), replace(small.train, is_truncated=True)):
        profile = replace(small, train=large)
        settings = recipe.defaults(profile)
        assert not settings["pairs"] and not settings["relative"]
        assert all("pairs" not in one.changes for one in recipe.improvements(profile, settings))


def test_a_model_that_fails_rules_out_only_those_of_its_kind() -> None:
    tried: list[str] = []

    def named(name: str) -> Fit:
        def fit(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int) -> PredictRows:
            tried.append(name)
            if name == "log linear":
                raise ZeroDivisionError
            return at_once(features, groups, y, seed)

        return fit

    fits = {name: named(name) for name in ("at once", "log linear", "log boosting", "log linear 2")}
    train_ensemble(NUMBERS, GROUPS, Y, make_folds(Y, 2), fits, rmse_score)
    assert "log boosting" in tried and "log linear 2" not in tried
