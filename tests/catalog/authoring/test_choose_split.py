"""The split of a new task: detected from the columns, honest, and explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from podium.catalog.authoring.choose_split import Split
from podium.catalog.authoring.column_roles import is_group, is_time
from podium.catalog.authoring.make_task import draft_task
from podium.catalog.authoring.task_folder import Draft
from podium.data.split import split_later, split_whole_groups, time_values
from podium.errors import UsageError

ROWS = 240


def rows() -> pd.DataFrame:
    """Readings of 30 patients over 80 days, as texts."""
    rng = np.random.default_rng(3)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 80, ROWS), unit="D")
    patient = rng.integers(0, 30, ROWS)
    table = pd.DataFrame({"patient": patient, "day": day, "dose": rng.normal(size=ROWS).round(3)})
    return table.assign(ward=patient % 4, ill=rng.integers(0, 2, ROWS)).astype(str)


def draft(table: pd.DataFrame, **options: Any) -> Draft:
    return draft_task("readings", table, Path("readings.csv"), title="Readings", target="ill", **options)


def divided(made: Draft) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train and test part as the task file of a draft makes them."""
    options = made.split_options()
    if "later" in options:
        return split_later(made.table.rows, options["later"], 0.2)
    return split_whole_groups(made.table.rows, options["together"], 0.2, stratify=made.table.rows[options["stratify"]])


def test_later_rows_are_for_testing_where_rows_have_a_time() -> None:
    made = draft(rows())
    assert (made.split.kind, made.split.column) == ("time", "day")
    train, test = divided(made)
    assert train["day"].max() < test["day"].min()
    assert 0.1 < len(test) / ROWS < 0.3
    assert "`day` is from 2020-03-" in made.split.reason
    assert made.split.reason in made.brief(0, 0, [])


def test_groups_stay_together_where_rows_have_no_time() -> None:
    made = draft(rows().drop(columns="day"))
    assert (made.split.kind, made.split.column) == ("group", "patient")
    train, test = divided(made)
    assert not set(train["patient"]) & set(test["patient"])
    assert made.split.reason.startswith("Rows with the same `patient` stay together, because a model")


def test_rows_are_drawn_at_random_where_nothing_speaks_against_it() -> None:
    made = draft(rows()[["dose", "ward", "ill"]])
    assert made.split == Split(
        "random",
        None,
        "Test rows were drawn at random, with the same share of each class on both sides: no column tells of times or "
        "of groups that rows belong to.",
    )
    assert made.split_options() == {"stratify": "ill"}


def test_requested_split_is_used() -> None:
    assert draft(rows(), group="ward").split.column == "ward"
    assert draft(rows(), at_random=True).split.reason.endswith("on both sides: as was asked for.")


def test_a_split_that_would_hide_a_class_is_not_made() -> None:
    table = (
        rows().drop(columns="patient").assign(ill=lambda table: (table["day"] > "2020-03-01").astype(int).astype(str))
    )
    made = draft(table)
    assert made.split.kind == "random"
    assert (
        "A split by time, with `day`, was not possible: the test part would have only one class." in made.split.reason
    )


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("when", [f"2021-03-{day:02d}" for day in range(1, 29)], True),
        ("when", [f"{day:02d}.03.2021 10:00" for day in range(1, 29)], True),
        ("when", [f"Mar {day:02d} 2021" for day in range(1, 29)], True),
        ("year", [str(year) for year in range(1970, 2000)], True),
        ("year_built", [str(year) for year in range(1970, 2000)], False),
        ("price", [str(year) for year in range(1970, 2000)], False),
        ("year", [str(number) for number in range(30)], False),
        ("day", ["2021-03-01", "2021-03-02"] * 15, False),
        ("when", ["", *(f"2021-03-{day:02d}" for day in range(1, 10))], False),
    ],
)
def test_times_are_recognised(name: str, cells: list[str], expected: bool) -> None:
    assert is_time(pd.Series(cells, name=name)) is expected


def test_groups_are_distinguished_from_categories_by_constant_columns() -> None:
    model = [f"model {number // 3}" for number in range(90)]
    table = pd.DataFrame({"name": model, "colour": ["red", "blue", "green"] * 30, "y": range(90)}).astype(str)
    assert not is_group(table, "name", "y")
    assert is_group(table.assign(maker=[text[-1] for text in model]), "name", "y")
    assert not is_group(table, "colour", "y")


def test_times_grow_and_blanks_are_for_training() -> None:
    cells = pd.Series([f"2021-01-{day:02d}" for day in range(1, 21)] + [""] * 5, name="day")
    assert np.all(np.diff(time_values(cells)[:20]) > 0)
    train, test = split_later(cells.to_frame(), "day", 0.2)
    assert set(test["day"]) == {f"2021-01-{day}" for day in range(16, 21)}
    assert (train["day"] == "").sum() == 5


def houses(name: str, count: int, per_house: int = 12) -> pd.DataFrame:
    """Readings of houses that are each all ill or all well."""
    rng = np.random.default_rng(4)
    house = np.repeat(np.arange(count), per_house)
    return pd.DataFrame({name: house, "dose": rng.normal(size=len(house)), "ill": house % 2}).astype(str)


def test_groups_of_one_class_each_stay_together() -> None:
    made = draft(houses("patient", 20))
    assert (made.split.kind, made.split.column) == ("group", "patient")
    train, test = divided(made)
    assert not set(train["patient"]) & set(test["patient"])


def test_requested_split_column_is_kept() -> None:
    assert draft(houses("house", 10), group="house").split.column == "house"
    counted = rows().drop(columns="day").assign(time_index=[str(number) for number in range(ROWS)])
    made = draft(counted, time="time_index")
    train, test = divided(made)
    assert train["time_index"].astype(int).max() < test["time_index"].astype(int).min()


def test_a_group_that_tells_the_class_and_keeps_no_rows_together_is_left_out() -> None:
    made = draft(houses("patient", 20), at_random=True)
    assert "patient" not in made.table.rows
    assert made.table.notes == ("Left out: columns that give 'ill' away (patient).",)


def test_a_split_that_leaves_one_row_of_a_class_to_learn_from_is_not_made() -> None:
    table = rows().drop(columns="patient").sort_values("day", ignore_index=True)
    table["ill"] = ["rare", *["yes", "no"] * 117, *["rare"] * 5]
    made = draft(table)
    assert made.split.kind == "random"
    assert "there would be a single row of the class 'rare' to learn from" in made.split.reason


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("subject", [f"S{number % 30:02d}" for number in range(10_000)], True),
        ("site_code", [f"S{number % 30:02d}" for number in range(10_000)], True),
        ("USUBJID", [f"S{number % 30:02d}" for number in range(10_000)], True),
        ("patient", [f"Anna{'abcdefghij'[number % 10]}" for number in range(10_000)], True),
        *((name, [str(number % 30) for number in range(300)], True) for name in ("userid", "patientid", "CUSTOMERID")),
        ("state_code", ["abcdefghij"[number % 10] for number in range(10_000)], False),
        ("paid", [str(number % 30) for number in range(300)], False),
    ],
)
def test_group_names_are_recognised_in_any_spelling(name: str, cells: list[str], expected: bool) -> None:
    table = pd.DataFrame({name: cells, "dose": [str(number) for number in range(len(cells))]})
    assert is_group(table, name, "dose") is expected


@pytest.mark.parametrize("odd", ["9999-12-31", "0000-00-00", "unknown"])
def test_single_cells_that_are_no_times_are_for_training(odd: str) -> None:
    made = draft(rows().assign(day=lambda table: table["day"].where(table.index % 40 > 0, odd)))
    assert (made.split.kind, made.split.column) == ("time", "day")
    train, test = divided(made)
    assert (train["day"] == odd).sum() == 6 and odd not in set(test["day"])
    assert "Earlier rows are in `train.csv`, as are 6 rows without a time." in made.split.reason
    assert np.isfinite(next(column.quantiles for column in made.columns if column.name == "day")).all()


def test_a_cell_that_is_written_unlike_the_other_times_is_named() -> None:
    table = rows().assign(day=lambda table: table["day"].where(table.index % 3 > 0, "5.3.21"))
    with pytest.raises(UsageError, match=r"too few of its cells are numbers or times.*, '5\.3\.21' is not"):
        draft(table, time="day")


@pytest.mark.parametrize("name", ["date_of_birth", "birthday", "born", "DOB", "patientDOB", "built_on"])
def test_date_of_birth_is_not_a_time_of_recording(name: str) -> None:
    assert not is_time(pd.Series([f"1981-03-{day:02d}" for day in range(1, 29)], name=name))


def test_test_times_are_parsed_with_the_whole_column() -> None:
    days = [f"{day}/0{month}/2021" for month in (1, 2, 3) for day in range(13, 29)]
    days += [f"{day:02d}/05/2021" for day in range(1, 13)]
    made = draft(
        pd.DataFrame({"day": days * 4, "dose": range(240), "ill": [n % 7 % 2 for n in range(240)]}).astype(str)
    )
    assert "`day` is from 2021-05-01 to 2021-05-12 there" in made.split.reason
