"""Reads somebody's data: a table in CSV or parquet, or a folder of pictures, as a table of texts."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from podium.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    import pandas as pd

PARQUET = (".parquet", ".pq")
SEPARATORS = (",", ";", "\t", "|")


def read_cells(path: Path) -> pd.DataFrame:
    """The cells of a file, as they are written there.

    Raises:
        UsageError: it is not a table; says why.
    """
    if path.suffix.lower() in PARQUET:
        return as_cells(_read_parquet(path), path)
    return _as_table(_parse(_read_text(path), path), path)


def as_cells(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """A table as it would be written to a CSV file."""
    return _as_table(_parse(table.to_csv(index=False), path), path)


def _as_table(rows: list[list[str]], path: Path) -> pd.DataFrame:
    import pandas as pd

    _check_header(rows[0], path)
    return pd.DataFrame(rows[1:], columns=rows[0], dtype=object)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError:
        raise MissingExtraError(f"Reading {path.name}, a parquet file,", "parquet") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as parquet: {error}") from error


def _read_text(path: Path) -> str:
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (gzip.BadGzipFile, EOFError) as error:
        raise UsageError(f"{path} cannot be unpacked: {error}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8. "
            f"Convert the file, for example: iconv -f latin1 -t utf-8 {path.name} > utf8.csv"
        ) from None


def _parse(text: str, path: Path) -> list[list[str]]:
    """The header and all rows, each of the header's length."""
    header = text.partition("\n")[0]
    separator = max(SEPARATORS, key=header.count)
    lines = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
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
    return rows


def _check_header(header: list[str], path: Path) -> None:
    if len(header) == 1:
        raise UsageError(f"{path}: the table has only one column.")
    repeated = [name for name, count in Counter(header).items() if count > 1]
    # pandas writes the index of a table as a first column without a name.
    if repeated or "" in header[1:]:
        raise UsageError(f"{path}: every column needs a name of its own; {(repeated or [''])[0]!r} is not one.")
