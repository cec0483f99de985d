"""Lossless CSV reader and writer: floats survive the round trip to the last digit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from podium.data.formats.archives import write_zip
from podium.safefs.atomic_files import missing_raw_file


def read_csv(path: Path, **options: Any) -> pd.DataFrame:
    """Read a raw table; a missing file raises RawDataError."""
    table: pd.DataFrame = _read(path, pd.read_csv, {"float_precision": "round_trip", **options})
    return table


def read_json(path: Path, encoding: str = "utf-8") -> Any:
    """Read a raw JSON document; a missing file raises RawDataError."""
    import json

    return _read(path, lambda place: json.loads(place.read_text(encoding=encoding)), {})


def write_csv(table: pd.DataFrame, path: Path, **options: Any) -> None:
    """Write a table without its index, in pandas' format; `train.csv.zip` contains a file `train.csv`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"index": False, **options}
    if path.suffix == ".zip":
        write_zip(path, [(path.stem, table.to_csv(**options).encode())])
    else:
        table.to_csv(path, **options)


def sample_of(answers: pd.DataFrame, ids: str | list[str], /, **constants: Any) -> pd.DataFrame:
    """Return a sample submission: the ids of the answers, with columns of constants (or one value per row)."""
    rows = answers[[ids] if isinstance(ids, str) else ids]
    # One `concat`: pandas warns about fragmentation after a hundred single inserts.
    return pd.concat([rows, pd.DataFrame(constants, index=rows.index)], axis=1)


def one_hot(labels: pd.Series, classes: Sequence[str]) -> pd.DataFrame:
    """Return a 0/1 column per class, in the given order, whether or not the class occurs."""
    return pd.DataFrame({name: labels.eq(name).astype(int) for name in classes})


def lines_beside(task_file: str) -> list[str]:
    """Return the lines of the .txt file next to a task file, for lists that are too long for Python code."""
    return Path(task_file).with_suffix(".txt").read_text(encoding="utf-8").splitlines()


def renumber(values: pd.Series) -> pd.Series:
    """Renumber groups to 0, 1, 2, … in order of first appearance."""
    return pd.Series(pd.factorize(values)[0], index=values.index, name=values.name)


def _read(path: Path, reader: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        return reader(path, **options)
    except FileNotFoundError as error:
        raise missing_raw_file(path) from error
