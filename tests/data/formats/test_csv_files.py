"""Tables are written as they are, and split with or without a number of rows in mind."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd

from podium.data.formats.csv_files import lines_beside, read_csv, sample_of, write_csv
from podium.data.split import split_rows


def test_a_zipped_table_has_its_own_name_and_always_the_same_bytes(tmp_path: Path) -> None:
    table = pd.DataFrame({"x": [0.1, 1 / 3], "y": ["a", "b"]})
    for folder in ("one", "two"):
        write_csv(table, tmp_path / folder / "train.tsv.zip", sep="\t")
    with zipfile.ZipFile(tmp_path / "one" / "train.tsv.zip") as archive:
        assert archive.namelist() == ["train.tsv"]
        assert archive.read("train.tsv") == table.to_csv(index=False, sep="\t").encode()
    assert (tmp_path / "one" / "train.tsv.zip").read_bytes() == (tmp_path / "two" / "train.tsv.zip").read_bytes()
    pd.testing.assert_frame_equal(read_csv(tmp_path / "one" / "train.tsv.zip", sep="\t"), table)


def test_list_is_read_from_the_text_file_next_to_a_task(tmp_path: Path) -> None:
    (tmp_path / "breeds.txt").write_text("malamute\nchow chow\n", encoding="utf-8")
    assert lines_beside(str(tmp_path / "breeds.py")) == ["malamute", "chow chow"]


def test_too_few_rows_give_a_tenth_as_test_part() -> None:
    assert [len(part) for part in split_rows(list(range(50)), 20)] == [30, 20]
    assert [len(part) for part in split_rows(list(range(50)), 50)] == [45, 5]


def test_a_target_may_have_any_name() -> None:
    answers = pd.DataFrame({"id": [1, 2], "answers": [3, 4]})
    sample = sample_of(answers, "id", answers=0, ids=1)
    assert sample.to_dict("list") == {"id": [1, 2], "answers": [0, 0], "ids": [1, 1]}
