"""Columns: what they hold, and small tables drawn from that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from podium.data.columns import Column, count_possible_rows, describe_column, draw_table, read_columns, write_columns


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["3", "1", "", "2"], {"kind": "number", "whole": True, "missing": 0.25}),
        (["0.5", "1e3", "-2"], {"kind": "number", "whole": False}),
        (["1", "2", "x"] * 4, {"kind": "category", "missing": 0.0}),
        (["a", "b", "NA", "a"], {"kind": "category", "shares": {"a": 0.6667, "b": 0.3333}, "missing": 0.25}),
        ([f"one of {n} notes" for n in range(40)], {"kind": "text", "words": 4}),
        (["inf", "1"] * 3, {"kind": "category"}),
        (["", "NaN"], {"kind": "category", "missing": 1.0, "shares": {}}),
    ],
)
def test_column_descriptions(cells: list[str], expected: dict[str, object]) -> None:
    column = describe_column(pd.Series(cells, name="c"))
    assert {name: getattr(column, name) for name in expected} == expected


def test_numbers_can_be_classes() -> None:
    column = describe_column(pd.Series(["1", "2", "2"], name="grade"), classes=True)
    assert column.shares == {"2": 0.6667, "1": 0.3333}


COLUMNS = [
    Column("id", "id"),
    Column("age", "number", 0.1, tuple(np.linspace(18, 90, 21)), whole=True),
    Column("height", "number", 0.0, tuple(np.linspace(1.4, 2.0, 21))),
    Column("town", "category", shares={"Ulm": 0.97, "Bern": 0.03}),
    Column("empty", "category", 1.0),
    Column("note", "text", words=5),
    Column("species", "category", shares={f"s{n}": 0.9 if n == 0 else 0.004 for n in range(26)}),
]


def test_columns_survive_the_round_trip(tmp_path: Path) -> None:
    write_columns(COLUMNS, tmp_path / "columns.json")
    assert read_columns(tmp_path / "columns.json") == COLUMNS


def test_a_drawn_table_has_the_columns_values_and_every_class_often_enough_to_split() -> None:
    table = draw_table(COLUMNS, target="species", rng=np.random.default_rng(0))
    assert list(table.columns) == [column.name for column in COLUMNS]
    assert table["id"].is_unique
    ages = table["age"][table["age"] != ""]
    assert 0 < len(table) - len(ages) < len(table) / 4
    assert ages.between(18, 90).all() and all(isinstance(age, int) for age in ages)
    assert set(table["town"]) == {"Ulm", "Bern"}
    assert set(table["empty"]) == {""}
    assert table["species"].value_counts().min() >= 2
    assert table["species"].nunique() == 26


def test_the_target_of_a_drawn_table_can_be_learnt() -> None:
    columns = [*COLUMNS[:4], Column("price", "number", 0.0, tuple(np.linspace(0, 1000, 21)))]
    table = draw_table(columns, target="price", rng=np.random.default_rng(0))
    assert np.corrcoef(table["height"].astype(float), table["price"].astype(float))[0, 1] > 0.3


def test_a_column_of_times_may_have_single_cells_that_are_none() -> None:
    days = [f"{day:02d}/{month:02d}/2021" for month in (1, 2) for day in range(1, 29)]
    column = describe_column(pd.Series([*days, "31/12/9999", "unknown"], name="day"))
    assert (column.kind, column.written) == ("time", "%d/%m/%Y")
    assert np.isfinite(column.quantiles).all()
    assert describe_column(pd.Series([*days, *["unknown"] * 9], name="day")).kind == "text"


@pytest.mark.parametrize(
    ("cells", "endless"),
    [
        ([f"the house at number {n} is old" for n in range(100)], True),
        (["CCOC(=O)C" * 3 + "CN" * n for n in range(100)], True),
        ([f"{n / 7:.8f}" for n in range(1, 101)], True),
        ([f"201206{n % 30 + 1:02d}{n % 24:02d}2155Z" for n in range(100)], False),
        ([str(n) for n in range(100)], False),
        (["a text that many rows share", "and another one of them"] * 50, False),
    ],
)
def test_how_many_rows_are_possible_depends_on_what_can_be_repeated_by_chance(cells: list[str], endless: bool) -> None:
    assert np.isinf(count_possible_rows(pd.DataFrame({"c": cells, "d": "x"}))) == endless
