"""Rows of one group stay together, and what test does not know of groups is not learnt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, run_script

from podium.metrics import rmse
from podium.recipes.kinds import table_recipes, text_recipes
from podium.recipes.kit.learning.cross_validation import make_folds
from podium.recipes.script_writer import write_script
from podium.tables import describe_tables
from podium.tables.profile import Profile

GROUPS, SIZE = 60, 8
RNG = np.random.default_rng(0)
IS_NEW = RNG.permutation(np.arange(GROUPS) % 3 == 0)
"""Which groups are those of test, where they are drawn."""
WORDS = np.array(["calm", "storm", "harbour", "sails", "anchor", "tide", "gull", "rope", "mast", "deck"])


def profile_by_group(public: Path, names: np.ndarray, is_new: np.ndarray, **columns: np.ndarray) -> Profile:
    """A task with so many rows of each group, some groups in train and the others in test."""
    rows = pd.DataFrame({"row": RNG.permutation(90_000)[: GROUPS * SIZE], "ship": np.repeat(names, SIZE)})
    level = np.repeat(RNG.normal(0, 3, GROUPS), SIZE)
    rows = rows.assign(load=RNG.normal(size=len(rows)), **columns, y=level + RNG.normal(size=len(rows)))
    asked = np.repeat(is_new, SIZE)
    rows[~asked].to_csv(public / "train.csv", index=False)
    rows[asked].drop(columns="y").to_csv(public / "test.csv", index=False)
    rows[asked][["row"]].assign(y=0.0).to_csv(public / "sample_submission.csv", index=False)
    return profile_of(public, rmse, ids=("row",), targets=("y",))


def kept_groups(source: str, public: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The groups that models learn from after some source."""
    body = f'{source}\ngroups.head(1).to_csv("submission.csv", index=False)\n'
    script = write_script("Groups.", body, recipe="test")
    return list(run_script(script, public, folder, monkeypatch).submission)


def test_targets_of_groups_that_test_does_not_have_are_not_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = np.array([f"ship {number}" for number in RNG.permutation(GROUPS)])
    sentences = np.array([" ".join(RNG.choice(WORDS, 6)) for _ in range(GROUPS * SIZE)])
    kinds = RNG.choice(["cargo", "mail"], GROUPS * SIZE)
    profile = profile_by_group(tmp_path, names, IS_NEW, kind=kinds, remark=sentences)
    assert profile.group == "ship" and profile.of_kind("text") == ["remark"]
    source = table_recipes.table_source(profile) + table_recipes.feature_source(profile, {"relative": True})
    found = kept_groups(source, tmp_path, tmp_path / "table", monkeypatch)
    assert "kind" in found and "ship" not in found
    source = text_recipes.text_source(profile, {"quotes": False, "folds": 2}, 10**6)
    found = kept_groups(source, tmp_path, tmp_path / "text", monkeypatch)
    assert "kind" in found and "ship" not in found


def test_rows_without_a_group_stay_together() -> None:
    group = pd.Series(["a", "a", None, None, "b", "b", np.nan, "c"])
    folds = make_folds(np.arange(8.0), 2, group)
    assert len(folds) == 2
    for learn, check in folds:
        assert not set(group[learn].astype(str)) & set(group[check].astype(str))


def test_groups_that_are_numbered_are_groups(tmp_path: Path) -> None:
    steps = np.tile(np.arange(SIZE), GROUPS)
    profile = profile_by_group(tmp_path, np.arange(GROUPS) + 1, IS_NEW, step=steps)
    assert (profile.group, profile.time, profile.sequence) == ("ship", None, ("ship", "step"))


def test_groups_with_numbers_after_those_of_train_are_not_times(tmp_path: Path) -> None:
    """Rows of one group resemble each other, but those of neighbouring groups do not."""
    profile = profile_by_group(tmp_path, np.arange(GROUPS) + 1, np.arange(GROUPS) >= 50)
    assert (profile.group, profile.time) == ("ship", None)


def test_numbers_that_test_has_as_well_are_no_groups(tmp_path: Path) -> None:
    profile = profile_by_group(tmp_path, np.arange(GROUPS) // 2, np.arange(GROUPS) % 2 == 0)
    assert (profile.group, profile.time) == (None, None)


@pytest.mark.parametrize("name", ["year", "week_number", "Day", "step", "trend", "lap"])
def test_numbers_that_repeat_are_times_by_their_name_or_if_neighbours_resemble_each_other(
    name: str, tmp_path: Path
) -> None:
    counted = np.repeat(np.arange(100) + 1900, 4)
    smooth = 10 * np.sin(counted / 9) if name == "lap" else 0.0
    assert time_of(tmp_path, name, counted, smooth + RNG.normal(size=400)) == name


@pytest.mark.parametrize(("name", "time"), [("year", "year"), ("wave", "wave"), ("grade", None)])
def test_a_few_numbers_are_times_by_their_name(name: str, time: str | None, tmp_path: Path) -> None:
    assert time_of(tmp_path, name, np.repeat(np.arange(5), 80), RNG.normal(size=400)) == time


def time_of(folder: Path, name: str, counted: np.ndarray, y: np.ndarray) -> str | None:
    """What is found to be the time where the last fifth of 400 rows is to be predicted."""
    rows = pd.DataFrame({"row": RNG.permutation(9000)[:400], "load": RNG.normal(size=400), name: counted, "y": y})
    rows[:320].to_csv(folder / "train.csv", index=False)
    rows[320:].drop(columns="y").to_csv(folder / "test.csv", index=False)
    rows[320:][["row"]].assign(y=0.0).to_csv(folder / "sample_submission.csv", index=False)
    return profile_of(folder, rmse, ids=("row",), targets=("y",)).time


def test_groups_of_late_rows_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe_tables, "MAX_ROWS", 240)
    is_new = np.arange(GROUPS) >= 50
    assert profile_by_group(tmp_path, np.arange(GROUPS), is_new).group == "ship"
    late = np.r_[np.arange(50), np.arange(30, 40)]
    assert profile_by_group(tmp_path, late, is_new).group is None, "rows of train that were not read at first have them"
