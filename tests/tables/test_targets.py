"""Which rows are to be predicted, and which column holds the truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe

from podium.metrics import accuracy, log_loss, rmse, roc_auc
from podium.recipes.kit.learning.cross_validation import encode_classes
from podium.tables import describe_tables

ROWS, TRAIN = 300, 200


def write(public: Path, train: pd.DataFrame, test: pd.DataFrame, targets: tuple[str, ...]) -> None:
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(public / "test.csv", index=False)
    test[["row"]].assign(**dict.fromkeys(targets, 0.3)).to_csv(public / "sample_submission.csv", index=False)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"row": np.arange(ROWS) + 500, "a": rng.normal(size=ROWS)})


def test_a_column_that_test_has_too_is_not_the_class(tmp_path: Path) -> None:
    targets = ("class_0", "class_1", "class_2")
    rows = table().assign(is_new=np.arange(ROWS) % 2, checked=np.arange(ROWS) % 2, kind=np.arange(ROWS) % 3)
    write(tmp_path, rows[:TRAIN], rows[TRAIN:][["row", "a", "is_new"]], targets)
    profile = profile_of(tmp_path, log_loss, ids=("row",), targets=targets)
    assert profile.labels == ("kind",) and profile.classes == (0, 1, 2), "checked has two of the three names"
    assert "is_new" in [column.name for column in profile.features]


def test_a_list_that_test_has_too_is_not_the_truth(tmp_path: Path) -> None:
    targets = ("blue", "green", "red")
    lists = np.array(["red,blue", "green", "blue,green"])
    rows = table().assign(worn=lists[np.arange(ROWS) % 3], liked=lists[np.arange(ROWS) // 7 % 3])
    write(tmp_path, rows[:TRAIN], rows[TRAIN:][["row", "a", "worn"]], targets)
    profile = profile_of(tmp_path, roc_auc, ids=("row",), targets=targets)
    assert profile.labels == ("liked",) and profile.separator == ","


def test_ids_that_begin_with_zeros_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table().assign(row=[f"{number:05d}" for number in range(ROWS)], y=lambda rows: rows["a"] * 2)
    write(tmp_path, rows[:TRAIN], rows[TRAIN:].drop(columns="y"), ("y",))
    profile = profile_of(tmp_path, rmse, ids=("row",), targets=("y",))
    assert profile.test is not None and profile.key == "row"
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "work", monkeypatch)
    assert np.corrcoef(outcome.submission["y"], rows["y"][TRAIN:])[0, 1] > 0.8


def test_of_two_tables_with_the_ids_the_one_without_targets_is_test(tmp_path: Path) -> None:
    rows = table().assign(row=[*range(TRAIN), *range(ROWS - TRAIN)], y=lambda rows: rows["a"] * 2)
    rows[:TRAIN].to_csv(tmp_path / "years_before.csv", index=False)
    rows[TRAIN:].drop(columns="y").to_csv(tmp_path / "this_year.csv", index=False)
    rows[TRAIN:][["row"]].assign(y=0.0).to_csv(tmp_path / "sample_submission.csv", index=False)
    profile = profile_of(tmp_path, rmse, ids=("row",), targets=("y",))
    assert profile.train is not None and profile.train.file == "years_before.csv"
    assert profile.test is not None and profile.test.file == "this_year.csv"


def test_words_for_nothing_are_classes_and_ids_like_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table().assign(row=[f"R{number}" for number in range(ROWS)])
    rows["y"] = np.select([rows["a"] < -0.4, rows["a"] < 0.4], ["NA", "None"], "some")
    rows.loc[[TRAIN, TRAIN + 1], "row"] = ["NA", "null"]
    write(tmp_path, rows[:TRAIN], rows[TRAIN : TRAIN + 12].drop(columns="y"), ("y",))
    profile = profile_of(tmp_path, accuracy, ids=("row",), targets=("y",))
    assert profile.classes == ("NA", "None", "some") and profile.test is not None
    run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "work", monkeypatch)
    submission = pd.read_csv(tmp_path / "work" / "submission.csv", keep_default_na=False)
    assert (submission["y"].to_numpy() == rows["y"][TRAIN : TRAIN + 12].to_numpy()).mean() > 0.6
    assert set(submission["y"][:2]) <= set(profile.classes), "their ids are those of rows of test"


def test_such_words_among_numbers_are_missing(tmp_path: Path) -> None:
    rows = table().assign(y=lambda rows: rows["a"].round(2).astype(str).where(rows.index % 5 > 0, "NA"))
    write(tmp_path, rows[:TRAIN], rows[TRAIN:].drop(columns="y"), ("y",))
    assert profile_of(tmp_path, rmse, ids=("row",), targets=("y",)).goal == "regression"


@pytest.mark.parametrize("names", [["calm", "None", "storm"], [0, 1, 2]], ids=["words", "numbers"])
def test_classes_of_late_rows_are_known(
    names: list[str | int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describe_tables, "MAX_ROWS", 120)
    rows = table().sort_values("a", ignore_index=True).assign(row=np.arange(ROWS))
    rows["y"] = np.array(names, dtype=object)[np.arange(ROWS) // 100]
    rows.loc[[150, 190, 250], "y"] = None
    asked = rows[::4]
    write(tmp_path, rows, asked.assign(row=asked["row"] + 500).drop(columns="y"), ("y",))
    profile = profile_of(tmp_path, accuracy, ids=("row",), targets=("y",))
    assert sorted(profile.classes, key=names.index) == names and profile.train.is_truncated
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "work", monkeypatch)
    assert outcome.metric > 0.8
    submission = pd.read_csv(tmp_path / "work" / "submission.csv", dtype=str, keep_default_na=False)
    assert set(submission["y"]) == {str(name) for name in names}


def test_whole_numbers_are_the_same_classes_with_and_without_a_point() -> None:
    assert encode_classes(pd.Series([0.0, 1.0, np.nan, 3.0]), [0, 1]).tolist() == [0, 1, -1, -1]
    assert encode_classes(pd.Series([2, 1]), [1.0, 2.0]).tolist() == [1, 0]


def test_a_target_whose_class_train_lacks_is_submitted_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = ("class_0", "class_1", "class_2", "class_3")
    rows = table().assign(kind=lambda rows: pd.cut(rows["a"], [-9, -0.5, 0.5, 9], labels=False))
    write(tmp_path, rows[:TRAIN], rows[TRAIN:].drop(columns="kind"), targets)
    profile = profile_of(tmp_path, log_loss, ids=("row",), targets=targets)
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "work", monkeypatch)
    found = outcome.submission[list(targets)].to_numpy()
    assert np.allclose(found.sum(axis=1), 1) and (found[:, 3] < 0.01).all()
    assert (found.argmax(axis=1) == rows["kind"][TRAIN:]).mean() > 0.8
