"""Recipes for forecasts."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe

from podium.metrics import mae, rmse
from podium.recipes.kit.inputs.time_series_features import fill_times, read_times
from podium.recipes.kit.learning.additive_effects import (
    design_matrix,
    group_factor,
    missing_interactions,
    number_factor,
    recent_residuals,
)
from podium.recipes.kit.learning.cross_validation import later_folds
from podium.tables import describe_tables

AHEAD = 28


def bakeries(folder: Path, *, closed: bool, lowest: float = 0.0) -> pd.DataFrame:
    """Sales by shop and day: busy weekends in towns only, more when it rains, and Mondays off; gives the answers."""
    rng = np.random.default_rng(5)
    days = pd.date_range("2023-01-02", periods=300)
    shops = pd.DataFrame({"shop": [f"S{number}" for number in range(9)], "place": ["town", "village", "farm"] * 3})
    table = shops[["shop"]].merge(pd.DataFrame({"date": days}), how="cross")
    rain = pd.Series(rng.gamma(0.5, 6, len(days)).round(1), index=days)
    table["rain"] = table["date"].map(rain)
    place = table["shop"].map(shops.set_index("shop")["place"])
    is_weekend = table["date"].dt.dayofweek >= 5
    level = table["shop"].map(dict(zip(shops["shop"], rng.normal(4, 0.5, len(shops)), strict=True)))
    level += 0.8 * is_weekend * (place == "town") - 0.6 * is_weekend * (place == "farm") + 0.1 * np.log1p(table["rain"])
    sold = np.exp(level + rng.normal(0, 0.1, len(table))) + lowest
    table["sold"] = np.where((table["date"].dt.dayofweek == 0) & closed, 0.0, sold).round(2)
    table = table.sort_values(["date", "shop"]).assign(row=rng.permutation(90_000)[: len(table)])
    folder.mkdir()
    shops.to_csv(folder / "shops.csv", index=False)
    known = table["date"] < days[-AHEAD]
    table[known].to_csv(folder / "train.csv", index=False)
    table[~known].drop(columns="sold").to_csv(folder / "test.csv", index=False)
    table[~known][["row"]].assign(sold=1.0).to_csv(folder / "sample_submission.csv", index=False)
    return table[~known].reset_index(drop=True)


@pytest.mark.parametrize("name", ["quick forecast", "effects with interactions"])
def test_forecasts_beat_the_last_weeks(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = bakeries(tmp_path / "data", closed=True)
    profile = profile_of(tmp_path / "data", mae, ids=("row",), targets=("sold",))
    assert (profile.modality, profile.time, profile.series) == ("series", "date", ("shop",))
    outcome = run_recipe(recipe_for(profile, name), profile, tmp_path / "data", tmp_path / "work", monkeypatch)
    assert list(outcome.submission["row"]) == list(answers["row"])
    prediction = outcome.submission["sold"].to_numpy()
    train = pd.read_csv(tmp_path / "data" / "train.csv", parse_dates=["date"])
    last = train[train["date"] > train["date"].max() - pd.Timedelta(days=7)]
    weekly = last.assign(day=last["date"].dt.dayofweek).set_index(["shop", "day"])["sold"]
    naive = weekly.reindex(pd.MultiIndex.from_arrays([answers["shop"], answers["date"].dt.dayofweek])).to_numpy()
    error = np.abs(prediction - answers["sold"]).mean()
    assert error < 0.85 * np.abs(naive - answers["sold"]).mean()
    assert abs(outcome.metric - error) < 0.5 * error
    assert (prediction[answers["sold"] == 0] == 0).all(), "Mondays are off"
    if name == "effects with interactions":
        assert "weekday x place" in outcome.output


def test_every_improvement_of_a_forecast_changes_its_script(tmp_path: Path) -> None:
    bakeries(tmp_path / "data", closed=True)
    profile = profile_of(tmp_path / "data", mae, ids=("row",), targets=("sold",))
    for name in ("effects with interactions", "forecast", "boosted effects"):
        recipe = recipe_for(profile, name)
        settings = recipe.defaults(profile)
        improved = [{**settings, **one.changes} for one in recipe.improvements(profile, settings)]
        bodies = {recipe.body(profile, chosen) for chosen in (settings, *improved)}
        assert len(bodies) == 1 + len(improved) > 1


def test_numbers_that_may_be_negative_are_not_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = bakeries(tmp_path / "data", closed=False, lowest=-200.0)
    profile = profile_of(tmp_path / "data", rmse, ids=("row",), targets=("sold",))
    recipe = recipe_for(profile, "effects with interactions")
    assert not recipe.defaults(profile)["log"]
    outcome = run_recipe(recipe, profile, tmp_path / "data", tmp_path / "work", monkeypatch, {"rounds": 2})
    error = np.sqrt(((outcome.submission["sold"] - answers["sold"]) ** 2).mean())
    assert error < 0.4 * answers["sold"].std()


def test_a_number_is_weights_of_two_knots() -> None:
    factor = number_factor(np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan]), knots=3)
    table = design_matrix(factor).toarray()
    np.testing.assert_allclose(table[:, :3] @ [0, 2, 4], [0, 1, 2, 3, 4, 0])
    assert table[5].sum() == 0


def test_a_missing_interaction_is_found_and_noise_is_not() -> None:
    rng = np.random.default_rng(0)
    factors = {name: group_factor(rng.integers(0, 4, 4000)) for name in ("left", "right", "other")}
    effect = (factors["left"].code + factors["right"].code) % 2 - 0.5
    half = np.arange(4000) % 2 == 0
    found = missing_interactions(factors, effect + rng.normal(size=4000), np.arange(4000), half, set())
    assert found == [("left", "right")]
    assert missing_interactions(factors, rng.normal(size=4000), np.arange(4000), half, set()) == []


def test_recent_residuals_use_nothing_after_the_origin() -> None:
    day = np.arange(100)
    rest, series = np.where(day < 50, 0.0, 1.0) + 0.01 * (day % 3), np.zeros(100, dtype=int)
    origin = np.where(day < 60, 49, 99)
    level = recent_residuals(rest, series, day, day, origin, half_life=5)
    assert level[:60].max() < 0.1
    assert level[60:].min() > 0.5


def single_series(folder: Path, *, time: str) -> pd.DataFrame:
    """A series that wanders off, by month or by number, of which the last fifth is asked for; gives the answers."""
    rng = np.random.default_rng(3)
    rows = 160
    value = 500 + np.cumsum(rng.normal(2.0, 6.0, rows)) + 20 * np.sin(2 * np.pi * np.arange(rows) / 12)
    months = pd.date_range("2001-01-01", periods=rows, freq="MS").strftime("%Y-%m-%d")
    table = pd.DataFrame({"row": rng.permutation(rows), "month": months, "step": np.arange(rows) + 40})
    table = table[["row", time]].assign(noise=rng.normal(size=rows).round(3), value=value.round(2))
    folder.mkdir()
    table[:128].sample(frac=1, random_state=0).to_csv(folder / "train.csv", index=False)
    table[128:].drop(columns="value").to_csv(folder / "test.csv", index=False)
    table[128:][["row"]].assign(value=0.0).to_csv(folder / "sample_submission.csv", index=False)
    return table[128:].reset_index(drop=True)


@pytest.mark.parametrize("time", ["month", "step"])
def test_a_single_series_is_forecast_and_validated_on_its_last_times(
    time: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = single_series(tmp_path / "data", time=time)
    profile = profile_of(tmp_path / "data", rmse, ids=("row",), targets=("value",))
    assert (profile.modality, profile.time, profile.series) == ("series", time, ())
    validations = set()
    for name in ("simple forecasts", "linear effects", "boosted changes", "quick boosting", "constant"):
        outcome = run_recipe(recipe_for(profile, name), profile, tmp_path / "data", tmp_path / name, monkeypatch)
        error = np.sqrt(((outcome.submission["value"] - answers["value"]) ** 2).mean())
        assert error < 3 * outcome.metric, f"{name} promised {outcome.metric} and got {error}"
        if name == "simple forecasts":
            assert error < answers["value"].std() + abs(answers["value"].mean() - 500)
        validations.add(re.findall("podium-validation: (.*)", outcome.output)[-1])
    assert len(validations) == 1, "their scores must compare"


def test_a_series_that_rises_is_followed_beyond_the_values_of_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    index = 100 + np.arange(200.0) + rng.normal(size=200)
    table = pd.DataFrame({"row": rng.permutation(200), "day": np.arange(200), "index": index.round(2), "y": 3 * index})
    table[:160].to_csv(tmp_path / "train.csv", index=False)
    table[160:].drop(columns="y").to_csv(tmp_path / "test.csv", index=False)
    table[160:][["row", "y"]].assign(y=0.0).to_csv(tmp_path / "sample_submission.csv", index=False)
    profile = profile_of(tmp_path, rmse, ids=("row",), targets=("y",))
    outcome = run_recipe(recipe_for(profile, "linear effects"), profile, tmp_path, tmp_path / "work", monkeypatch)
    assert np.abs(outcome.submission["y"] - table["y"][160:].to_numpy()).max() < 30
    assert outcome.submission["y"].max() > table["y"][:160].max()


def test_row_numbers_are_times_only_if_neighbours_resemble_each_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name, y in {"wanders": np.cumsum(rng.normal(size=120)), "jumps": rng.normal(size=120)}.items():
        table = pd.DataFrame({"row": np.arange(120), "a": rng.normal(size=120), "y": y})
        (tmp_path / name).mkdir()
        table[:90].to_csv(tmp_path / name / "train.csv", index=False)
        table[90:].drop(columns="y").to_csv(tmp_path / name / "test.csv", index=False)
        table[90:][["row", "y"]].assign(y=0.0).to_csv(tmp_path / name / "sample_submission.csv", index=False)
        profile = profile_of(tmp_path / name, rmse, ids=("row",), targets=("y",))
        assert profile.time == ("row" if name == "wanders" else None)


def test_folds_are_the_last_times_and_never_learn_from_later_rows() -> None:
    time = pd.Series([*np.random.default_rng(0).permutation(80), *range(80, 100)])
    folds = later_folds(time, 80)
    assert len(folds) == 2
    for learn, check in folds:
        assert time[learn].max() < time[check].min() and len(learn) >= 32
    assert sorted(time[folds[0][1]]) == list(range(60, 80))
    assert len(later_folds(pd.Series([*range(20), *range(20, 80)]), 20)) == 1, "a long time to predict"


def changed(folder: Path, name: str, **columns: object) -> None:
    """Adds columns to a table, or changes them."""
    pd.read_csv(folder / name).assign(**columns).to_csv(folder / name, index=False)


def test_columns_of_further_tables_have_names_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = bakeries(tmp_path / "data", closed=False)
    rng = np.random.default_rng(0)
    for name in ("train.csv", "test.csv"):
        changed(tmp_path / "data", name, day=lambda rows: pd.to_datetime(rows["date"]).dt.dayofweek)
    changed(tmp_path / "data", "test.csv", note="expected")
    changed(tmp_path / "data", "shops.csv", sold=rng.random(9), note=list("abcdefghi"), secret=rng.random(9))
    shops = pd.read_csv(tmp_path / "data" / "shops.csv")[["shop"]]
    shops.assign(place=list("xyzxyzxyz"), people=rng.integers(9, 99, 9)).to_csv(
        tmp_path / "data" / "towns.csv", index=False
    )
    fairs = pd.DataFrame({"from": ["2023-03-01", "2023-08-01"], "to": ["2023-03-09", "2023-08-04"], "kind": ["a", "b"]})
    fairs.to_csv(tmp_path / "data" / "fairs.csv", index=False)
    brief = "`secret` must not be used."
    profile = profile_of(tmp_path / "data", mae, ids=("row",), targets=("sold",), brief=brief)
    assert len(profile.joins) == 2 and len(profile.spans) == 1
    for name in ("quick forecast", "effects with interactions"):
        recipe = recipe_for(profile, name)
        outcome = run_recipe(recipe, profile, tmp_path / "data", tmp_path / name, monkeypatch)
        assert len(outcome.submission) == len(answers)
        body = recipe.body(profile, recipe.defaults(profile))
        assert "secret" not in body and "'place in towns.csv'" in body and "'note in shops.csv'" in body


def test_single_times_that_are_missing_or_no_times_end_no_forecast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = bakeries(tmp_path / "data", closed=False)
    changed(tmp_path / "data", "train.csv", date=lambda rows: rows["date"].where(rows.index != 40))
    changed(tmp_path / "data", "test.csv", date=lambda rows: rows["date"].where(rows.index != 7, "unknown"))
    profile = profile_of(tmp_path / "data", mae, ids=("row",), targets=("sold",))
    assert (profile.modality, profile.time) == ("series", "date")
    validations = set()
    for name in ("quick forecast", "simple forecasts", "effects with interactions", "constant"):
        recipe = recipe_for(profile, name)
        outcome = run_recipe(recipe, profile, tmp_path / "data", tmp_path / name, monkeypatch)
        assert len(outcome.submission) == len(answers) and outcome.submission["sold"].notna().all()
        validations.add(re.findall("podium-validation: (.*)", outcome.output)[-1])
    assert len(validations) == 1, "their scores must compare"


def test_years_are_years_where_one_is_missing() -> None:
    found = fill_times(read_times(pd.Series([1999, np.nan, 2001, np.nan, 2004])), 3)
    assert found.dt.year.tolist() == [1999, 1999, 2001, 2004, 2004]


@pytest.mark.parametrize("latest", ["2021-12-31", "2022-08-01"], ids=["before test", "after the first of test"])
def test_times_of_a_table_that_is_read_in_part_are_read_as_a_whole(
    latest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describe_tables, "MAX_ROWS", 100)
    rng = np.random.default_rng(0)
    days = [*pd.date_range("2020-01-01", latest, periods=300), *pd.date_range("2022-01-01", "2022-12-31", periods=60)]
    rows = pd.DataFrame({"row": rng.permutation(9000)[:360], "day": pd.Series(days).dt.strftime("%d.%m.%Y")})
    rows = rows.assign(load=rng.normal(size=360), y=rng.normal(size=360))
    rows[:300].to_csv(tmp_path / "train.csv", index=False)
    rows[300:].drop(columns="y").to_csv(tmp_path / "test.csv", index=False)
    rows[300:][["row"]].assign(y=0.0).to_csv(tmp_path / "sample_submission.csv", index=False)
    profile = profile_of(tmp_path, rmse, ids=("row",), targets=("y",))
    assert profile.train is not None and profile.train.is_truncated
    assert profile.time == ("day" if latest < "2022" else None)


def test_few_rows_of_many_series_at_many_times_are_not_forecast_series_by_series(tmp_path: Path) -> None:
    """Tables of all series and times would not fit into memory."""
    rng = np.random.default_rng(0)
    users = [f"U{number}" for number in rng.permutation(np.arange(800) % 100)]
    rows = pd.DataFrame({"row": rng.permutation(9000)[:800], "hour": np.repeat(np.arange(400), 2), "user": users})
    rows = rows.assign(load=rng.normal(size=800), y=rng.normal(size=800)).drop_duplicates(["hour", "user"])
    rows[:600].to_csv(tmp_path / "train.csv", index=False)
    rows[600:].drop(columns="y").to_csv(tmp_path / "test.csv", index=False)
    rows[600:][["row"]].assign(y=0.0).to_csv(tmp_path / "sample_submission.csv", index=False)
    profile = profile_of(tmp_path, rmse, ids=("row",), targets=("y",))
    assert profile.time == "hour" and not profile.is_series
