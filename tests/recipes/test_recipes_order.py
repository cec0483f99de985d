"""The order in which recipes are drafted, as learnt on forged training tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podium.recipes import order
from podium.recipes.profile import Profile
from podium.recipes.recipe import all_recipes

PROFILE = Profile(
    brief="",
    metric="rmse",
    metric_title="RMSE",
    metric_options={},
    higher_is_better=False,
    sample="sample.csv",
    ids=("row",),
    targets=("y",),
    modality="tabular",
    goal="regression",
)


def test_the_table_that_is_shipped_names_known_recipes_and_counts_its_tasks() -> None:
    table = json.loads(order.TABLE.read_text(encoding="utf-8"))
    names = {recipe.name for recipe in all_recipes()}
    assert table["tasks"] > 0
    for profile in table["profiles"].values():
        assert set(profile["recipes"]) <= names and 0 < profile["tasks"] <= table["tasks"]


def test_recipes_follow_the_order_learnt_for_their_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = next(order.profile_keys(PROFILE))
    table = {"tasks": 3, "time_s": 1.0, "profiles": {key: {"tasks": 3, "recipes": ["d", "b", "a"]}}}
    (tmp_path / "order.json").write_text(json.dumps(table))
    monkeypatch.setattr(order, "TABLE", tmp_path / "order.json")
    order.read_orders.cache_clear()
    try:
        assert order.learnt_order(PROFILE, ["a", "b", "c", "d"]) == ["a", "d", "c", "b"]
    finally:
        order.read_orders.cache_clear()
