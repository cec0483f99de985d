"""Files of all sorts as tables of texts, or a reason why not."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pandas as pd
import pytest

from podium.catalog.authoring.picture_folder import read_pictures
from podium.catalog.authoring.read_cells import as_cells, read_cells
from podium.errors import UsageError


def written(folder: Path, text: str, name: str = "trees.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_the_index_of_a_parquet_file_is_a_column(tmp_path: Path) -> None:
    table = pd.DataFrame({"age": [3, 4]}, index=pd.Index(["oak", "ash"], name="tree"))
    table.to_parquet(tmp_path / "trees.parquet")
    assert read_cells(tmp_path / "trees.parquet").to_dict("list") == {"tree": ["oak", "ash"], "age": ["3", "4"]}
    table.reset_index().to_parquet(tmp_path / "trees.parquet")
    assert list(read_cells(tmp_path / "trees.parquet")) == ["tree", "age"], "one that counts is none"


def test_a_parquet_file_is_divided_by_nothing_in_its_names(tmp_path: Path) -> None:
    pd.DataFrame({"a;b;c;d": ["1;2"], "e": ["f"]}).to_parquet(tmp_path / "trees.parquet")
    assert read_cells(tmp_path / "trees.parquet").to_dict("list") == {"a;b;c;d": ["1;2"], "e": ["f"]}


@pytest.mark.parametrize(
    "text",
    [
        "name, as known;age\noak;3,5\nash;4\n",
        "name, as known|age\noak|3,5\nash|4\n",
        'name, as known;age\noak;3,5\n"a;\n;;b";4\n' + "ash;4,5\n" * 40,
    ],
)
def test_the_separator_is_what_makes_rows_equally_wide(tmp_path: Path, text: str) -> None:
    cells = read_cells(written(tmp_path, text))
    assert list(cells) == ["name, as known", "age"]
    assert list(cells["age"][:2]) == ["3,5", "4"]


def test_blanks_around_cells_and_line_ends_in_names_are_left_out(tmp_path: Path) -> None:
    cells = read_cells(written(tmp_path, '"fruit\nin kg", soil \n 3 , clay\n " ",\t\n'.replace(' " ",', '" ",')))
    assert cells.to_dict("list") == {"fruit in kg": ["3", ""], "soil": ["clay", ""]}


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_a_carriage_return_in_a_cell_does_not_divide_its_row(tmp_path: Path, end: str) -> None:
    rows = read_cells(written(tmp_path, f'tree,note\noak,"old{end}tall"\nash,young\n'))
    assert list(rows["note"]) == ["old\ntall", "young"]
    assert list(as_cells(pd.DataFrame({"tree": [1.5], "note": [f"old{end}tall"]}), tmp_path)["note"]) == ["old\ntall"]


def test_a_cell_may_be_longer_than_what_csv_reads_by_itself(tmp_path: Path) -> None:
    before = csv.field_size_limit(131_072)
    try:
        assert len(read_cells(written(tmp_path, f"tree,note\noak,{'x' * 200_000}\n"))["note"][0]) == 200_000
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"PK\x03\x04\x14\0\0", "is an Excel sheet or a ZIP archive. Save the sheet as CSV"),
        ("tree,age\noak,3".encode("utf-16"), "is encoded as UTF-16. Convert it, for example: iconv -f utf-16"),
        (b"PAR1\x15", "is a parquet file. Let its name end in .parquet"),
        (gzip.compress(b"tree,age", mtime=0), "is a gzip file. Let its name end in .gz"),
    ],
)
def test_other_formats_are_recognised_by_signature(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "trees.csv").write_bytes(content)
    with pytest.raises(UsageError) as refusal:
        read_cells(tmp_path / "trees.csv")
    assert problem in str(refusal.value)


@pytest.mark.parametrize("place", [5, 15, -9])
def test_a_damaged_archive_is_refused(tmp_path: Path, place: int) -> None:
    content = bytearray(gzip.compress(b"tree,age\noak,3\n" * 50))
    content[place:] = b"\xff" * len(content[place:])
    (tmp_path / "trees.csv.gz").write_bytes(bytes(content))
    with pytest.raises(UsageError, match=r"cannot be unpacked|is not UTF-8"):
        read_cells(tmp_path / "trees.csv.gz")


def test_folder_of_tables_needs_a_choice(tmp_path: Path) -> None:
    written(tmp_path, "tree,age\noak,3\n", "part-0.csv")
    with pytest.raises(UsageError, match=r"There are no pictures in .* Name one of its tables, such as .*part-0\.csv"):
        read_pictures(tmp_path)
