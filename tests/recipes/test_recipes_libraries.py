"""Libraries that an interpreter may have are used where it has them, and never required."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, require, run_recipe

from podium.metrics import accuracy, rmse
from podium.recipes.kinds.table_recipes import LIBRARIES, members
from podium.recipes.kit.learning import boosters
from podium.recipes.kit.learning.cross_validation import Stopping
from podium.recipes.recipe import recipes_for
from podium.tables.profile import Profile

LARGE = {"lightgbm", "xgboost", "catboost", "autogluon.tabular"}


def small_table(folder: Path, goal: str) -> Profile:
    """Two informative columns of three, a category, and a few whole numbers, which are numbers and groups."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(180, 3)).round(3), columns=["a", "b", "c"])
    table["place"] = rng.choice(["north", "south", "east"], 180)
    table["floor"] = rng.integers(1, 6, 180)
    signal = table["a"] - table["b"] + (table["place"] == "north")
    table["y"] = signal.round(3) if goal == "regression" else pd.qcut(signal, 2 if goal == "binary" else 3).cat.codes
    table.insert(0, "row", np.arange(180))
    if goal == "rare class":
        table.loc[7, "y"] = 3
    table[:120].to_csv(folder / "train.csv", index=False)
    table[120:].drop(columns="y").to_csv(folder / "test.csv", index=False)
    table[120:][["row", "y"]].assign(y=0).to_csv(folder / "sample_submission.csv", index=False)
    table[120:].to_csv(folder.parent / "answers.csv", index=False)
    return profile_of(folder, rmse if goal == "regression" else accuracy, ids=("row",), targets=("y",))


def test_libraries_are_members_only_where_they_are_installed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    bare = small_table(tmp_path / "data", "regression")
    full = replace(bare, packages=frozenset(LARGE))
    assert not set(LIBRARIES) & set(members(bare)) and set(LIBRARIES) <= set(members(full))
    automl = {recipe.name for recipe in recipes_for(full)} - {recipe.name for recipe in recipes_for(bare)}
    assert automl == {"autogluon"}


@pytest.mark.parametrize("library", list(LIBRARIES))
@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("stops", ["after usual rounds", "by rows", "after rounds that were best"])
def test_a_library_predicts_numbers_and_probabilities(library: str, classes: int, stops: str) -> None:
    pytest.importorskip(library)
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 3))
    features[::7, 2] = np.nan
    groups = rng.integers(0, 3, (200, 1))
    signal = 3 * features[:, 0] + groups[:, 0]
    y = signal if not classes else np.searchsorted(np.quantile(signal, [0.5] if classes == 2 else [0.4, 0.7]), signal)
    held = {
        "after usual rounds": None,
        "by rows": Stopping((features[:50], groups[:50], y[:50]), []),
        "after rounds that were best": Stopping(None, [40, 60]),
    }[stops]
    model = getattr(boosters, f"{library}_trees")(features, groups, y, 0, held, **{**LIBRARIES[library], "rounds": 60})
    prediction = model(features, groups)
    if classes < 3:
        assert prediction.shape == (200,) and np.corrcoef(prediction, y)[0, 1] > 0.8
    else:
        assert prediction.shape == (200, 3) and np.allclose(prediction.sum(axis=1), 1, atol=1e-5)
    if held is not None and held.rows is not None:
        assert len(held.best) == 1 and held.best[0] > 10


@pytest.mark.parametrize("stops", [True, False])
def test_plain_trees_learn_from_the_columns_of_a_table_and_from_groups_alone(stops: bool) -> None:
    pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    features, groups = rng.normal(size=(300, 3)), rng.integers(0, 3, (300, 1))
    y = features[:, 0] + np.array([0.0, 5.0, -5.0])[groups[:, 0]]
    held = Stopping((features[:60], groups[:60], y[:60]), []) if stops else None
    predict = boosters.plain_trees(features, groups, y, 0, held, columns=1, min_data_in_leaf=3)
    other = np.column_stack([features[:, 0], rng.normal(size=(300, 2))])
    assert np.array_equal(predict(features, groups), predict(other, groups))
    assert np.corrcoef(predict(features, groups), y)[0, 1] > 0.95


@pytest.mark.parametrize("goal", ["regression", "multiclass"])
def test_an_ensemble_of_libraries_is_trained(goal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require(*LIBRARIES)
    (tmp_path / "data").mkdir()
    profile = replace(small_table(tmp_path / "data", goal), packages=frozenset(LIBRARIES))
    recipe = recipe_for(profile, "ensemble")
    outcome = run_recipe(recipe, profile, tmp_path / "data", tmp_path / "work", monkeypatch, time_s=40)
    trained = {line.partition(": loss")[0] for line in outcome.output.splitlines() if ": loss" in line}
    assert {"plain trees", *LIBRARIES} <= trained
    assert {name.partition(" ")[0] for name in trained if name[-1].isdigit()} == {"lightgbm", "catboost", "plain"}
    answers = pd.read_csv(tmp_path / "answers.csv")["y"]
    if goal == "regression":
        assert rmse(answers, outcome.submission["y"]) < answers.std()
    else:
        assert (outcome.submission["y"] == answers).mean() > 0.5


@pytest.mark.parametrize("goal", ["regression", "binary", "multiclass", "rare class"])
@pytest.mark.filterwarnings("default")
def test_a_whole_table_is_handed_to_autogluon(goal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("autogluon.tabular")
    (tmp_path / "data").mkdir()
    profile = replace(small_table(tmp_path / "data", goal), packages=frozenset({"autogluon.tabular"}))
    recipe = recipe_for(profile, "autogluon")
    outcome = run_recipe(recipe, profile, tmp_path / "data", tmp_path / "work", monkeypatch, time_s=30)
    answers = pd.read_csv(tmp_path / "answers.csv")["y"]
    if goal == "regression":
        assert outcome.metric < answers.std() and rmse(answers, outcome.submission["y"]) < answers.std()
    else:
        assert outcome.metric > 0.5 and (outcome.submission["y"] == answers).mean() > 0.5
