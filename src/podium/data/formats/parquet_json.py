"""Parquet files, JSON lines and JSON documents."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from podium.errors import MissingExtraError
from podium.safefs.atomic_files import missing_raw_file

BATCH_ROWS = 1 << 20


def read_json_lines(path: Path) -> pd.DataFrame:
    """Read a table from a file with one JSON object per line; columns of whole numbers become integers."""
    with _explained(path), path.open(encoding="utf-8") as file:
        return pd.read_json(file, lines=True)


def write_json_lines(table: pd.DataFrame, path: Path, **options: Any) -> None:
    """Write a table with one JSON object per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_json(path, orient="records", lines=True, **options)


def write_json(content: Any, path: Path, **options: Any) -> None:
    """Write a JSON document, by default in one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, **options), encoding="utf-8")


def read_parquet(path: Path, **options: Any) -> pd.DataFrame:
    """Read a Parquet file, or some of its columns or rows (`columns=`, `filters=`), in its own order."""
    with _explained(path):
        return pd.read_parquet(path, engine="pyarrow", **options)


def write_parquet(table: pd.DataFrame, path: Path, **options: Any) -> None:
    """Write a table as Parquet, by default without its index."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _explained(path):
        table.to_parquet(path, engine="pyarrow", **{"index": False, **options})


def copy_parquet_rows(source: Path, target: Path, column: str, values: Collection[Any]) -> None:
    """Copy the rows with one of the values in a column, in batches, since the table may not fit into memory."""
    with _explained(source):
        import pyarrow as arrow
        from pyarrow import compute, parquet

        wanted = arrow.array(list(values))
        with parquet.ParquetFile(source) as file:
            # pandas' metadata describes an index that no longer matches.
            schema = file.schema_arrow.remove_metadata()
            with parquet.ParquetWriter(target, schema) as writer:
                for rows in file.iter_batches(BATCH_ROWS):
                    kept = rows.filter(compute.is_in(rows[column], value_set=wanted.cast(rows[column].type)))
                    writer.write_batch(kept.replace_schema_metadata())


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise missing_raw_file(path) from error
    except ImportError as error:
        raise MissingExtraError("A Parquet file", "parquet") from error
