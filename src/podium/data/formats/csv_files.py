"""Tables read and written so that nothing changes on the way: floats survive the round trip to the last digit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from podium.data.formats.archives import write_zip
from podium.errors import RawDataError


def read_csv(path: Path, **options: Any) -> pd.DataFrame:
    """A raw table; a missing file is explained."""
    table: pd.DataFrame = _read(path, pd.read_csv, {"float_precision": "round_trip", **options})
    return table


def read_json(path: Path, encoding: str = "utf-8") -> Any:
    """A raw JSON document; a missing file is explained."""
    import json

    return _read(path, lambda place: json.loads(place.read_text(encoding=encoding)), {})


def write_csv(table: pd.DataFrame, path: Path, **options: Any) -> None:
    """Writes a table without its index, in pandas' own style; a `.zip` holds a file of its name, less the ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"index": False, **options}
    if path.suffix == ".zip":
        write_zip(path, [(path.stem, table.to_csv(**options).encode())])
    else:
        table.to_csv(path, **options)


def sample_of(answers: pd.DataFrame, ids: str | list[str], /, **constants: Any) -> pd.DataFrame:
    """A sample submission: the ids of the answers beside columns of constants (or one value per row)."""
    rows = answers[[ids] if isinstance(ids, str) else ids]
    # All at once: pandas complains about more than a hundred columns that came one by one.
    return pd.concat([rows, pd.DataFrame(constants, index=rows.index)], axis=1)


def one_hot(labels: pd.Series, classes: Sequence[str]) -> pd.DataFrame:
    """A 0/1 column per class, in the order given, whether or not the class occurs."""
    return pd.DataFrame({name: labels.eq(name).astype(int) for name in classes})


def lines_beside(task_file: str) -> list[str]:
    """The lines of the text file that has the name of a Python file: a list too long to stand in it."""
    return Path(task_file).with_suffix(".txt").read_text(encoding="utf-8").splitlines()


def renumber(values: pd.Series) -> pd.Series:
    """The same groups numbered 0, 1, 2, … in order of first appearance."""
    return pd.Series(pd.factorize(values)[0], index=values.index, name=values.name)


def _read(path: Path, reader: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        return reader(path, **options)
    except FileNotFoundError as error:
        raise RawDataError(f"The raw data lacks {path.name}: there is no {path}.") from error
