"""Recipes for times, quantiles and lists of labels: what is learnt differs from what is asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe, run_script

from podium import metrics
from podium.recipes.blend_script import blend_body
from podium.recipes.kit.outputs.censored_times import concordance, excess_events
from podium.recipes.kit.outputs.label_lists import best_list_cut, listed_f1, named_labels
from podium.recipes.kit.outputs.quantile_spread import pinball, shifted_by_errors
from podium.recipes.script_writer import write_script
from podium.tables.profile import Profile
from podium.task import Metric

TRAIN, TEST = 700, 400
LEVELS = (0.1, 0.5, 0.9)
RNG = np.random.default_rng(0)
FEATURES = pd.DataFrame(RNG.normal(size=(TRAIN + TEST, 5)), columns=list("abcde"))
SIGNAL = (FEATURES["a"] + FEATURES["b"] * FEATURES["c"]).to_numpy()


def write(public: Path, target: object, sample: dict[str, object]) -> None:
    """A task whose train table has a column `y`."""
    table = FEATURES.assign(row=np.arange(len(FEATURES)), y=target)
    table[:TRAIN].to_csv(public / "train.csv", index=False)
    table[TRAIN:].drop(columns="y").to_csv(public / "test.csv", index=False)
    table[TRAIN:][["row"]].assign(**sample).to_csv(public / "sample_submission.csv", index=False)


def profile_by(metric: Metric, public: Path, *targets: str) -> Profile:
    return profile_of(public, metric, ids=("row",), targets=targets)


@pytest.fixture
def times() -> np.ndarray:
    happens = RNG.exponential(size=TRAIN + TEST) / np.exp(1.5 * SIGNAL)
    watched = RNG.exponential(2 * np.median(happens), TRAIN + TEST)
    return np.where(happens < watched, happens, -watched)


def test_risks_are_learnt_from_times_that_were_cut_short(
    times: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, times, {"y": 0.0})
    profile = profile_by(metrics.concordance, tmp_path, "y")
    assert profile.is_survival
    recipe = recipe_for(profile, "quick boosting")
    outcome = run_recipe(recipe, profile, tmp_path, tmp_path / "script", monkeypatch)
    reached = metrics.concordance(times[TRAIN:], outcome.submission["y"].to_numpy())
    by_length = metrics.concordance(times[TRAIN:], -np.abs(times[TRAIN:]))
    assert by_length == 1
    assert reached > 0.7
    assert outcome.metric == pytest.approx(reached, abs=0.06)


def test_concordance_is_that_of_the_metric(times: np.ndarray) -> None:
    truth, risk = times[:400], np.round(SIGNAL[:400] + RNG.normal(size=400), 1)
    assert concordance(truth, risk) == pytest.approx(metrics.concordance(truth, risk))
    assert excess_events(np.array([1.0, -2.0, 3.0])) == pytest.approx([1 - 1 / 3, -1 / 3, 1 - 1 / 3 - 1])


@pytest.fixture
def amounts(tmp_path: Path) -> np.ndarray:
    """Numbers that scatter far more where `d` is large."""
    found = np.asarray(SIGNAL + np.exp(FEATURES["d"]) * RNG.normal(size=len(FEATURES)))
    write(tmp_path, found, dict.fromkeys(("q10", "q50", "q90"), 0.0))
    return found


def test_quantiles_are_wider_where_models_are_further_off(
    amounts: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = metrics.pinball.using(quantiles=LEVELS)
    profile = profile_by(metric, tmp_path, "q10", "q50", "q90")
    assert profile.levels == LEVELS and profile.labels == ("y",)
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "one", monkeypatch)
    found = outcome.submission[["q10", "q50", "q90"]]
    assert found.apply(lambda row: row.is_monotonic_increasing, axis=1).all()
    width = found["q90"] - found["q10"]
    assert np.corrcoef(width, FEATURES["d"][TRAIN:])[0, 1] > 0.4
    equal = np.tile(np.quantile(amounts[:TRAIN], LEVELS), (TEST, 1))
    assert metric(amounts[TRAIN:], found.to_numpy()) < 0.9 * metric(amounts[TRAIN:], equal)
    assert outcome.metric == pytest.approx(metric(amounts[TRAIN:], found.to_numpy()), rel=0.25)


@pytest.mark.usefixtures("amounts")
def test_quantiles_are_found_where_only_the_last_rows_were_validated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = pd.Series(pd.date_range("2020-01-01", periods=TRAIN + TEST, freq="7h").strftime("%Y/%m/%d"))
    for name, rows in (("train.csv", slice(TRAIN)), ("test.csv", slice(TRAIN, None))):
        pd.read_csv(tmp_path / name).assign(day=days[rows].to_numpy()).to_csv(tmp_path / name, index=False)
    profile = profile_by(metrics.pinball.using(quantiles=LEVELS), tmp_path, "q10", "q50", "q90")
    assert profile.time == "day"
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "one", monkeypatch)
    assert "of 700 train rows" in outcome.output
    assert (outcome.submission["q10"] < outcome.submission["q90"]).all()


@pytest.mark.usefixtures("amounts")
def test_quantiles_of_two_scripts_are_blended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = profile_by(metrics.pinball.using(quantiles=LEVELS), tmp_path, "q10", "q50", "q90")
    recipe = recipe_for(profile, "quick boosting")
    for folder, leaves in (("001", 4), ("002", 12)):
        model = {**recipe.defaults(profile)["model"], "max_leaf_nodes": leaves}
        run_recipe(recipe, profile, tmp_path, tmp_path / "work" / folder, monkeypatch, {"model": model})
    script = write_script("A blend.", blend_body(profile, ["../001", "../002"]), recipe="blend")
    outcome = run_script(script, tmp_path, tmp_path / "work" / "003", monkeypatch)
    assert outcome.submission[["q10", "q50", "q90"]].notna().all().all()
    assert outcome.metric > 0


def test_one_quantile_is_one_column(amounts: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, amounts, {"y": 0.0})
    profile = profile_by(metrics.pinball.using(quantile=0.9), tmp_path, "y")
    assert profile.levels == (0.9,)
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "script", monkeypatch)
    assert np.mean(amounts[TRAIN:] < outcome.submission["y"]) == pytest.approx(0.9, abs=0.06)


def test_pinball_is_that_of_the_metric() -> None:
    truth = RNG.normal(size=30)
    found, _ = shifted_by_errors(truth, np.zeros(30), np.zeros(30), np.ones(30, dtype=bool), list(LEVELS))
    assert pinball(truth, found, list(LEVELS)) == pytest.approx(metrics.pinball.using(quantiles=LEVELS)(truth, found))


@pytest.mark.parametrize("always", [True, False], ids=["every row has a label", "some rows have none"])
def test_labels_of_a_list_are_learnt_one_by_one(always: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signals = np.column_stack([SIGNAL, FEATURES["d"], FEATURES["e"]])
    applies = signals + 0.3 * RNG.normal(size=signals.shape) > 0.3
    applies[:, 0] |= always & ~applies.any(axis=1)
    lists = [" ".join(np.array(["dry", "old", "red"])[row]) for row in applies]
    write(tmp_path, lists, {"y": "red"})
    profile = profile_by(metrics.label_mean_f1, tmp_path, "y")
    assert (profile.goal, profile.classes, profile.modality) == ("multilabel", ("dry", "old", "red"), "tabular")
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "script", monkeypatch)
    said = outcome.submission["y"].fillna("").tolist()
    assert ("" in said) == (not always)
    reached = metrics.label_mean_f1(lists[TRAIN:], said)
    assert reached > 0.8
    assert outcome.metric == pytest.approx(reached, abs=0.07)


def test_a_list_of_many_labels_stays_a_list(tmp_path: Path) -> None:
    write(tmp_path, [f"tag{number} tag{number + 1}" for number in range(TRAIN + TEST)], {"y": "tag1"})
    assert profile_by(metrics.label_mean_f1, tmp_path, "y").goal == "list"


def test_lists_are_scored_as_by_the_metric() -> None:
    truth, chances = RNG.random((50, 3)) < 0.4, RNG.random((50, 3))
    cut = best_list_cut(truth, chances)
    named = named_labels(truth, chances, cut)
    texts = [[" ".join(np.array(["a", "b", "c"])[row]) for row in rows] for rows in (truth, named)]
    assert listed_f1(truth, named) == pytest.approx(metrics.label_mean_f1(*texts))


def test_grades_that_no_validated_row_has_shift_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grade 1 was given in the first days alone, which are not validated on."""
    grades = np.where(np.arange(TRAIN + TEST) < 60, 1, np.where(FEATURES["a"] > 0, 5, 3))
    write(tmp_path, grades, {"y": 3})
    for name, first in (("train.csv", 0), ("test.csv", TRAIN)):
        table = pd.read_csv(tmp_path / name)
        table.assign(day=np.arange(len(table)) + first).to_csv(tmp_path / name, index=False)
    profile = profile_by(metrics.quadratic_kappa, tmp_path, "y")
    assert (profile.goal, profile.time) == ("ordinal", "day")
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "script", monkeypatch)
    assert (outcome.submission["y"] == grades[TRAIN:]).mean() > 0.9


def test_the_class_that_f1_is_about_is_the_one_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.where(SIGNAL + RNG.normal(size=len(SIGNAL)) > 2.0, "bad", "good")
    write(tmp_path, words, {"y": "good"})
    metric = metrics.f1.using(positive="bad")
    profile = profile_by(metric, tmp_path, "y")
    assert profile.classes == ("good", "bad")
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "script", monkeypatch)
    assert outcome.metric == pytest.approx(metric(words[TRAIN:], outcome.submission["y"].to_numpy()), abs=0.25)


def test_f1_is_about_class_1_by_default(tmp_path: Path) -> None:
    write(tmp_path, np.where(SIGNAL > 1, 1, 2), {"y": 2})
    assert profile_by(metrics.f1, tmp_path, "y").classes == (2, 1)
    assert profile_by(metrics.accuracy, tmp_path, "y").classes == (1, 2)
