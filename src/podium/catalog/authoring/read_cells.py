"""Reader for user-supplied tables (CSV or parquet), as text."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from podium.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    import pandas as pd

PARQUET = (".parquet", ".pq")
SEPARATORS = (",", ";", "\t", "|")
FIRST_LINES = 20
"""Number of lines used to detect the separator."""
NO_TEXT = {
    b"PK\x03\x04": "an Excel sheet or a ZIP archive. Save the sheet as CSV, or unpack the archive",
    b"\xd0\xcf\x11\xe0": "an Excel sheet. Save it as CSV",
    b"7z\xbc\xaf": "a 7z archive. Unpack it",
    b"PAR1": "a parquet file. Let its name end in .parquet",
    b"\x1f\x8b": "a gzip file. Let its name end in .gz",
    b"\xff\xfe": "encoded as UTF-16. Convert it, for example: iconv -f utf-16 -t utf-8 FILE > utf8.csv",
    b"\xfe\xff": "encoded as UTF-16. Convert it, for example: iconv -f utf-16 -t utf-8 FILE > utf8.csv",
}
"""Signatures of files that are not CSV, with advice."""


def read_cells(path: Path) -> pd.DataFrame:
    """Return the cells of a file as text, without surrounding blanks and with normalised line ends.

    Raises:
        UsageError: It is not a table; the message says why.
    """
    is_parquet = path.suffix.lower() in PARQUET
    cells = as_cells(_read_parquet(path), path) if is_parquet else _as_table(_parse(_read_text(path), path), path)
    return cells.map(str.strip)


def as_cells(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a table as it would be written to a CSV file."""
    text = table.to_csv(index=False, lineterminator="\n")
    if "\r" in text:
        table = table.apply(lambda column: column.map(_with_plain_line_ends) if column.dtype.kind == "O" else column)
        text = table.to_csv(index=False, lineterminator="\n")
    return _as_table(_parse(text, path, (",",)), path)


def _with_plain_line_ends(cell: object) -> object:
    """Return a cell without carriage returns, which Python's csv did not quote before 3.11.9 and then split rows."""
    return cell.replace("\r\n", "\n").replace("\r", "\n") if isinstance(cell, str) else cell


def _as_table(rows: list[list[str]], path: Path) -> pd.DataFrame:
    import pandas as pd

    header = [" ".join(name.split()) for name in rows[0]]
    _check_header(header, path)
    return pd.DataFrame(rows[1:], columns=header, dtype=object)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        table = pd.read_parquet(path)
    except ImportError:
        raise MissingExtraError(f"Reading {path.name}, a parquet file,", "parquet") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as parquet: {error}") from error
    is_counted = isinstance(table.index, pd.RangeIndex)
    return table if is_counted else table.reset_index(allow_duplicates=True)


def _read_text(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            content = gzip.decompress(content)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise UsageError(f"{path} cannot be unpacked: {error}") from error
    found = next((what for start, what in NO_TEXT.items() if content.startswith(start)), None)
    if found:
        raise UsageError(f"{path} is {found}.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8. "
            f"Convert the file, for example: iconv -f latin1 -t utf-8 {path.name} > utf8.csv"
        ) from None


def _find_separator(text: str, separators: Sequence[str]) -> str:
    """Return the separator that gives the first rows equal numbers of cells, or else splits the header most."""
    first = list(islice(io.StringIO(text, newline=""), FIRST_LINES))

    def fit(separator: str) -> tuple[bool, int]:
        widths = [len(row) for row in csv.reader(first, delimiter=separator) if row] or [0]
        whole = widths[:-1] if len(first) == FIRST_LINES and widths[1:] else widths  # the last may be cut off
        return widths[0] > 1 and len(set(whole)) == 1, widths[0]

    return max(separators, key=fit)


def _parse(text: str, path: Path, separators: Sequence[str] = SEPARATORS) -> list[list[str]]:
    """Return the header and all rows, each of the header's length."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # a cell may be as long as the file
    lines = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=_find_separator(text, separators))
    rows: list[list[str]] = []
    try:
        for row in lines:
            if row:
                rows.append([str(_with_plain_line_ends(cell)) for cell in row])
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
