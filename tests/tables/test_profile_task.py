"""Tables are read whatever their encoding, format and size, and whatever stands in their cells."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe

from podium.metrics import rmse
from podium.recipes.kit.inputs.table_features import number_features, sequence_features
from podium.tables import describe_tables, packed_files
from podium.tables.describe_tables import read_frame, read_tables
from podium.tables.table_io import read_table

ROWS, TRAIN = 90, 60
HOSTILE = "1e2147483648"
"""Pandas 2 reads memory that is not its own when it takes this for a number in the usual way."""


def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    found = pd.DataFrame({"row": np.arange(ROWS) + 700, "a": rng.normal(size=ROWS).round(3)})
    return found.assign(town=rng.choice(["Köln", "Málaga", "Paris"], ROWS), y=(3 * found["a"]).round(3))


def write_sample(public: Path) -> None:
    rows()[TRAIN:][["row"]].assign(y=0.0).to_csv(public / "sample_submission.csv", index=False)


def submitted(public: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """What a quick script makes of a folder, in which train and test must have been found."""
    profile = profile_of(public, rmse, ids=("row",), targets=("y",))
    assert profile.train is not None and profile.test is not None, profile.warnings
    return run_recipe(recipe_for(profile, "quick boosting"), profile, public, folder, monkeypatch).submission


def test_tables_in_an_old_encoding_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    rows()[:TRAIN].to_csv(tmp_path / "data" / "train.csv", index=False, encoding="latin-1")
    rows()[TRAIN:].drop(columns="y").to_csv(tmp_path / "data" / "test.csv", index=False, encoding="latin-1")
    write_sample(tmp_path / "data")
    assert len(submitted(tmp_path / "data", tmp_path / "work", monkeypatch)) == ROWS - TRAIN


def test_lists_in_parquet_are_cells_like_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    table = rows().assign(tags=[["old", "wet"] if number % 2 else [] for number in range(ROWS)])
    table[:TRAIN].to_parquet(tmp_path / "data" / "train.parquet", index=False)
    table[TRAIN:].drop(columns="y").to_parquet(tmp_path / "data" / "test.parquet", index=False)
    write_sample(tmp_path / "data")
    assert len(submitted(tmp_path / "data", tmp_path / "work", monkeypatch)) == ROWS - TRAIN
    assert set(read_frame(tmp_path / "data" / "train.parquet")["tags"]) == {'["old", "wet"]', "[]"}


def test_a_table_that_cannot_be_described_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows().to_csv(tmp_path / "a.csv", index=False)
    rows().to_csv(tmp_path / "b.csv", index=False)
    describe = describe_tables.describe_table

    def fails(name: str, frame: pd.DataFrame) -> object:
        if name == "a.csv":
            raise RecursionError
        return describe(name, frame)

    monkeypatch.setattr(describe_tables, "describe_table", fails)
    assert list(read_tables(tmp_path, ["a.csv", "b.csv"]).frames) == ["b.csv"]


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.csv.zip", "packed.zip/rows.csv"])
def test_only_the_first_rows_of_a_large_table_are_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describe_tables, "MAX_ROWS", 40)
    monkeypatch.setattr(describe_tables, "MAX_UNSPLIT_BYTES", 100)
    if name == "rows.parquet":
        rows().to_parquet(tmp_path / name, row_group_size=25)
    elif name == "rows.csv":
        rows().to_csv(tmp_path / name, index=False)
    else:
        with zipfile.ZipFile(tmp_path / name.partition("/")[0], "w") as archive:
            archive.writestr("rows.csv", rows().to_csv(index=False))
    found = read_tables(tmp_path, [name])
    assert found.tables[name].is_truncated
    pd.testing.assert_frame_equal(found.frames[name], rows()[:40])


def test_a_table_that_must_be_read_as_a_whole_is_not_if_it_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describe_tables, "MAX_UNSPLIT_BYTES", 100)
    with zipfile.ZipFile(tmp_path / "rows.json.zip", "w") as archive:
        archive.writestr("rows.json", rows().to_json(orient="records"))
    with pytest.raises(ValueError, match="too large"):
        read_frame(tmp_path / "rows.json.zip")


def test_cells_that_pandas_dies_of_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = pd.Series([*np.arange(20.0).astype(str), HOSTILE])
    cells.rename("a").to_csv(tmp_path / "hostile.csv", index=False)
    assert len(read_frame(tmp_path / "hostile.csv")) == 21
    monkeypatch.setattr(packed_files, "DATA", tmp_path)
    assert len(read_table("hostile.csv")) == 21
    words = cells.mask(cells == "3.0", "unknown")
    found = number_features(pd.DataFrame({"a": words}), ["a"])["a"]
    assert found.isna().sum() == 2 and found[5] == 5
    given = pd.DataFrame({"a": words, "ship": "x", "step": np.arange(21)})
    assert sequence_features(given, ["a"], "ship", "step")["a, 1 around"][0] == pytest.approx(0.5)


def test_of_very_many_rows_some_are_drawn_from_the_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_files, "DATA", tmp_path)
    numbers = pd.DataFrame({"n": np.arange(1000), "word": "x"})
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    numbers.to_parquet(tmp_path / "numbers.parquet", index=False)
    for name in ("numbers.csv", "numbers.parquet"):
        found = read_table(name, most=100)["n"]
        assert 99 <= len(found) <= 100 and found.is_monotonic_increasing and found.is_unique
        assert found.iloc[0] < 60 and found.iloc[-1] > 940
        assert read_table(name, most=100)["n"].tolist() == found.tolist()
        assert len(read_table(name, most=2000)) == 1000
