"""Brings the further tables of a task to its rows, as anybody would who knows nothing of the task but its files.

A table that has one row for each value of a column is joined by that column. Of one with several rows for each, such as
a log, the rows become their number, means and extremes of numbers, and their texts in one piece. Columns that share a
name belong together, and so do columns of which one holds nearly all values of the other.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

KNOWN_SHARE = 0.9
"""A column refers to another if so much of it is found there."""
OWN = ("train", "test", "sample_submission")
"""The tables that are not further ones."""


def further_tables(data: Path) -> dict[str, pd.DataFrame]:
    """All tables of a folder and of the archives in it but those every task has, by name."""
    found = {}
    for name, content in _files(data):
        table = _table(name, content)
        if table is not None and len(table) and Path(name).stem not in OWN:
            found[Path(name).stem] = table
    return found


def joined(rows: pd.DataFrame, tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows with what all tables say of them, those included that only another table refers to."""
    waiting = dict(tables)
    for _ in range(2):
        for name, side in list(waiting.items()):
            pairs = _references(rows, side)
            for column, key in pairs:
                rows = _with(rows, column, side, key, name)
            if pairs:
                del waiting[name]
    return rows


def _files(data: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(data.iterdir()):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                yield from ((name, archive.read(name)) for name in archive.namelist() if not name.endswith("/"))
        elif path.is_file():
            yield path.name, path.read_bytes()


def _table(name: str, content: bytes) -> pd.DataFrame | None:
    match Path(name).suffix:
        case ".csv" | ".tsv" as ending:
            return pd.read_csv(io.BytesIO(content), low_memory=False, sep="," if ending == ".csv" else "\t")
        case ".jsonl":
            return pd.read_json(io.BytesIO(content), lines=True, convert_dates=False)
        case ".json":
            document = json.loads(content)
            is_table = isinstance(document, list) and all(isinstance(row, dict) for row in document)
            return pd.DataFrame(document) if is_table else None
        case ".parquet":
            return pd.read_parquet(io.BytesIO(content))
    return None


def _references(rows: pd.DataFrame, side: pd.DataFrame) -> list[tuple[str, str]]:
    """Which columns of the rows refer to which column of a table."""
    if shared := [(name, name) for name in side if name in rows]:
        return shared
    keys = [name for name in side if not pd.api.types.is_float_dtype(side[name]) and side[name].is_unique]
    names = [name for name in rows if not pd.api.types.is_float_dtype(rows[name]) and rows[name].nunique() > 1]
    return [(name, key) for key in keys for name in names if _is_known(rows[name], side[key])]


def _is_known(values: pd.Series, others: pd.Series) -> bool:
    return values.dtype == others.dtype and bool(values.dropna().isin(others).mean() >= KNOWN_SHARE)


def _with(rows: pd.DataFrame, column: str, side: pd.DataFrame, key: str, name: str) -> pd.DataFrame:
    facts = side.set_index(key) if side[key].is_unique else _summary(side, key)
    facts = facts.add_prefix(f"{name} of {column}: " if column != key or not side[key].is_unique else "")
    facts = facts[[fact for fact in facts if fact not in rows]]
    return rows.join(facts, on=column)


def _summary(side: pd.DataFrame, key: str) -> pd.DataFrame:
    """What the rows of each value of a key come to."""
    groups = side.groupby(key, sort=False)
    parts = [groups.size().rename("rows")]
    for name in side.columns.drop(key):
        if pd.api.types.is_numeric_dtype(side[name]):
            parts += [groups[name].agg(how).rename(f"{how} of {name}") for how in ("mean", "min", "max", "std")]
        elif side[name].nunique() <= len(side) / 2:
            parts.append(groups[name].nunique().rename(f"different {name}"))
        if not pd.api.types.is_numeric_dtype(side[name]) and side[name].astype(str).str.contains(" ").mean() > 0.5:
            parts.append(groups[name].agg(lambda texts: " ".join(texts.astype(str))).rename(f"all {name}"))
    return pd.concat(parts, axis=1)
