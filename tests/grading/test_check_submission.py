"""Rows and cells: whatever breaks the form is named by column, row and id; whatever keeps it is brought in order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import Toy, toy_task

from podium.errors import InvalidSubmission
from podium.grading.check_submission import align, clip, convert, list_some, scored_cells
from podium.metrics import accuracy
from podium.task import Boolean, Columns, Integer, Number, Text, Values

Make = Callable[..., Toy]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A toy with answers 1, 2, 3 for the ids a, b, c, and one target column of the given kind."""

    def build(values: Values | type, answers: list[object], **form: object) -> Toy:
        table = pd.DataFrame({"id": list("abcdefgh"[: len(answers)]), "y": answers})
        return Toy(toy_task(Columns("id", "y", values, **form), table, metric=accuracy), tmp_path)  # type: ignore[arg-type]

    return build


def cells(*values: str) -> str:
    return "id,y\n" + "".join(f"{name},{value}\n" for name, value in zip("abcdefgh", values, strict=False))


NUMBER = [
    ("", "the cell is blank; a number is expected"),
    ("  ", "the cell is blank; a number is expected"),
    ("nan", "'nan' is not a number"),
    ("NA", "'NA' is not a number"),
    ("x", "'x' is not a number"),
    ("1_0", "'1_0' is not a number"),
    ("0x10", "'0x10' is not a number"),
    ("True", "'True' is not a number"),
    ("1 2", "'1 2' is not a number"),
    ("１", "'１' is not a number"),
    ("٣", "'٣' is not a number"),
    ("−1", "'−1' is not a number"),
    ("1e400", "'1e400' is not a number"),
    ("1e2147483648", "'1e2147483648' is not a number"),
    ("9" * 400, f"'{'9' * 57}… is not a number"),
    ("inf", "inf is infinite; a finite number is expected"),
    ("-Infinity", "-inf is infinite; a finite number is expected"),
    ("-1.5", "-1.5 is below -1, the smallest value allowed"),
    ("5.25", "5.25 is above 5, the largest value allowed"),
    ("1e300", "1e+300 is above 5, the largest value allowed"),
    ("1e30", "1e+30 is above 5, the largest value allowed"),
]


@pytest.mark.parametrize(("cell", "what"), NUMBER)
def test_a_cell_that_is_no_such_number_is_named(make: Make, cell: str, what: str) -> None:
    toy = make(Number(-1, 5), [1.0, 2.0, 3.0])
    expected = f"Column 'y', row 2 (id b): {what.replace('… is', '…' + chr(39) + ' is')}."
    assert toy.fault(cells("1", cell, "3")) == expected


@pytest.mark.parametrize("cell", ["2", " 2", "2 ", "+2", "2.", "2e0", "0.2e1", "02", '"2"', "2." + "0" * 400])
def test_a_number_may_be_written_in_many_ways(make: Make, cell: str) -> None:
    assert (
        make(Number(0, 2), [1.0, 2.0, 2.0], max_bytes=10**6)
        .fault(cells("1", cell, "3"))
        .startswith("Column 'y', row 3 (id c): 3.0 is above 2")
    )


def test_one_cell_is_named_and_the_others_counted(make: Make) -> None:
    message = make(float, [1.0, 2.0, 3.0]).fault("id,y\nc,x\nb,2\na,z\n")
    assert message == "Column 'y', row 3 (id a): 'z' is not a number (2 such cells)."


def test_a_bound_is_quoted_in_full(make: Make) -> None:
    toy = make(Integer(0, 1234567), [1, 2, 3])
    assert "is above 1234567, the largest" in toy.fault(cells("1", "2", "1234568"))


def test_blank_numbers_are_accepted_if_the_form_permits(make: Make) -> None:
    toy = make(Number(blank=True), [1.0, 2.0, 3.0])
    assert toy.score(cells("1", "", "3")) == pytest.approx(2 / 3)
    assert toy.fault(cells("1", "x", "3")) == "Column 'y', row 2 (id b): 'x' is not a number."


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        ("1.5", "1.5 is not a whole number"),
        ("9007199254740994", "9007199254740994.0 is too large; a whole number below 2^53 is expected"),
        ("1e30", "1e+30 is too large; a whole number below 2^53 is expected"),
        ("-1", "-1.0 is below 0, the smallest value allowed"),
        ("", "the cell is blank; a number is expected"),
        ("two", "'two' is not a number"),
        ("inf", "inf is infinite; a finite number is expected"),
    ],
)
def test_a_cell_that_is_no_whole_number_is_named(make: Make, cell: str, what: str) -> None:
    assert make(Integer(low=0), [1, 2, 3]).fault(cells("1", cell, "3")) == f"Column 'y', row 2 (id b): {what}."


def test_whole_numbers_may_be_written_as_floats(make: Make) -> None:
    assert make(int, [1, 2, 3]).score(cells("1.0", "2", "3e0")) == 1


def test_fractions_are_cut_off_where_a_task_takes_any_number(make: Make) -> None:
    assert make(Integer(cut=True), [1, 2, -3]).score(cells("1.9", "2.0", "-3.5")) == 1


def test_a_blank_cell_of_a_scored_row_is_named() -> None:
    table = pd.DataFrame({"id": list("abc"), "y": [np.nan, 2.0, np.nan]})
    assert scored_cells(table, np.array([False, True, False]), ["y"], "id").tolist() == [[2.0]]
    with pytest.raises(InvalidSubmission, match=r"Column 'y', id a: a scored cell is blank \(2 such cells\)\."):
        scored_cells(table, np.array([True, True, True]), ["y"], "id")


def test_truth_may_be_written_in_many_ways(make: Make) -> None:
    toy = make(bool, [True, False, True, False, True, False])
    assert toy.score(cells("TRUE", "false", "1", "0", " t ", "0.0")) == 1
    assert toy.score(cells("True", "False", "1.0", "F", "true", "FALSE")) == 1


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        ("", "the cell is blank; True or False is expected"),
        ("yes", "'yes' is neither True nor False"),
        ("2", "'2' is neither True nor False"),
        ("0.5", "'0.5' is neither True nor False"),
        ("nan", "'nan' is neither True nor False"),
    ],
)
def test_a_cell_that_is_no_truth_is_named(make: Make, cell: str, what: str) -> None:
    assert make(bool, [True, False]).fault(cells("True", cell)) == f"Column 'y', row 2 (id b): {what}."


def test_texts_are_taken_as_they_are_written(make: Make) -> None:
    texts = ["NA", "007", " x ", "1.0", "null", "é\u2028"]
    toy = make(str, [*texts])
    assert toy.score(cells(*texts)) == 1
    assert toy.score(cells("", "7", "x", "1", "NULL", "é")) == 0


def test_texts_are_retyped_if_the_form_requires(make: Make) -> None:
    toy = make(Text(retyped=True), ["7", "8"])
    assert toy.score(cells("007", "8")) == 1
    assert toy.score(cells("007", "NA")) == 0, "a column with a missing number has no whole ones: 7.0"


def test_an_empty_text_may_stand_for_another(make: Make) -> None:
    assert make(Text(empty="nan"), ["nan", "x"]).score(cells("", "x")) == 1


def test_closed_lists_and_blanks_are_checked(make: Make) -> None:
    toy = make(Text(blank=False, choices=tuple("pqrstuvwxyz")), ["p", "q", "r"])
    assert toy.score(cells("p", "q", "r")) == 1
    prefix = "Column 'y', row 2 (id b): "
    assert toy.fault(cells("p", "", "r")) == f"{prefix}the cell is blank; a text is expected."
    listed = "p, q, r, s, t, u, v, w, … 3 more"
    for wrong in ("P", " q", "o", "\u200b"):
        assert toy.fault(cells("p", wrong, "r")) == f"{prefix}'{clip(wrong)}' is not one of {listed}."


def test_a_long_cell_is_quoted_in_part(make: Make) -> None:
    toy = make(Number(), [1.0, 2.0])
    assert toy.fault(cells("1", "x" * 10_000_000)) == (f"Column 'y', row 2 (id b): '{'x' * 57}…' is not a number.")
    assert toy.fault(f"id,y\na,1\n{'b' * 10_000_000},2\n").startswith(
        f"Column 'id': 1 id is missing (b); 1 id is unknown ({'b' * 57}…)."
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,1\nb,2\n", "1 id is missing (c). 3 ids are expected, each once."),
        ("a,1\n", "2 ids are missing (b, c). 3 ids are expected, each once."),
        ("a,1\nb,2\nc,3\nq,4\n", "1 id is unknown (q). 3 ids are expected, each once."),
        ("a,1\nb,2\nc,3\na,4\n", "1 id occurs more than once (a). 3 ids are expected, each once."),
        ("a,1\nb,2\nb,2\n", "1 id is missing (c); 1 id occurs more than once (b). 3 ids are expected, each once."),
        ("a,1\nb,2\n,3\n", "1 id is missing (c); 1 id is unknown (''). 3 ids are expected, each once."),
        ("a,1\nb,2\nC,3\nC,3\n", "1 id is missing (c); 1 id is unknown (C). 3 ids are expected, each once."),
        (
            "a,1\nb,2\nc,3\n" + "".join(f"u{number},0\n" for number in range(9)),
            "9 ids are unknown (u0, u1, u2, … 6 more). 3 ids are expected, each once.",
        ),
        ("id,y\na,1\nb,2\nc,3\n", "1 id is unknown (id). 3 ids are expected, each once."),
        ("a\x07,1\nb,2\nc,3\n", "1 id is missing (a); 1 id is unknown (a\\x07). 3 ids are expected, each once."),
    ],
)
def test_ids_at_fault_are_named(make: Make, content: str, message: str) -> None:
    found = make(float, [1.0, 2.0, 3.0]).fault("id,y\n" + content)
    assert found == f"Column 'id': {message}"


def test_the_id_that_was_meant_is_guessed(tmp_path: Path) -> None:
    toy = Toy(toy_task(Columns("id", "y", float), pd.DataFrame({"id": ["img_01.png"], "y": [1.0]})), tmp_path)
    assert toy.fault("id,y\nimg_01,1\n").endswith("Did you mean img_01.png instead of img_01?")


@pytest.mark.parametrize("written", ["7", "007", "7.0", " 7", "7 ", "+7", "7e0", '"7"'])
def test_ids_that_are_whole_numbers_compare_as_numbers(tmp_path: Path, written: str) -> None:
    answers = pd.DataFrame({"id": [5, 7], "y": [0.0, 1.0]})
    toy = Toy(toy_task(Columns("id", "y", float), answers), tmp_path)
    assert toy.score(f"id,y\n{written},1\n5,0\n") == 0


@pytest.mark.parametrize("written", ["7.5", "٧", "７", "0x7", "-7", "7-", "", "inf", "nan", "9" * 40, "7e400"])
def test_other_numbers_are_other_ids(tmp_path: Path, written: str) -> None:
    answers = pd.DataFrame({"id": [5, 7], "y": [0.0, 1.0]})
    toy = Toy(toy_task(Columns("id", "y", float), answers), tmp_path)
    unknown = written or "''"
    assert f"1 id is missing (7); 1 id is unknown ({unknown})." in toy.fault(f"id,y\n{written},1\n5,0\n")


@pytest.mark.parametrize("ids", [["007", "7"], ["a7", "7"], ["7.0", "8.0"], ["9" * 20, "8" * 20]])
def test_ids_that_are_texts_compare_to_the_letter(tmp_path: Path, ids: list[str]) -> None:
    toy = Toy(toy_task(Columns("id", "y", float), pd.DataFrame({"id": ids, "y": [0.0, 1.0]})), tmp_path)
    assert toy.score(f"id,y\n{ids[1]},1\n{ids[0]},0\n") == 0
    assert f"is missing ({ids[0]})" in toy.fault(f"id,y\n{ids[1]},1\n {ids[0]},0\n")


def two_ids(tmp_path: Path) -> Toy:
    answers = pd.DataFrame({"user": ["x / y", "x", "3"], "day": ["z", "y / z", "1"], "y": [1.0, 2.0, 3.0]})
    return Toy(toy_task(Columns(("user", "day"), "y", float), answers), tmp_path)


def test_several_id_columns_are_never_confused(tmp_path: Path) -> None:
    toy = two_ids(tmp_path)
    assert toy.score("day,user,y\n1,3,3\ny / z,x,2\nz,x / y,1\n") == 0
    form = Columns(("user", "day"), "y", float)
    ids = pd.DataFrame({"user": ["ab", "a", "a\\"], "day": ["c", "bc", "bc"]})
    assert align(ids.assign(y=range(3)).iloc[::-1], form, ids)["y"].tolist() == [0, 1, 2]


def test_several_ids_are_named_together(tmp_path: Path) -> None:
    toy = two_ids(tmp_path)
    assert toy.fault("user,day,y\nx,y / z,2\n3,1,3\n3,2,1\n") == (
        "Column 'user' + 'day': 1 id is missing (x / y / z); 1 id is unknown (3 / 2). 3 ids are expected, each once."
    )
    assert toy.fault("user,day,y\nx / y,z,1\n3,1,3\nx,y / z,q\n") == (
        "Column 'y', row 3 (id x / y / z): 'q' is not a number."
    )


def test_repeated_answers_take_rows_in_order(tmp_path: Path) -> None:
    answers = pd.DataFrame({"id": ["a", "b", "a"], "y": [1.0, 2.0, 3.0]})
    toy = Toy(toy_task(Columns("id", "y", float), answers), tmp_path)
    assert toy.score("id,y\na,1\na,3\nb,2\n") == 0
    expected = "3 rows are expected, some ids several times."
    assert toy.fault("id,y\na,1\na,3\nb,2\na,1\n") == f"Column 'id': 1 id occurs too many times (a). {expected}"
    assert toy.fault("id,y\na,1\nb,2\n") == f"Column 'id': 1 id is missing or occurs too few times (a). {expected}"
    assert toy.fault("id,y\na,1\na,3\n5,2\n") == (
        f"Column 'id': 1 id is missing or occurs too few times (b); 1 id is unknown (5). {expected}"
    )


def test_missing_rows_are_skipped_if_the_form_permits(tmp_path: Path) -> None:
    form = Columns("id", "y", Number(0, 1), extra_rows=True)
    answers = pd.DataFrame({"id": [1, 3], "y": [0.1, 0.3]})
    sample = pd.DataFrame({"id": [1, 2, 3], "y": 0.5})
    toy = Toy(toy_task(form, answers, sample=sample), tmp_path)
    assert toy.score("id,y\n3,0.3\n2,0.9\n1,0.1\n") == 0
    assert toy.grade_file(toy.write("id,y\n3,0.3\nx,nonsense\n1,0.1\n")).score == 0
    assert toy.grade_file(toy.write("id,y\n3,0.3\n1,0.1\n3,0.2\n")).error == (
        "Column 'id': 1 id occurs more than once (3). 2 ids are expected, each once."
    )
    assert toy.grade_file(toy.write("id,y\n3,0.3\n2,0.1\n")).error == (
        "Column 'id': 1 id is missing (1). 2 ids are expected, each once."
    )
    # A whole sample's worth of rows is not too many, however few are graded.
    assert toy.grade_file(toy.write("id,y\n3,0.3\n1,0.1\n" + "".join(f"x{n},0\n" for n in range(900)))).score == 0


def test_rows_add_up_to_the_total(tmp_path: Path) -> None:
    form = Columns("id", ("p", "q"), float, row_total=1.0)
    toy = Toy(toy_task(form, pd.DataFrame({"id": [1, 2], "p": [0.5, 0.2], "q": [0.5, 0.8]})), tmp_path)
    assert toy.score("q,p,id\n0.8,0.2,2\n0.50001,0.5,1\n") == pytest.approx(0, abs=1e-5)
    assert toy.fault("id,p,q\n2,0.2,0.8\n1,0.5,0.6\n") == ("Row 2 (id 1): the columns p, q add up to 1.1 instead of 1.")
    assert toy.fault("id,p,q\n2,0,0\n1,0.5,0.6\n") == (
        "Row 2 (id 1): the columns p, q add up to 1.1 instead of 1 (2 such rows)."
    )
    assert "add up to inf instead of 1." in toy.fault("id,p,q\n2,1e308,1e308\n1,0.5,0.5\n")


def test_each_column_keeps_its_own_rule(tmp_path: Path) -> None:
    rules: dict[str, Values] = {"n": Integer(0, 9), "t": Text(choices=("yes", "no")), "b": Boolean()}
    form = Columns("id", ("n", "t", "b"), rules)
    answers = pd.DataFrame({"id": [1], "n": [3], "t": ["yes"], "b": [True]})
    toy = Toy(toy_task(form, answers, metric=accuracy), tmp_path)
    for row, column in (("1,10,yes,1", "n"), ("1,1,maybe,1", "t"), ("1,1,no,2", "b")):
        assert toy.fault(f"id,n,t,b\n{row}\n").startswith(f"Column '{column}', row 1 (id 1): ")


tables = st.integers(1, 40).flatmap(
    lambda rows: st.tuples(
        st.lists(st.text(max_size=5) | st.integers(-5, 50).map(str), min_size=rows, max_size=rows, unique=True),
        st.permutations(range(rows)),
    )
)


@given(tables)
def test_the_order_of_rows_does_not_matter(drawn: tuple[list[str], list[int]]) -> None:
    names, order = drawn
    form = Columns("id", "y", float)
    ids = pd.DataFrame({"id": names})
    table = ids.assign(y=np.arange(len(names), dtype=float)).iloc[order].reset_index(drop=True)
    untouched = table.copy()
    aligned = align(table, form, ids)
    assert aligned["y"].tolist() == list(range(len(names)))
    pd.testing.assert_frame_equal(table, untouched)


@given(tables, st.data())
def test_a_row_too_few_or_too_many_is_never_accepted(drawn: tuple[list[str], list[int]], data: st.DataObject) -> None:
    names, order = drawn
    form = Columns("id", "y", float)
    shuffled = [names[place] for place in order]
    change = data.draw(st.sampled_from(["drop", "repeat", "replace"]))
    victim = data.draw(st.integers(0, len(names) - 1))
    if change == "drop":
        del shuffled[victim]
    elif change == "repeat":
        shuffled.append(shuffled[victim])
    else:
        shuffled[victim] = "a name that is not there"
    with pytest.raises(InvalidSubmission, match=r"^Column 'id': "):
        align(pd.DataFrame({"id": shuffled, "y": 0.0}, dtype=object), form, pd.DataFrame({"id": names}))


@given(st.text(max_size=200), st.integers(10, 80))
def test_a_clipped_text_fits_and_prints(text: str, most: int) -> None:
    assert len(clip(text, most)) <= most
    assert clip(text, most).isprintable()


def test_only_some_names_are_listed() -> None:
    assert list_some(list("ab"), 2) == "a, b"
    assert list_some(list("abcd"), 2) == "a, b, … 2 more"


def test_answers_go_through_the_same_conversion() -> None:
    assert convert(pd.Series([1, 0]), Boolean(), "y").tolist() == [True, False]
    with pytest.raises(InvalidSubmission, match=r"Column 'y', row 2: the cell is blank"):
        convert(pd.Series([1.0, np.nan]), Number(), "y")
