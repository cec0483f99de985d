"""The table that a new task is made from: read strictly, and refused with a reason where nothing can be made of it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from podium.data.columns import BLANK, Column, describe_column
from podium.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

FEWEST_ROWS = 50
SHUFFLE_SEED = 0


@dataclass(frozen=True)
class Table:
    """Rows as texts, with an id and a target in each."""

    rows: pd.DataFrame
    id: str
    target: str
    new_id: bool
    """Whether the ids were added here."""
    left_out: int
    """Rows of the file that have no target."""

    def columns(self, *, classes: bool) -> list[Column]:
        """What each column holds; whether the target holds classes cannot be told from its values alone."""
        columns = [describe_column(self.rows[name], classes=classes and name == self.target) for name in self.rows]
        return [Column(column.name, "id") if column.name == self.id else column for column in columns]


def read_table(path: Path, *, target: str, id_column: str | None) -> Table:
    """The rows of a CSV file that have a target.

    Raises:
        UsageError: no task can be made of it; says why.
    """
    import pandas as pd

    header, cells = _read_cells(path)
    for name in filter(None, (target, id_column)):
        if name not in header:
            close = get_close_matches(name, header, n=1)
            hint = f"Did you mean '{close[0]}'? " if close else ""
            raise UsageError(f"{path} has no column '{name}'. {hint}It has: {', '.join(header)}")
    if target == id_column:
        raise UsageError(f"'{target}' is both --target and --id; they are different columns.")
    table = pd.DataFrame(cells, columns=header, dtype=object)
    rows = table[~table[target].isin(BLANK)].reset_index(drop=True)
    if len(rows) < FEWEST_ROWS:
        raise UsageError(f"{path} has {len(rows)} rows with a '{target}'; a task needs at least {FEWEST_ROWS}.")
    known_id = id_column or _find_id(rows, target)
    if known_id:
        _check_id(rows[known_id], path)
    else:
        rows = _with_ids(rows)
    chosen = known_id or str(rows.columns[0])
    if set(rows.columns) == {chosen, target}:
        raise UsageError(f"{path} has no columns besides '{target}' to predict it from.")
    return Table(rows, chosen, target, known_id is None, len(table) - len(rows))


def _read_cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """The header and all rows, each of the header's length."""
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8. "
            f"Convert the file, for example: iconv -f latin1 -t utf-8 {path.name} > utf8.csv"
        ) from None
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows = []
    try:
        for row in lines:
            if row:
                rows.append(row)
                if len(row) != len(rows[0]):
                    raise UsageError(
                        f"{path}, line {lines.line_num}: {len(row)} cells; the header has {len(rows[0])} columns."
                    )
    except csv.Error as error:
        raise UsageError(f"{path}, line {lines.line_num}: {error}") from error
    if not rows:
        raise UsageError(f"{path} is empty.")
    _check_header(rows[0], path)
    return rows[0], rows[1:]


def _check_header(header: list[str], path: Path) -> None:
    if len(header) == 1:
        other = next((mark for mark in (";", "\t", "|") if mark in header[0]), None)
        reason = f"separated by {other!r}; write it with commas" if other else "only one column"
        raise UsageError(f"{path}: the table is {reason}." if other else f"{path}: the table has {reason}.")
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated or "" in header:
        raise UsageError(f"{path}: every column needs a name of its own; {(repeated or [''])[0]!r} is not one.")


def _find_id(rows: pd.DataFrame, target: str) -> str | None:
    """A column that names rows: it is called so, and no two rows share a value."""
    names = [name for name in map(str, rows.columns) if name != target and name.lower().endswith(("id", "_index"))]
    return next((name for name in names if rows[name].is_unique and not rows[name].isin(BLANK).any()), None)


def _check_id(ids: pd.Series, path: Path) -> None:
    if ids.isin(BLANK).any():
        raise UsageError(f"{path}: the id column '{ids.name}' has blank cells. Leave out --id to get new ids.")
    if not ids.is_unique:
        repeated = ids[ids.duplicated()].iloc[0]
        raise UsageError(f"{path}: the id column '{ids.name}' has '{repeated}' more than once; ids are unique.")


def _with_ids(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with new ids, which do not tell the order of the file."""
    import numpy as np

    name = next(name for name in ("id", "row_id", "podium_id") if name not in rows.columns)
    ids = np.random.default_rng(SHUFFLE_SEED).permutation(len(rows))
    rows = rows.copy()
    rows.insert(0, name, [str(number) for number in ids])
    return rows
