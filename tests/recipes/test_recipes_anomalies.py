"""Recipes for rows that do not fit: found by what the columns of a row have to do with each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe

from podium.metrics import rmse, roc_auc
from podium.recipes.kinds.fallback_recipes import FALLBACKS
from podium.recipes.recipe import recipes_for
from podium.tables.profile import Profile

TRAIN, TEST = 600, 300
IS_ODD = np.arange(TEST) % 10 == 0


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """Eight numbers that follow from two hidden ones, in one of two ways; of odd rows three are from other rows."""
    rng = np.random.default_rng(0)
    hidden, kind = rng.normal(size=(TRAIN + TEST, 2)), rng.integers(0, 2, TRAIN + TEST)
    numbers = np.einsum("rf,rfc->rc", hidden, rng.normal(size=(2, 2, 8))[kind])
    numbers += 0.2 * rng.normal(size=numbers.shape)
    for row in TRAIN + np.flatnonzero(IS_ODD):
        numbers[row, :3] = numbers[rng.integers(TRAIN), :3]
    numbers[rng.random(numbers.shape) < 0.02] = np.nan
    table = pd.DataFrame(numbers, columns=list("abcdefgh")).assign(kind=np.array(["new", "old"])[kind])
    table.insert(0, "row", np.arange(len(table)))
    table[:TRAIN].assign(odd=0).to_csv(tmp_path / "train.csv", index=False)
    table[TRAIN:].to_csv(tmp_path / "test.csv", index=False)
    table[TRAIN:][["row"]].assign(odd=0.0).to_csv(tmp_path / "sample_submission.csv", index=False)
    return tmp_path


@pytest.fixture
def profile(public: Path) -> Profile:
    return profile_of(public, roc_auc, ids=("row",), targets=("odd",))


def test_only_the_order_of_rows_can_be_learnt_without_odd_ones(public: Path, profile: Profile) -> None:
    names = [recipe.name for recipe in recipes_for(profile)]
    assert names == ["isolation forest", "surprise", "density", "sample"]
    by_error = profile_of(public, rmse, ids=("row",), targets=("odd",))
    assert {recipe.name for recipe in recipes_for(by_error)} <= set(FALLBACKS)


def test_numbers_that_surprise_give_odd_rows_away(
    public: Path, profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {
        name: run_recipe(recipe_for(profile, name), profile, public, tmp_path / name, monkeypatch)
        for name in ("isolation forest", "surprise", "density")
    }
    reached = {name: roc_auc(IS_ODD, outcome.submission["odd"].to_numpy()) for name, outcome in found.items()}
    assert reached["surprise"] > max(0.85, reached["isolation forest"]), reached
    said = {name: outcome.metric for name, outcome in found.items()}
    assert max(said, key=lambda name: said[name]) == "surprise", said
    assert all("no odd row is known" in outcome.output for outcome in found.values())


def test_detectors_can_be_asked_together(
    public: Path, profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_for(profile, "surprise")
    tried = recipe.improvements(profile, recipe.defaults(profile))
    assert [one.changes["detectors"] for one in tried] == [["surprise", "density"], ["surprise", "isolation"]]
    outcome = run_recipe(recipe, profile, public, tmp_path / "together", monkeypatch, tried[0].changes)
    assert roc_auc(IS_ODD, outcome.submission["odd"].to_numpy()) > 0.8


def test_what_is_known_when_time_is_short_counts(
    public: Path, profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_for(profile, "surprise")
    outcome = run_recipe(recipe, profile, public, tmp_path / "short", monkeypatch, time_s=0.01)
    assert outcome.submission["odd"].nunique() > TEST / 2
