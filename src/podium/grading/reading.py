"""Reads a submission file without trusting it: bounded in bytes and rows, text only, nothing executed."""

from __future__ import annotations

import csv
import gzip
import io
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from podium.errors import InvalidSubmission, MissingExtraError
from podium.task import Columns, Integer, Number

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST_HEADER = 1 << 20
SPARE_ROWS = 1000
"""Rows read beyond twice the expected number, so that surplus ids can be named."""
SMALLEST_LIMIT = 256 << 20
SAMPLE_MULTIPLE = 20
"""A submission may be this many times larger than the sample (at least `SMALLEST_LIMIT`)."""

_SIGNATURES = {
    b"PK\x03\x04": "a ZIP archive or an Excel sheet",
    b"7z\xbc\xaf": "a 7z archive",
    b"PAR1": "a parquet file named as something else",
    b"\x1f\x8b": "a gzip file named as something else",
    b"\x80\x04\x95": "a pickle",
    b"\x93NUM": "a NumPy array",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF",
}


def size_limit(form: Columns, sample_bytes: int) -> int:
    """The largest submission that is read."""
    return form.max_bytes or max(SMALLEST_LIMIT, SAMPLE_MULTIPLE * sample_bytes)


def read_submission(path: Path, form: Columns, *, expected_rows: int, max_bytes: int) -> pd.DataFrame:
    """The id and target columns of a submission, numbers parsed where all of a column are numbers, else as text."""
    check_file(path, max_bytes)
    most_rows = 2 * expected_rows + SPARE_ROWS
    if path.name.lower().endswith((".parquet", ".pq")):
        table = _read_parquet(path, form, most_rows=most_rows, max_bytes=max_bytes)
    else:
        table = _read_csv(path, form, most_rows=most_rows, max_bytes=max_bytes)
    if len(table) == 0:
        raise InvalidSubmission(f"{path.name} has a header but no rows; {expected_rows} rows are expected.")
    if len(table) > most_rows:
        raise InvalidSubmission(f"{path.name} has more than {most_rows} rows; {expected_rows} are expected.")
    return table


def check_file(path: Path, max_bytes: int) -> None:
    """Refuses what is not a file of sensible size before a byte of it is read."""
    try:
        facts = path.stat()
    except OSError as error:
        raise InvalidSubmission(f"There is no submission at {path} ({error.strerror}).") from error
    if stat.S_ISDIR(facts.st_mode):
        raise InvalidSubmission(f"{path.name} is a folder; the submission must be a file.")
    if not stat.S_ISREG(facts.st_mode):
        raise InvalidSubmission(f"{path.name} is not a regular file (a pipe or device).")
    if facts.st_size == 0:
        raise InvalidSubmission(f"{path.name} is empty (0 bytes).")
    if facts.st_size > max_bytes:
        raise InvalidSubmission(
            f"{path.name} has {facts.st_size:,} bytes; at most {max_bytes:,} are read for this task."
        )


class _Bounded(io.RawIOBase):
    """A stream that refuses to yield more than a number of bytes, so that no archive can blow up memory."""

    def __init__(self, stream: IO[bytes], name: str, max_bytes: int) -> None:
        self._stream, self._name, self._left, self._most = stream, name, max_bytes, max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self._stream.read(len(view))
        self._left -= len(data)
        if self._left < 0:
            raise InvalidSubmission(f"{self._name} unpacks to more than {self._most:,} bytes.")
        view[: len(data)] = data
        return len(data)


@contextmanager
def _opened(path: Path, max_bytes: int) -> Iterator[IO[bytes]]:
    """The bytes of a CSV file, unpacked if its name ends in .gz, never more than allowed."""
    with path.open("rb") as file:
        stream = gzip.GzipFile(fileobj=file) if path.name.lower().endswith(".gz") else file
        yield io.BufferedReader(_Bounded(stream, path.name, max_bytes), 1 << 20)  # type: ignore[arg-type]


def _read_csv(path: Path, form: Columns, *, most_rows: int, max_bytes: int) -> pd.DataFrame:
    try:
        with _opened(path, max_bytes) as stream:
            columns = _check_header(path.name, stream.peek(LONGEST_HEADER)[:LONGEST_HEADER], form)  # type: ignore[attr-defined]
        try:
            return _parse_csv(path, form, columns, as_text=False, most_rows=most_rows, max_bytes=max_bytes)
        except ValueError as error:
            if isinstance(error, InvalidSubmission | pd.errors.ParserError | UnicodeDecodeError):
                raise
            # Some cell is not a number: read texts instead, so that the check can name the cell.
            return _parse_csv(path, form, columns, as_text=True, most_rows=most_rows, max_bytes=max_bytes)
    except UnicodeDecodeError as error:
        raise InvalidSubmission(f"{path.name} {_undecodable_line(path, max_bytes)}") from error
    except pd.errors.ParserError as error:
        raise InvalidSubmission(f"{path.name} is not a well-formed CSV: {_reason(error)}") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidSubmission(f"{path.name} is not a readable gzip file: {error}") from error


def _parse_csv(
    path: Path, form: Columns, columns: list[str], *, as_text: bool, most_rows: int, max_bytes: int
) -> pd.DataFrame:
    numeric = [] if as_text else [name for name in form.targets if isinstance(form.rule(name), Number | Integer)]
    with _opened(path, max_bytes) as stream:
        return pd.read_csv(
            stream,
            names=columns,
            header=0,
            index_col=False,
            usecols=[*form.ids, *form.targets],
            dtype={name: "float64" if name in numeric else "str" for name in columns},
            keep_default_na=False,
            na_values={name: [""] for name in numeric},
            encoding="utf-8-sig",
            nrows=most_rows + 1,
            low_memory=False,
        )


def _check_header(name: str, head: bytes, form: Columns) -> list[str]:
    """The column names, once it is clear that this is a CSV that has the required ones."""
    for signature, kind in _SIGNATURES.items():
        if head.startswith(signature):
            raise InvalidSubmission(f"{name} is {kind}; a CSV file is expected.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidSubmission(f"{name} is encoded as UTF-16; write it as UTF-8.")
    if b"\0" in head:
        raise InvalidSubmission(f"{name} is not a text file: byte {head.index(0)} is zero; a CSV file is expected.")
    line = head.removeprefix(b"\xef\xbb\xbf").splitlines()[0] if head.strip() else b""
    if len(line) >= LONGEST_HEADER - 3:
        raise InvalidSubmission(f"{name} is not a CSV: its first line is longer than {LONGEST_HEADER:,} bytes.")
    if not line.strip():
        raise InvalidSubmission(f"{name} has no header: its first line is blank.")
    try:
        columns = next(csv.reader([line.decode("utf-8")]))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidSubmission(f"{name} is not a CSV in UTF-8: its header cannot be read ({error}).") from error
    columns = _known_names(columns, form)
    check_columns(columns, form)
    return columns


def _known_names(columns: list[str], form: Columns) -> list[str]:
    """The columns under the form's names; an alias counts only where the name itself is not there."""
    return [form.aliases.get(name, name) if form.aliases.get(name) not in columns else name for name in columns]


def check_columns(columns: list[str], form: Columns) -> None:
    """Refuses missing, repeated and, where the form says so, unexpected columns."""
    required = [*form.ids, *form.targets]
    missing = [name for name in required if name not in columns]
    if missing:
        raise InvalidSubmission(
            f"{_list('column', missing)} missing. Expected: {_shorten(required)}; found: {_shorten(columns)}."
        )
    repeated = [name for name in required if columns.count(name) > 1]
    if repeated:
        raise InvalidSubmission(f"{_list('column', repeated)} in the header more than once.")
    unexpected = [name for name in columns if name not in required]
    if unexpected and not form.extra_columns:
        raise InvalidSubmission(f"{_list('column', unexpected)} not expected. Expected: {_shorten(required)}.")


def _read_parquet(path: Path, form: Columns, *, most_rows: int, max_bytes: int) -> pd.DataFrame:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("Reading a parquet submission", "parquet") from error
    try:
        file = parquet.ParquetFile(path)
        names = _known_names([str(name) for name in file.schema_arrow.names], form)
        check_columns(names, form)
        facts = file.metadata
        if facts.num_rows > most_rows:
            raise InvalidSubmission(f"{path.name} has {facts.num_rows:,} rows; at most {most_rows:,} are read.")
        unpacked = sum(facts.row_group(number).total_byte_size for number in range(facts.num_row_groups))
        if unpacked > max_bytes:
            raise InvalidSubmission(f"{path.name} unpacks to {unpacked:,} bytes; at most {max_bytes:,} are read.")
        wanted = [file.schema_arrow.names[names.index(name)] for name in (*form.ids, *form.targets)]
        table = file.read(columns=wanted, use_threads=False).select(wanted)
        return _plain_frame(table.rename_columns([*form.ids, *form.targets]))
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InvalidSubmission(f"{path.name} is not a readable parquet file: {_reason(error)}") from error


def _plain_frame(table: Any) -> pd.DataFrame:
    """Columns as numbers, or as texts with blanks for what is missing."""
    from pyarrow import types

    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if types.is_floating(kind) or types.is_integer(kind):
            columns[name] = column.to_pandas()
        elif types.is_boolean(kind) or types.is_string(kind) or types.is_large_string(kind):
            columns[name] = column.to_pandas().astype(object).map(lambda cell: "" if cell is None else str(cell))
        else:
            raise InvalidSubmission(f"Column '{name}' holds {kind} values; numbers or texts are expected.")
    return pd.DataFrame(columns)


def _undecodable_line(path: Path, max_bytes: int) -> str:
    with _opened(path, max_bytes) as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = line[error.start]
                return f"is not encoded as UTF-8: byte 0x{byte:02x} in line {number}. Write it as UTF-8."
    return "is not encoded as UTF-8. Write it as UTF-8."


def _reason(error: Exception) -> str:
    """The gist of a parser's complaint, without its name for itself."""
    return str(error).split("C error: ")[-1].strip().splitlines()[0].rstrip(".") + "."


def _list(noun: str, names: list[str]) -> str:
    """`Column 'a' is` or `Columns 'a', 'b' are`."""
    quoted = _shorten([f"'{name}'" for name in names])
    return f"{noun.capitalize()} {quoted} is" if len(names) == 1 else f"{noun.capitalize()}s {quoted} are"


def _shorten(names: list[str], most: int = 8) -> str:
    shown = [name if len(name) <= 60 else name[:57] + "…" for name in names[:most]]
    return ", ".join(shown) + (f", … ({len(names)} in all)" if len(names) > most else "")
