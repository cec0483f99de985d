"""What recipes make of columns: dates however they are written, lists in cells, sequences of rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe

from podium import metrics
from podium.data.split import time_values
from podium.recipes.kit.inputs.table_features import (
    date_features,
    drop_drifting,
    group_features,
    listed_items,
    sequence_features,
)
from podium.recipes.kit.learning.fit_models import additive
from podium.tables.dates import DATE, parse_dates

DAYS = pd.Series(pd.date_range("2014-05-03", "2015-07-20", periods=200).floor("min"))
WITH_TIME = ("%Y-%m-%d %H:%M", "%Y%m%dT%H%M", "%d %b %Y %H:%M", "%Y/%m/%d %H.%M", "%d.%m.%Y %H:%M", "%d.%m.%Y %H.%M")
WITHOUT = ("%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%b %d, %Y", "%d %B %Y", "%d-%b-%y")


@pytest.mark.parametrize("written", [*WITH_TIME, *WITHOUT])
def test_dates_are_understood_however_they_are_written(written: str) -> None:
    cells = DAYS.dt.strftime(written)
    assert cells.map(lambda cell: bool(DATE.match(cell))).all()
    expected = DAYS if written in WITH_TIME else DAYS.dt.normalize()
    assert parse_dates(cells).equals(expected)
    assert parse_dates(cells, utc=True).dt.tz_localize(None).equals(expected)
    # The rest of Podium splits rows by them: scripts cannot import what it reads dates with.
    assert pd.to_datetime(pd.Series(time_values(cells)), unit="s").astype(expected.dtype).equals(expected)


@pytest.mark.parametrize("cell", ["", "12.5", "a-1-2", "1/2", "2014", "20140504", "12345678", "room 12-May", "1.2.3"])
def test_other_cells_are_not_taken_for_dates(cell: str) -> None:
    assert not DATE.match(cell)


def test_what_is_not_a_date_is_missing_and_a_group_of_its_own() -> None:
    cells = pd.Series(["2020-01-01", None, "unknown", "2020-02-01"] * 5)
    assert parse_dates(cells).isna().tolist() == [False, True, True, False] * 5
    codes = group_features(pd.DataFrame({"day": cells}), [], ["day"])
    assert (codes >= 0).all().all() and codes["month of day"].nunique() == 3


def test_items_that_cells_list_are_told_apart() -> None:
    remarks = pd.Series(["late; wet", "wet", None, "late", "wet;late", "dry"] * 10)
    names = pd.Series([f"Smith {number}, John" for number in range(60)])
    found = listed_items(pd.DataFrame({"remark": remarks, "name": names}), ["remark", "name"])
    assert set(found) == {"remark lists late", "remark lists wet", "remark lists dry"}
    assert found["remark lists late"].tolist() == [1, 0, 0, 1, 1, 0] * 10


def test_numbers_of_the_steps_around_a_row_are_averaged() -> None:
    rows = pd.DataFrame({"ship": ["a"] * 3 + ["b"] * 3, "step": [2, 0, 1, 0, 1, 2], "load": [6.0, 0, 3, 10, 10, 40]})
    found = sequence_features(rows, ["load"], "ship", "step")
    assert found["load less mean of ship"].tolist() == [3, -3, 0, -10, -10, 20]
    assert found["load, 1 around"].tolist() == [4.5, 1.5, 3, 10, 20, 25]
    assert found["load less mean of ship, 1 around"].tolist() == [1.5, -1.5, 0, -10, 0, 5]


def test_states_that_last_are_learnt_from_the_steps_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    ships, steps = 60, 30
    states = np.repeat(rng.integers(0, 2, (ships, steps // 6)), 6, axis=1)
    rows = pd.DataFrame(
        {
            "row": np.arange(ships * steps),
            "ship": np.repeat([f"SH{number:03d}" for number in range(ships)], steps),
            "step": np.tile(np.arange(steps), ships),
            "load": (states + rng.normal(size=states.shape)).ravel(),
            "state": np.where(states.ravel() == 1, "fog", "clear"),
        }
    )
    train, test = rows[:1200], rows[1200:]
    train.to_csv(tmp_path / "train.csv", index=False)
    test.drop(columns="state").to_csv(tmp_path / "test.csv", index=False)
    test[["row"]].assign(state="fog").to_csv(tmp_path / "sample_submission.csv", index=False)
    profile = profile_of(tmp_path, metrics.accuracy, ids=("row",), targets=("state",))
    assert profile.sequence == ("ship", "step")
    outcome = run_recipe(recipe_for(profile, "quick boosting"), profile, tmp_path, tmp_path / "script", monkeypatch)
    reached = metrics.accuracy(test["state"].to_numpy(), outcome.submission["state"].to_numpy())
    assert reached > 0.75, "a step alone tells 69 of 100"


def test_a_time_of_the_year_that_train_has_not_seen_is_left_out() -> None:
    numbers = pd.DataFrame({"days": np.arange(10.0), "day of year": [1, 2, 3, 4, 5, 6, 7, 8, 1, 2]})
    assert list(drop_drifting(numbers, 6)) == []
    assert list(drop_drifting(numbers, 6, ["days"])) == ["days"]
    assert list(drop_drifting(numbers, 8)) == ["day of year"]


def test_smooth_effects_do_not_go_on_beyond_what_was_seen() -> None:
    x = np.linspace(1, 10, 200)[:, None]
    none = np.zeros((200, 0), dtype=int)
    predict = additive(x, none, 3 * x.ravel(), 0)
    beyond = predict(np.array([[10.0], [1000.0]]), none[:2])
    assert beyond[0] == pytest.approx(30, abs=1.5) and beyond[1] == pytest.approx(beyond[0])


SUMMER = ["2020-03-28T09:30:00+01:00", "2020-03-30T09:30:00+02:00", "2020-03-30T09:30:00Z", None]


def test_dates_with_other_distances_from_utc_in_summer_are_what_the_clock_said() -> None:
    cells = pd.Series([*SUMMER, "2020-03-31T09:30:00"])
    found = parse_dates(cells)
    assert found.dropna().dt.strftime("%H:%M").tolist() == ["09:30"] * 4 and found.isna().tolist()[3]
    moments = parse_dates(cells, utc=True).dropna()
    assert moments.dt.strftime("%H:%M").tolist() == ["08:30", "07:30", "09:30", "09:30"]
    columns = date_features(pd.DataFrame({"sent": pd.concat([cells] * 3, ignore_index=True)}), ["sent"])
    assert columns["sent day of month"].nunique() == 3 and "sent hour" not in columns


@pytest.mark.parametrize(
    ("before", "after"),
    [("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S+02:00"), ("%d/%m/%Y", "%d/%m/%Y")],
    ids=["only test has time zones", "only test has days after the 12th"],
)
def test_times_of_train_and_test_are_read_in_the_same_way(before: str, after: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    early = pd.Series(pd.date_range("2020-01-02", "2020-03-02", freq="h"))
    early = early[early.dt.day <= 10].sample(100, random_state=0, ignore_index=True)
    late = pd.Series(pd.date_range("2020-04-13", "2020-04-28", periods=60))
    rows = pd.DataFrame({"row": rng.permutation(900)[:160], "load": rng.normal(size=160), "y": rng.normal(size=160)})
    rows["sent"] = [*early.dt.strftime(before), *late.dt.strftime(after)]
    rows[:100].to_csv(tmp_path / "train.csv", index=False)
    rows[100:].drop(columns="y").to_csv(tmp_path / "test.csv", index=False)
    rows[100:][["row"]].assign(y=0.0).to_csv(tmp_path / "sample_submission.csv", index=False)
    profile = profile_of(tmp_path, metrics.rmse, ids=("row",), targets=("y",))
    assert profile.time == "sent", profile.warnings
