from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from podium.data.formats import parquet_json
from podium.errors import RawDataError

TABLE = pd.DataFrame({"batch": [3, 1, 1, 2, 3], "event": [5, 4, 3, 2, 1], "angle": [0.1, 0.2, 0.3, 0.4, 0.5]})


@pytest.mark.parametrize("at_once", [2, 1 << 20])
def test_copied_rows_keep_their_order_and_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(parquet_json, "BATCH_ROWS", at_once)
    source, target = tmp_path / "all.parquet", tmp_path / "some.parquet"
    parquet_json.write_parquet(TABLE, source, index=None)
    parquet_json.copy_parquet_rows(source, target, "batch", [3, 2])
    expected = TABLE[TABLE["batch"] != 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(parquet_json.read_parquet(target), expected)


def test_rows_and_columns_can_be_chosen(tmp_path: Path) -> None:
    parquet_json.write_parquet(TABLE, tmp_path / "all.parquet")
    found = parquet_json.read_parquet(tmp_path / "all.parquet", columns=["event"], filters=[("batch", "in", [3])])
    assert found["event"].tolist() == [5, 1]


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    for read in (parquet_json.read_parquet, parquet_json.read_json_lines):
        with pytest.raises(RawDataError, match="lacks meta"):
            read(tmp_path / "meta")
    with pytest.raises(RawDataError, match="lacks meta"):
        parquet_json.copy_parquet_rows(tmp_path / "meta", tmp_path / "copy", "batch", [1])


def test_json_is_written_into_new_folders(tmp_path: Path) -> None:
    parquet_json.write_json_lines(TABLE, tmp_path / "a" / "x.jsonl")
    pd.testing.assert_frame_equal(parquet_json.read_json_lines(tmp_path / "a" / "x.jsonl"), TABLE)
    parquet_json.write_json({"é": [1]}, tmp_path / "b" / "x.json", ensure_ascii=False)
    assert (tmp_path / "b" / "x.json").read_text(encoding="utf-8") == '{"é": [1]}'
