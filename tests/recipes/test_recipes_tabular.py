"""Recipes for tables, on data that everybody knows and on data that is odd."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score, root_mean_squared_error

from podium.metrics import accuracy, rmse
from podium.metrics import log_loss as log_loss_metric
from podium.metrics import roc_auc as roc_auc_metric
from podium.recipes.kinds.table_recipes import members
from podium.recipes.kit.inputs.table_features import time_gap_features
from podium.recipes.kit.learning import cross_validation
from podium.recipes.kit.learning.cross_validation import (
    PredictRows,
    Stopping,
    cross_validate,
    find_outliers,
    make_folds,
)
from podium.recipes.kit.learning.feature_screening import group_significance, number_significance
from podium.recipes.kit.learning.fit_models import boosting
from podium.recipes.kit.outputs.decisions import best_threshold
from podium.recipes.kit.outputs.script_scores import accuracy as accuracy_of
from podium.recipes.kit.outputs.script_scores import f1, macro_f1, matthews, quadratic_kappa, roc_auc, spearman
from podium.recipes.recipe import recipes_for
from podium.task import Metric

SMALL_ENSEMBLE = {"search": False, "folds": 3}


@dataclass(frozen=True)
class Competition:
    """A data set as a competition folder, with the answers kept apart."""

    public: Path
    metric: Metric
    targets: tuple[str, ...]
    train: pd.DataFrame
    test: pd.DataFrame
    answers: np.ndarray
    """Places of classes, or numbers."""


def competition(
    folder: Path, features: pd.DataFrame, truth: pd.Series, metric: Metric, sample: pd.DataFrame
) -> Competition:
    """Writes train, test and sample; a random third of the rows is test."""
    rows = np.random.default_rng(0).permutation(len(features))
    train, test = rows[len(rows) // 3 :], rows[: len(rows) // 3]
    ids = pd.Series(np.arange(len(rows)) + 1000, name="row")
    pd.concat([ids, features, truth], axis=1).iloc[train].to_csv(folder / "train.csv", index=False)
    pd.concat([ids, features], axis=1).iloc[test].to_csv(folder / "test.csv", index=False)
    pd.concat([ids, sample], axis=1).iloc[test].to_csv(folder / "sample_submission.csv", index=False)
    answers = (truth.astype("category").cat.codes if truth.dtype == object else truth).to_numpy()
    return Competition(
        folder, metric, tuple(sample), features.iloc[train].assign(y=answers[train]), features.iloc[test], answers[test]
    )


def known(name: str, folder: Path) -> Competition:
    """One of the data sets that come with scikit-learn."""
    loaded = getattr(datasets, f"load_{name}")(as_frame=True)
    features = loaded.data.rename(columns=lambda column: column.replace(" ", "_"))
    if name == "diabetes":
        return competition(folder, features, loaded.target, rmse, loaded.target.to_frame() * 0)
    if name == "breast_cancer":
        return competition(folder, features, loaded.target, roc_auc_metric, loaded.target.to_frame() * 0 + 0.5)
    labels = loaded.target.map(lambda place: f"kind_{place}").rename("kind")
    if name == "wine":
        probabilities = pd.DataFrame(1 / 3, index=features.index, columns=["kind_0", "kind_1", "kind_2"])
        return competition(folder, features, labels, log_loss_metric, probabilities)
    return competition(folder, features, labels, accuracy, labels.to_frame().assign(kind="kind_0"))


def plain_score(one: Competition) -> float:
    """How gradient boosting with its defaults does."""
    if one.metric is rmse:
        model = HistGradientBoostingRegressor(random_state=0).fit(one.train.drop(columns="y"), one.train["y"])
        return float(root_mean_squared_error(one.answers, model.predict(one.test)))
    chooser = HistGradientBoostingClassifier(random_state=0).fit(one.train.drop(columns="y"), one.train["y"])
    probabilities = chooser.predict_proba(one.test)
    if one.metric is roc_auc_metric:
        return float(roc_auc_score(one.answers, probabilities[:, 1]))
    if one.metric is accuracy:
        return float(accuracy_score(one.answers, probabilities.argmax(axis=1)))
    return float(log_loss(one.answers, probabilities))


def score(one: Competition, submission: pd.DataFrame) -> float:
    if one.metric is rmse:
        return float(root_mean_squared_error(one.answers, submission["target"]))
    if one.metric is roc_auc_metric:
        return float(roc_auc_score(one.answers, submission["target"]))
    if one.metric is accuracy:
        return float(accuracy_score(one.answers, submission["kind"].str.removeprefix("kind_").astype(int)))
    return float(log_loss(one.answers, submission[list(one.targets)].to_numpy()))


@pytest.mark.parametrize(
    ("name", "goal", "slack"),
    [
        ("iris", "multiclass", 0.02),
        ("diabetes", "regression", 0.0),
        pytest.param("wine", "multiclass", 0.0, marks=pytest.mark.slow),
        pytest.param("breast_cancer", "binary", 0.005, marks=pytest.mark.slow),
        pytest.param("digits", "multiclass", 0.0, marks=pytest.mark.slow),
    ],
)
def test_known_data_is_learnt_at_least_as_well_as_by_default_boosting(
    name: str, goal: str, slack: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = known(name, tmp_path)
    profile = profile_of(tmp_path, one.metric, ids=("row",), targets=one.targets)
    assert (profile.modality, profile.goal) == ("tabular", goal)
    chosen = [name for name in members(profile) if name in ("additive", "boosting", "svm")]
    settings = {**SMALL_ENSEMBLE, "members": chosen}
    outcome = run_recipe(recipe_for(profile, "ensemble"), profile, tmp_path, tmp_path / "work", monkeypatch, settings)
    found, plain = score(one, outcome.submission), plain_score(one)
    assert (found >= plain - slack) if one.metric.higher_is_better else (found <= plain + slack), (found, plain)


def odd_tables(rows: int = 60) -> dict[str, tuple[pd.DataFrame, pd.Series]]:
    """Features and targets that go wrong easily."""
    rng = np.random.default_rng(1)
    plain = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["a", "b", "c"])
    binary = pd.Series((plain["a"] + rng.normal(size=rows) > 0).astype(int), name="y")
    rare = pd.Series(["x"] * (rows - 3) + ["z", "w", "w"], name="y")
    wide = pd.DataFrame(rng.normal(size=(rows, 400))).add_prefix("f")
    dates = pd.Series(pd.date_range("2024-01-01", periods=rows, freq="7h").astype(str), name="when")
    return {
        "rare classes": (plain, rare),
        "an empty column": (plain.assign(gone=np.nan), binary),
        "columns of one name": (pd.concat([plain, plain["a"], plain["a"].rename("a.1")], axis=1), binary),
        "infinite and missing numbers": (plain.assign(b=plain["b"].where(plain["b"] > 0, np.inf)), binary),
        "more columns than rows": (wide, binary),
        "no numbers": (
            plain.gt(0).replace({True: "up", False: "down"}).assign(d=rng.choice(list("klm"), rows)),
            binary,
        ),
        "nothing but a date": (dates.to_frame(), binary),
        "words in a column of numbers": (
            plain.assign(b=plain["b"].round(3).astype(str).where(plain["a"] > -1, "n/a")),
            binary,
        ),
    }


@pytest.mark.parametrize("name", list(odd_tables()))
@pytest.mark.parametrize("recipe", ["quick boosting", "ensemble"])
def test_unusual_data_gives_a_submission(
    name: str, recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, truth = odd_tables()[name]
    one = competition(tmp_path, features, truth, accuracy, truth.to_frame())
    profile = profile_of(tmp_path, accuracy, ids=("row",), targets=("y",))
    chosen = [name for name in members(profile) if name in ("boosting", "additive")]
    settings = {} if recipe == "quick boosting" else {**SMALL_ENSEMBLE, "members": chosen}
    outcome = run_recipe(recipe_for(profile, recipe), profile, tmp_path, tmp_path / "work", monkeypatch, settings)
    assert len(outcome.submission) == len(one.test)
    assert set(outcome.submission["y"]) <= set(truth)


def test_several_numbers_are_learnt_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    features, _ = odd_tables(120)["an empty column"]
    aims = pd.DataFrame({"sum": features["a"] + features["b"], "gap": features["a"] - features["c"]})
    rows = pd.Series(np.arange(len(features)), name="row")
    pd.concat([rows, features, aims], axis=1)[:80].to_csv(tmp_path / "train.csv", index=False)
    pd.concat([rows, features], axis=1)[80:].to_csv(tmp_path / "test.csv", index=False)
    pd.concat([rows, aims * 0], axis=1)[80:].to_csv(tmp_path / "sample_submission.csv", index=False)
    profile = profile_of(tmp_path, rmse, ids=("row",), targets=("sum", "gap"))
    for name, settings in {
        "quick boosting": {},
        "ensemble": {**SMALL_ENSEMBLE, "members": ["additive"]},
    }.items():
        outcome = run_recipe(recipe_for(profile, name), profile, tmp_path, tmp_path / name, monkeypatch, settings)
        for label in ("sum", "gap"):
            assert np.corrcoef(outcome.submission[label], aims[label][80:])[0, 1] > 0.6


def test_a_single_class_is_submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    features, truth = odd_tables()["an empty column"]
    competition(tmp_path, features, truth * 0 + 7, accuracy, truth.to_frame())
    profile = profile_of(tmp_path, accuracy, ids=("row",), targets=("y",))
    recipe, *_ = recipes_for(profile)
    outcome = run_recipe(recipe, profile, tmp_path, tmp_path / "work", monkeypatch)
    assert set(outcome.submission["y"]) == {7}


def test_data_without_a_target_gives_a_profile_with_warnings(tmp_path: Path) -> None:
    (tmp_path / "sample_submission.csv").write_text("row,y\n1,0\n")
    (tmp_path / "broken.json").write_text("{")
    profile = profile_of(tmp_path, accuracy, ids=("row",), targets=("y",))
    assert profile.train is None
    assert profile.warnings


def test_outliers_are_distinguished_from_long_tails() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=2000)
    slipped = noise.copy()
    slipped[:20] += 30
    assert find_outliers(slipped).sum() == 20
    assert not find_outliers(rng.standard_cauchy(2000)).any()


def test_the_time_since_the_last_row_of_a_group_is_measured() -> None:
    when = (
        pd.Series(pd.date_range("2024-01-01", periods=40, freq="h"))
        .sample(frac=1, random_state=0)
        .reset_index(drop=True)
    )
    both = pd.DataFrame({"when": when})
    groups = pd.DataFrame({"shop": when.dt.hour.mod(8)})
    found = time_gap_features(both, groups, ["when"])
    assert list(found) == ["when since last of shop", "when until next of shop"]
    later = when >= pd.Timestamp("2024-01-01 08:00")
    assert np.allclose(np.expm1(found["when since last of shop"][later & (when.dt.day == 1)]), 8 * 60)
    assert found["when since last of shop"][~later].isna().all()


def test_signal_is_significant_and_noise_is_not() -> None:
    rng = np.random.default_rng(0)
    candidate, noise = rng.normal(size=3000), rng.normal(size=3000)
    assert number_significance(candidate, noise + np.sin(2 * candidate)) > 100
    assert number_significance(candidate, noise) < 8
    assert group_significance(rng.integers(0, 20, 3000), noise) < 8


def test_folds_work_for_few_rows_and_fractions() -> None:
    assert len(make_folds(np.array([1.0, 2.0, 3.0]), 5)) == 3
    assert len(make_folds(np.tile([0.5, 1.5], 10), 4)) == 4


def test_scores_agree_with_reference_implementations() -> None:
    from scipy.stats import spearmanr
    from sklearn import metrics

    rng = np.random.default_rng(0)
    truth, prediction = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    probability = rng.integers(0, 9, 200) / 9
    assert quadratic_kappa(truth, prediction) == pytest.approx(
        metrics.cohen_kappa_score(truth, prediction, weights="quadratic")
    )
    assert matthews(truth, prediction) == pytest.approx(metrics.matthews_corrcoef(truth, prediction))
    assert macro_f1(truth, prediction) == pytest.approx(metrics.f1_score(truth, prediction, average="macro"))
    assert f1(truth % 2, prediction % 2) == pytest.approx(metrics.f1_score(truth % 2, prediction % 2))
    assert roc_auc(truth % 2, probability) == pytest.approx(metrics.roc_auc_score(truth % 2, probability))
    assert spearman(truth, probability) == pytest.approx(spearmanr(truth, probability)[0])


def test_boosting_stops_by_held_out_rows() -> None:
    rng = np.random.default_rng(0)
    features, noise, groups = rng.normal(size=(400, 3)), rng.normal(size=400), np.zeros((400, 0), dtype=int)
    held = Stopping((features[300:], groups[300:], noise[300:]), [])
    to_the_end, stopped = (
        boosting(features[:300], groups[:300], noise[:300], 0, one, max_iter=300)(features, groups)
        for one in (None, held)
    )
    assert stopped.std() < to_the_end.std() / 2, "nothing can be learnt from noise"


def test_a_model_of_all_rows_adds_as_many_rounds_as_were_best_before_later_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    added = []

    def fit(
        features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, held: Stopping | None = None
    ) -> PredictRows:
        assert held is not None
        if held.rows is not None:
            held.best.append(len(y))
        added.append((len(y), held.rounds(7)))
        return lambda features, groups: np.zeros(len(features))

    rows = pd.DataFrame({"a": np.arange(60.0)})
    folds = [(np.arange(30), np.arange(30, 40)), (np.arange(20), np.arange(20, 30))]
    monkeypatch.setattr(cross_validation, "CORES", 4)
    cross_validate(rows, pd.DataFrame(index=rows.index), np.arange(50.0), folds, fit, refit=True, until=9.0)
    assert dict(added)[50] == 25
    assert Stopping(None, []).rounds(7) == 7


def test_many_large_residuals_are_no_outliers() -> None:
    residual = np.zeros(100)
    residual[:30] = 5.0
    assert not find_outliers(residual).any(), "residuals are 0 where there was no time"


def test_a_threshold_differs_from_one_half_only_if_that_helps_more_than_chance() -> None:
    rng = np.random.default_rng(0)
    chance = rng.random(2000)
    truth = (rng.random(2000) < chance).astype(int)
    assert best_threshold(truth, chance, accuracy_of) == 0.5
    assert best_threshold(truth, chance**3, accuracy_of) < 0.3
