"""What becomes of the rows, columns and cells of somebody's table before it is a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from podium.catalog.authoring.choose_goal import SubmissionGoal, choose_goal
from podium.catalog.authoring.column_roles import is_id
from podium.catalog.authoring.make_task import draft_task
from podium.catalog.authoring.source_table import Table, clean_table
from podium.data.columns import describe_column
from podium.data.fabricate import sentences
from podium.errors import UsageError

ROWS = 200


def cleaned(columns: dict[str, Any], target: str | None = "kind", **options: Any) -> tuple[Table, SubmissionGoal]:
    """A table that has been cleaned, and its goal."""
    cells = pd.DataFrame(columns).astype(str)
    options = {"metric": None, "id_column": None, **options}
    return clean_table(cells, Path("things.csv"), target=target, **options)


def kinds(count: int = ROWS) -> list[str]:
    return [str(kind) for kind in np.random.default_rng(9).choice(["a", "b", "c"], count)]


def texts(count: int = ROWS) -> list[str]:
    return [f"{text} {number}" for number, text in enumerate(sentences(np.random.default_rng(0), count))]


def test_rows_that_repeat_a_text_are_left_out() -> None:
    table, _ = cleaned({"text": [*texts(), *texts()[:40]], "kind": kinds(ROWS + 40)})
    assert table.notes == ("Left out: 40 duplicates of other rows, alike in all columns but the target.",)
    assert sorted(table.rows["text"]) == sorted(texts())


def test_texts_that_occur_three_times_each_are_copies_too() -> None:
    table, _ = cleaned({"text": texts() * 3, "kind": kinds(ROWS * 3)})
    assert len(table.rows) == ROWS


def test_rows_with_repeated_long_decimals_are_left_out() -> None:
    places = np.random.default_rng(0).uniform(0, 90, (ROWS, 2)).round(6)
    places = np.concatenate([places, places[:30]])
    table, _ = cleaned({"north": places[:, 0], "east": places[:, 1], "kind": kinds(ROWS + 30)})
    assert len(table.rows) == ROWS


def test_a_zero_among_decimals_is_no_copy_of_another() -> None:
    balances = np.where(np.arange(ROWS) % 8 == 0, 0, np.random.default_rng(0).uniform(0, 90, ROWS).round(6))
    table, _ = cleaned({"student": ["yes", "no"] * (ROWS // 2), "balance": balances, "kind": kinds()})
    assert len(table.rows) == ROWS


def test_rows_that_are_alike_by_chance_are_kept() -> None:
    rng = np.random.default_rng(0)
    table, _ = cleaned({"colour": rng.choice(["red", "blue"], ROWS), "size": rng.integers(1, 9, ROWS), "kind": kinds()})
    assert len(table.rows) == ROWS
    assert table.notes == ("Many rows look alike, because the columns hold few values: all of them were kept.",)


def test_too_few_rows_beside_their_copies_are_refused() -> None:
    with pytest.raises(UsageError, match="has 30 different rows with a 'kind'; a task needs at least 50"):
        cleaned({"text": texts(30) * 2, "kind": kinds(60)})


def test_a_class_that_is_rare_without_copies_is_left_out() -> None:
    table, goal = cleaned({"text": [*texts(), *texts()[:1] * 9], "kind": ["d", *kinds(ROWS - 1), *"d" * 9]})
    assert sorted(goal.classes) == ["a", "b", "c"]
    assert table.notes[-1] == "Left out: classes with fewer than 5 rows (d)."


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("index", np.random.default_rng(0).permutation(ROWS)),
        ("", np.flatnonzero(np.arange(3 * ROWS) % 3 == 1)),
        ("Unnamed: 0", [*range(120), *range(80)]),
        ("obs", range(5, ROWS + 5)),
        ("rownames", range(1, ROWS + 1)),
    ],
    ids=["shuffled", "filtered", "put together", "cut off", "in order"],
)
def test_columns_that_number_rows_are_left_out_and_hide_no_copies(name: str, numbers: Any) -> None:
    things = [*texts(ROWS - 10), *texts(10)]
    table, _ = cleaned({name: list(numbers), "text": things, "kind": kinds()})
    assert table.notes[0] == f"Left out: the column '{name}', which numbers the rows of the file."
    assert len(table.rows) == ROWS - 10


def test_names_of_rows_that_do_not_count_stay() -> None:
    table, _ = cleaned({"rownames": np.arange(ROWS) * 7, "text": texts(), "kind": kinds()})
    assert "rownames" in table.rows


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ("id", "ID", "tree_id", "PassengerId", "CUSTOMERID", "userid", "PID", "row_index")),
        *((name, False) for name in ("amount_paid", "bid", "fluid", "grid", "Valid")),
    ],
)
def test_ids_are_distinguished_from_measurements_by_name(name: str, expected: bool) -> None:
    assert is_id(pd.Series([str(3 * number) for number in range(60)], name=name)) is expected


def test_decimals_name_no_rows() -> None:
    assert not is_id(pd.Series([f"{number}.5" for number in range(60)], name="body_mass_index"))
    table, _ = cleaned({"amount_paid": np.arange(ROWS) * 7 + 10, "text": texts(), "kind": kinds()})
    assert (table.id, table.new_id) == ("id", True)


def test_a_target_is_not_what_rows_are_split_by() -> None:
    cells = pd.DataFrame({"dose": np.arange(ROWS) / 7, "ill": kinds(), "ward": np.arange(ROWS) % 10}).astype(str)
    made = draft_task("readings", cells, Path("readings.csv"), title="Readings", group="ward")
    assert (made.table.target, made.split.column) == ("ill", "ward")


def test_a_cell_of_the_target_that_is_no_number_is_named() -> None:
    prices = [f"{1000 + 3 * number}" for number in range(ROWS)]
    with pytest.raises(UsageError, match=r"holds numbers, but '\?' is none \(2 rows of 200 without one\)"):
        cleaned({"text": texts(), "price": [*prices[:-2], "?", "?"]}, "price")


def test_single_cells_of_a_feature_that_are_no_numbers_are_made_blank() -> None:
    incomes = [str(700 + 13 * number) for number in range(ROWS)]
    table, _ = cleaned({"income": [*incomes[:-3], "?", "?", "$1,200"], "text": texts(), "kind": kinds()})
    assert table.notes == ("Made blank: cells beside numbers that are none, 3 of 'income' ('?').",)
    column = describe_column(table.rows["income"])
    assert (column.kind, column.missing) == ("number", 0.015)


def test_codes_of_which_some_have_letters_stay() -> None:
    codes = [*(str(250 + number) for number in range(ROWS - 6)), "V58", "V12", "E850", "V10", "E11", "E78"]
    table, _ = cleaned({"diagnosis": codes, "text": texts(), "kind": kinds()})
    assert list(table.rows["diagnosis"]) == codes


def test_decimal_commas_are_read_as_points_but_thousands_are_not() -> None:
    rooms = [f"{number},{number % 10}" for number in range(ROWS)]
    prices = [f"{1 + number},{200 + number}" for number in range(ROWS)]
    table, goal = cleaned({"price": prices, "text": texts(), "size": rooms}, "size")
    assert goal.prediction == "number"
    assert table.notes == ("Written with a decimal comma, and read as numbers: size.",)
    assert list(table.rows["size"][:2]) == ["0.0", "1.1"]
    assert list(table.rows["price"]) == prices


def test_classes_that_are_whole_numbers_are_written_so() -> None:
    table, goal = cleaned({"text": texts(), "grade": [f"{number % 3}.0" for number in range(ROWS)]}, "grade")
    assert sorted(goal.classes) == ["0", "1", "2"]
    assert set(table.rows["grade"]) == {"0", "1", "2"}
    assert table.notes == ("The classes of 'grade' are written as whole numbers: 1, not 1.0.",)


def test_a_rare_class_is_not_left_out_where_only_one_would_remain() -> None:
    with pytest.raises(UsageError, match="The target 'fraud' has fewer than 5 rows of '1'"):
        cleaned({"text": texts(), "fraud": ["1"] * 4 + ["0"] * (ROWS - 4)}, "fraud")


def test_message_names_the_maximum_number_of_classes() -> None:
    with pytest.raises(UsageError, match=r"has 150 different values in 900 rows.* Up to 100 classes can be predicted"):
        cleaned({"text": texts(900), "town": [f"town {number % 150}" for number in range(900)]}, "town")


def test_codes_with_underscores_are_no_numbers() -> None:
    target = pd.Series([f"10_{number % 25}" for number in range(500)], name="code")
    assert choose_goal(target, None).prediction == "label"


@pytest.mark.parametrize(
    ("classes", "rule"), [(("1", "2", "-3"), "values=Integer()"), (("--5", "²", "3"), "values=Text(blank=False")]
)
def test_classes_are_whole_numbers_only_where_they_are_written_so(classes: tuple[str, ...], rule: str) -> None:
    cells = pd.DataFrame({"text": texts(), "kind": [classes[number % 3] for number in range(ROWS)]})
    made = draft_task("things", cells, Path("things.csv"), title="Things", target="kind")
    assert rule in made.task_file([])


def test_positive_class_is_documented_for_numeric_classes() -> None:
    cells = pd.DataFrame({"text": texts(), "kind": [str(1 + number % 2) for number in range(ROWS)]})
    made = draft_task("things", cells, Path("things.csv"), title="Things", target="kind")
    assert "| kind | the target: 1 for 1, 0 for 2 | never |" in made.brief(0, 0, [])
