"""Reads a submission file without trusting it: bounded in bytes and rows, text only, nothing executed."""

from __future__ import annotations

import csv
import gzip
import io
import stat
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from podium.errors import InvalidSubmission, MissingExtraError
from podium.grading.check_submission import clip, some
from podium.task import Columns, Integer, Number

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST_HEADER = 1 << 20
SPARE_ROWS = 1000
"""Rows read beyond twice the expected number, so that surplus ids can be named."""
LINES_PER_ROW = 100
"""A quoted cell may go over several lines, but on average no more than this."""
MOST_EXTRA_COLUMNS = 10_000
MOST_COMMAS = 1_000_000
"""In a row with quotes, which may hold commas in its cells; csv would make a list of all cells before we see one."""
SMALLEST_LIMIT = 256 << 20
SAMPLE_MULTIPLE = 20
"""A submission may be this many times larger than the sample (at least `SMALLEST_LIMIT`)."""
SMALLEST_PACKED_LIMIT = 32 << 20
PACKED_SHARE = 8
"""A packed file may have at most this part of what it may unpack to: millions of empty pieces take minutes."""

_SIGNATURES = {
    b"PK\x03\x04": "a ZIP archive or an Excel sheet",
    b"7z\xbc\xaf": "a 7z archive",
    b"PAR1": "a parquet file named as something else",
    b"\x1f\x8b": "a gzip file named as something else",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\x93NUM": "a NumPy array",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF",
}


def size_limit(form: Columns, sample_bytes: int) -> int:
    """The largest submission that is read."""
    return form.max_bytes or max(SMALLEST_LIMIT, SAMPLE_MULTIPLE * sample_bytes)


def read_submission(
    path: Path, form: Columns, *, expected_rows: int, max_bytes: int, as_text: bool = False
) -> pd.DataFrame:
    """The id and target columns of a submission, numbers parsed where all of a column are numbers, else as text.

    Args:
        as_text: whether the cells of a CSV stay as they are written.
    """
    is_packed = path.name.lower().endswith(".gz")
    check_file(path, min(max_bytes, max(SMALLEST_PACKED_LIMIT, max_bytes // PACKED_SHARE)) if is_packed else max_bytes)
    name = clip(path.name)
    most_rows = 2 * expected_rows + SPARE_ROWS
    if path.name.lower().endswith((".parquet", ".pq")):
        table = _read_parquet(path, form, most_rows=most_rows, max_bytes=max_bytes)
    else:
        table = _read_csv(path, form, as_text=as_text, most_rows=most_rows, max_bytes=max_bytes)
    if len(table) == 0:
        raise InvalidSubmission(f"{name} has a header but no rows; {expected_rows} rows are expected.")
    if len(table) > most_rows:
        raise InvalidSubmission(f"{name} has more than {most_rows} rows; {expected_rows} are expected.")
    return table


def check_file(path: Path, max_bytes: int) -> None:
    """Refuses what is not a file of sensible size before a byte of it is read."""
    name = clip(path.name)
    try:
        facts = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte in it
        reason = getattr(error, "strerror", error)
        raise InvalidSubmission(f"There is no submission at {clip(str(path), 300)} ({reason}).") from error
    if stat.S_ISDIR(facts.st_mode):
        raise InvalidSubmission(f"{name} is a folder; the submission must be a file.")
    if not stat.S_ISREG(facts.st_mode):
        raise InvalidSubmission(f"{name} is not a regular file (a pipe or device).")
    if facts.st_size == 0:
        raise InvalidSubmission(f"{name} is empty (0 bytes).")
    if facts.st_size > max_bytes:
        raise InvalidSubmission(f"{name} has {facts.st_size:,} bytes; at most {max_bytes:,} are read for this task.")


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
        yield io.BufferedReader(_Bounded(stream, clip(path.name), max_bytes), 1 << 20)  # type: ignore[arg-type]


def _read_csv(path: Path, form: Columns, *, as_text: bool, most_rows: int, max_bytes: int) -> pd.DataFrame:
    name = clip(path.name)
    try:
        with _opened(path, max_bytes) as stream:
            columns = _check_header(name, stream.peek(LONGEST_HEADER)[:LONGEST_HEADER], form)  # type: ignore[attr-defined]
            _check_rows(name, stream, width=len(columns), most_rows=most_rows, max_bytes=max_bytes)
        try:
            return _parse_csv(path, form, columns, as_text=as_text, most_rows=most_rows, max_bytes=max_bytes)
        except ValueError as error:
            if isinstance(error, InvalidSubmission | pd.errors.ParserError):
                raise
            # Some cell is not a number: read texts instead, so that the check can name the cell.
            return _parse_csv(path, form, columns, as_text=True, most_rows=most_rows, max_bytes=max_bytes)
    except UnicodeDecodeError as error:
        raise InvalidSubmission(f"{name} {_undecodable_line(path, max_bytes)}") from error
    except (pd.errors.ParserError, csv.Error) as error:
        raise InvalidSubmission(f"{name} is not a well-formed CSV: {_reason(error)}") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidSubmission(f"{name} is not a readable gzip file: {_reason(error)}") from error
    except OSError as error:
        raise InvalidSubmission(f"{name} cannot be read ({error.strerror}).") from error


def _parse_csv(
    path: Path, form: Columns, columns: list[str], *, as_text: bool, most_rows: int, max_bytes: int
) -> pd.DataFrame:
    numeric = [] if as_text else [name for name in form.targets if isinstance(form.rule(name), Number | Integer)]
    wanted = sorted((*form.ids, *form.targets), key=columns.index)
    with _opened(path, max_bytes) as stream:
        return pd.read_csv(
            stream,
            names=wanted,
            header=None,  # not 0: pandas takes minutes over a header with many blank names
            skiprows=1,
            index_col=False,
            usecols=[columns.index(name) for name in wanted],
            dtype={name: "float64" if name in numeric else "str" for name in wanted},
            keep_default_na=False,
            na_values={name: [""] for name in numeric},
            encoding="utf-8-sig",
            nrows=most_rows + 1,
            low_memory=True,  # some rows at a time; types are given, so that it changes no column
            float_precision="round_trip",  # exact; the fast parser crashes on huge exponents
        )


def _check_header(name: str, head: bytes, form: Columns) -> list[str]:
    """The column names, once it is clear that this is a CSV that has the required ones."""
    for signature, kind in _SIGNATURES.items():
        if head.startswith(signature):
            raise InvalidSubmission(f"{name} is {kind}; a CSV file is expected.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidSubmission(f"{name} is encoded as UTF-16; write it as UTF-8.")
    line = next(iter(head.removeprefix(b"\xef\xbb\xbf").splitlines()), b"")
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


def _check_rows(name: str, stream: IO[bytes], *, width: int, most_rows: int, max_bytes: int) -> None:
    """Refuses rows that are longer or shorter than the header: pandas would cut or pad them without a word."""
    if csv.field_size_limit() < max_bytes:
        csv.field_size_limit(max_bytes)  # a cell may be as long as the file
    for row, cells in enumerate(_widths(name, _lines(name, stream, LINES_PER_ROW * most_rows))):
        if cells != width:
            raise InvalidSubmission(f"{name}, row {row}: the number of cells is {cells}; the header has {width}.")
        if row > most_rows:
            return


def _lines(name: str, stream: IO[bytes], most_lines: int) -> Iterator[str]:
    for number, line in enumerate(io.TextIOWrapper(stream, "utf-8-sig", newline=""), 1):
        if number > most_lines:
            raise InvalidSubmission(f"{name} has more than {most_lines:,} lines, most of them blank or inside quotes.")
        if "\0" in line:
            raise InvalidSubmission(
                f"{name} is not a text file: line {number} has a zero byte; a CSV file is expected."
            )
        yield line


def _widths(name: str, lines: Iterator[str]) -> Iterator[int]:
    """The number of cells in each line that is not blank; counting commas will do until the first quote."""
    for line in lines:
        if '"' in line:
            yield from _quoted_widths(name, chain([line], lines))
        elif line.strip(" \t\r\n"):
            yield line.count(",") + 1


def _quoted_widths(name: str, lines: Iterator[str]) -> Iterator[int]:
    commas = 0

    def bounded() -> Iterator[str]:
        nonlocal commas
        for line in lines:
            commas += line.count(",")
            if commas > MOST_COMMAS:
                raise InvalidSubmission(f"{name} has a row with more than {MOST_COMMAS:,} commas, quoted or not.")
            yield line

    for row in csv.reader(bounded()):
        commas = 0
        if len(row) > 1 or "".join(row).strip(" \t"):
            yield len(row)


def _known_names(columns: list[str], form: Columns) -> list[str]:
    """The columns under the form's names; an alias counts only where the name itself is not there."""
    there = set(columns)
    return [form.aliases.get(name, name) if form.aliases.get(name) not in there else name for name in columns]


def check_columns(columns: list[str], form: Columns) -> None:
    """Refuses missing, repeated and, where the form says so, unexpected columns."""
    required = dict.fromkeys((*form.ids, *form.targets))
    times = Counter(columns)
    missing = [name for name in required if name not in times]
    if missing:
        raise InvalidSubmission(
            f"{_columns(missing)} missing. Expected: {_quoted(required)}; found: {_quoted(columns)}."
        )
    repeated = [name for name in required if times[name] > 1]
    if repeated:
        raise InvalidSubmission(f"{_columns(repeated)} in the header more than once.")
    unexpected = [name for name in times if name not in required]
    if unexpected and not form.extra_columns:
        raise InvalidSubmission(f"{_columns(unexpected)} not expected. Expected: {_quoted(required)}.")
    if form.column_order and [name for name in columns if name in required] != list(required):
        raise InvalidSubmission(f"The columns are not in the expected order: {_quoted(required)}.")
    if len(columns) > len(required) + MOST_EXTRA_COLUMNS:
        raise InvalidSubmission(f"There are {len(columns):,} columns; expected: {_quoted(required)}.")


def _read_parquet(path: Path, form: Columns, *, most_rows: int, max_bytes: int) -> pd.DataFrame:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("Reading a parquet submission", "parquet") from error
    name = clip(path.name)
    try:
        with parquet.ParquetFile(path) as file:
            _check_size(name, file.metadata, most_rows=most_rows, max_bytes=max_bytes)
            wanted = _check_schema(file.schema_arrow, form)
            _check_groups(name, file.metadata, wanted)
        # Texts stay in their dictionary until it is known how long they are: one of them may stand for all rows.
        with parquet.ParquetFile(path, read_dictionary=wanted) as file:
            batches = list(_bounded_batches(name, file, wanted, most_rows=most_rows, max_bytes=max_bytes))
            table = arrow.Table.from_batches(batches, None if batches else file.schema_arrow).select(wanted)
        return _plain_frame(table.rename_columns([*form.ids, *form.targets]))
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InvalidSubmission(f"{name} is not a readable parquet file: {_reason(error)}") from error


def _check_schema(schema: Any, form: Columns) -> list[str]:
    """The file's names for the id and target columns, once it is clear that they are there and hold plain values."""
    names = [str(name) for name in schema.names]
    known = _known_names(names, form)
    check_columns(known, form)
    places = [known.index(name) for name in (*form.ids, *form.targets)]
    for place in places:
        kind = _value_type(schema.types[place])
        if not (_is_number(kind) or _is_text(kind)):
            raise InvalidSubmission(f"Column '{known[place]}' holds {kind} values; numbers or texts are expected.")
    return [names[place] for place in places]


def _check_size(name: str, facts: Any, *, most_rows: int, max_bytes: int) -> None:
    if facts.num_rows > most_rows:
        raise InvalidSubmission(f"{name} has {facts.num_rows:,} rows; at most {most_rows:,} are read.")
    groups = map(facts.row_group, range(facts.num_row_groups))
    _check_unpacked(name, sum(group.total_byte_size for group in groups), max_bytes)


def _check_groups(name: str, facts: Any, wanted: Collection[str]) -> None:
    """Refuses a file whose parts hold other numbers of rows than it says: memory is taken for what they hold."""
    groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
    places = [place for place in range(facts.num_columns) if facts.schema.column(place).path in wanted]
    alike = all(group.column(place).num_values == group.num_rows for group in groups for place in places)
    if not alike or sum(group.num_rows for group in groups) != facts.num_rows:
        raise InvalidSubmission(f"{name} is damaged: its parts do not hold the {facts.num_rows:,} rows it says it has.")


def _bounded_batches(name: str, file: Any, wanted: list[str], *, most_rows: int, max_bytes: int) -> Iterator[Any]:
    """The rows of a parquet file, some at a time; whatever it says of itself, no more than allowed."""
    rows = size_bytes = 0
    for batch in file.iter_batches(columns=wanted, use_threads=False):
        rows += batch.num_rows
        size_bytes += sum(map(_text_bytes, batch.columns))
        _check_unpacked(name, size_bytes, max_bytes)
        yield batch
        if rows > most_rows:
            return


def _check_unpacked(name: str, size_bytes: int, max_bytes: int) -> None:
    if size_bytes > max_bytes:
        raise InvalidSubmission(f"{name} unpacks to {size_bytes:,} bytes; at most {max_bytes:,} are read.")


def _text_bytes(column: Any) -> int:
    """How long the texts of a column are together once each row has its own."""
    from pyarrow import compute, types

    if not types.is_dictionary(column.type) or _is_number(column.type.value_type):
        return 0
    lengths = compute.binary_length(column.dictionary).take(column.indices)
    return int(compute.sum(lengths.cast("int64")).as_py() or 0)


def _plain_frame(table: Any) -> pd.DataFrame:
    """Columns as numbers, or as texts with blanks for what is missing."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        cells = column.cast(_value_type(column.type)).to_pandas()
        is_number = _is_number(_value_type(column.type))
        columns[name] = cells if is_number else cells.astype(object).map(lambda cell: "" if cell is None else str(cell))
    return pd.DataFrame(columns)


def _value_type(kind: Any) -> Any:
    """The type of a column's values, whether or not they are kept in a dictionary."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind))


def _is_text(kind: Any) -> bool:
    """Whether values can be written as text: texts themselves, and True and False."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_boolean(kind))


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
    lines = str(error).split("C error: ")[-1].strip().splitlines() or [type(error).__name__]
    return clip(lines[0].rstrip("."), 300) + "."


def _columns(names: Collection[str]) -> str:
    """`Column 'a' is` or `Columns 'a', 'b' are`."""
    return f"Column {_quoted(names)} is" if len(names) == 1 else f"Columns {_quoted(names)} are"


def _quoted(names: Collection[str]) -> str:
    return some([f"'{name}'" for name in names], 8)
