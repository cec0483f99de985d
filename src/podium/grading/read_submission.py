"""Reader for untrusted submission files: bounded in bytes and rows, text only, nothing executed."""

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
from podium.grading.check_submission import clip, list_some, too_large
from podium.task import Columns, Integer, Number
from podium.text import plural

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_HEADER_BYTES = 1 << 20
SPARE_ROWS = 1000
"""Number of rows read beyond twice the expected number, so that messages can name surplus ids."""
MAX_LINES_PER_ROW = 100
"""Maximum average number of lines per row; a quoted cell may span several lines."""
MAX_EXTRA_COLUMNS = 10_000
MAX_COMMAS = 1_000_000
"""Maximum number of commas in a row with quotes: `csv` builds the list of all cells before it returns the first."""
MIN_SIZE_LIMIT_BYTES = 256 << 20
SAMPLE_MULTIPLE = 20
"""Maximum size of a submission as a multiple of the sample's (but at least `MIN_SIZE_LIMIT_BYTES`)."""
MIN_PACKED_LIMIT_BYTES = 32 << 20
PACKED_SHARE = 8
"""Divisor of the size limit for packed files: unpacking millions of empty gzip members takes minutes."""

_SIGNATURES = {
    b"PK\x03\x04": "a ZIP archive or an Excel sheet",
    b"7z\xbc\xaf": "a 7z archive",
    b"PAR1": "a parquet file named as something else",
    b"\x1f\x8b": "a gzip file named as something else",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\x93NUM": "a NumPy array",
    b"\x89PNG": "an image",
    b"%PDF": "a PDF",
}


def size_limit(form: Columns, sample_bytes: int) -> int:
    """Return the maximum size of a submission in bytes."""
    return form.max_bytes or max(MIN_SIZE_LIMIT_BYTES, SAMPLE_MULTIPLE * sample_bytes)


def read_submission(
    path: Path, form: Columns, *, expected_rows: int, max_bytes: int, as_text: bool = False
) -> pd.DataFrame:
    """Return the id and target columns of a submission; columns that hold only numbers are parsed, others are text.

    Args:
        as_text: True to keep the cells of a CSV as text.
    """
    is_packed = path.name.lower().endswith(".gz")
    check_file(path, min(max_bytes, max(MIN_PACKED_LIMIT_BYTES, max_bytes // PACKED_SHARE)) if is_packed else max_bytes)
    name = clip(path.name)
    max_rows = 2 * expected_rows + SPARE_ROWS
    if path.name.lower().endswith((".parquet", ".pq")):
        table = _read_parquet(path, form, max_rows=max_rows, max_bytes=max_bytes)
    else:
        table = _read_csv(path, form, as_text=as_text, max_rows=max_rows, max_bytes=max_bytes)
    if len(table) == 0:
        raise InvalidSubmission(f"{name} has a header but no rows; {expected_rows:,} rows are expected.")
    if len(table) > max_rows:
        raise _too_many_rows(name, max_rows)
    return table


def check_file(path: Path, max_bytes: int) -> None:
    """Raise InvalidSubmission, before any byte is read, if the path is not a regular file of acceptable size."""
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
        raise too_large(name, facts.st_size, max_bytes)


class _Bounded(io.RawIOBase):
    """Stream that fails after `max_bytes`, so that a decompression bomb cannot exhaust memory."""

    def __init__(self, stream: IO[bytes], name: str, max_bytes: int) -> None:
        self._stream, self._name, self._left, self._most = stream, name, max_bytes, max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self._stream.read(len(view))
        self._left -= len(data)
        if self._left < 0:
            raise _unpacks_too_large(self._name, self._most)
        view[: len(data)] = data
        return len(data)


@contextmanager
def _opened(path: Path, max_bytes: int) -> Iterator[IO[bytes]]:
    """Yield a bounded stream of the bytes of a CSV file, unpacked if its name ends in .gz."""
    with path.open("rb") as file:
        stream = gzip.GzipFile(fileobj=file) if path.name.lower().endswith(".gz") else file
        yield io.BufferedReader(_Bounded(stream, clip(path.name), max_bytes), 1 << 20)  # type: ignore[arg-type]


def _read_csv(path: Path, form: Columns, *, as_text: bool, max_rows: int, max_bytes: int) -> pd.DataFrame:
    name = clip(path.name)
    try:
        with _opened(path, max_bytes) as stream:
            head = stream.peek(MAX_HEADER_BYTES)[:MAX_HEADER_BYTES]  # type: ignore[attr-defined]
            columns = _check_header(name, head, form)
            _check_rows(name, stream, width=len(columns), max_rows=max_rows, max_bytes=max_bytes)
        try:
            return _parse_csv(path, form, columns, as_text=as_text, max_rows=max_rows, max_bytes=max_bytes)
        except ValueError as error:
            if isinstance(error, InvalidSubmission | pd.errors.ParserError):
                raise
            # A cell is not a number: read all cells as text, so that the check can name it.
            return _parse_csv(path, form, columns, as_text=True, max_rows=max_rows, max_bytes=max_bytes)
    except UnicodeDecodeError as error:
        raise InvalidSubmission(_describe_undecodable(path, max_bytes)) from error
    except (pd.errors.ParserError, csv.Error) as error:
        raise InvalidSubmission(f"{name} is not a well-formed CSV: {_reason(error)}") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidSubmission(f"{name} is not a readable gzip file: {_reason(error)}") from error
    except OSError as error:
        raise InvalidSubmission(f"{name} cannot be read ({error.strerror}).") from error


def _parse_csv(
    path: Path, form: Columns, columns: list[str], *, as_text: bool, max_rows: int, max_bytes: int
) -> pd.DataFrame:
    numeric = [] if as_text else [name for name in form.targets if isinstance(form.rule(name), Number | Integer)]
    wanted = sorted((*form.ids, *form.targets), key=columns.index)
    with _opened(path, max_bytes) as stream:
        return pd.read_csv(
            stream,
            names=wanted,
            header=None,  # not 0: pandas takes minutes to read a header with many blank names
            skiprows=1,
            index_col=False,
            usecols=[columns.index(name) for name in wanted],
            dtype={name: "float64" if name in numeric else "str" for name in wanted},
            keep_default_na=False,
            na_values={name: [""] for name in numeric},
            encoding="utf-8-sig",
            nrows=max_rows + 1,
            low_memory=True,  # reads rows in chunks; since dtypes are given, the result is the same
            float_precision="round_trip",  # exact; the fast parser crashes on huge exponents
        )


def _check_header(name: str, head: bytes, form: Columns) -> list[str]:
    """Return the column names; raise InvalidSubmission if this is not a CSV with the required columns."""
    for signature, kind in _SIGNATURES.items():
        if head.startswith(signature):
            raise InvalidSubmission(f"{name} is {kind}; a CSV file is expected.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidSubmission(f"{name} is encoded as UTF-16; write it as UTF-8.")
    line = next(iter(head.removeprefix(b"\xef\xbb\xbf").splitlines()), b"")
    if len(line) >= MAX_HEADER_BYTES - 3:
        raise InvalidSubmission(f"{name} is not a CSV: its first line is longer than {MAX_HEADER_BYTES:,} bytes.")
    if not line.strip():
        raise InvalidSubmission(f"{name} has no header: its first line is blank.")
    try:
        columns = next(csv.reader([line.decode("utf-8")]))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidSubmission(f"{name} is not a CSV in UTF-8: its header cannot be read ({error}).") from error
    columns = _known_names(columns, form)
    check_columns(columns, form)
    return columns


def _check_rows(name: str, stream: IO[bytes], *, width: int, max_rows: int, max_bytes: int) -> None:
    """Raise InvalidSubmission for rows longer or shorter than the header, which pandas would silently cut or pad."""
    if csv.field_size_limit() < max_bytes:
        csv.field_size_limit(max_bytes)  # a cell may be as long as the file
    for row, cells in enumerate(_widths(name, _lines(name, stream, MAX_LINES_PER_ROW * max_rows))):
        if cells != width:
            raise InvalidSubmission(f"{name}, row {row}: the row has {plural(cells, 'cell')}; the header has {width}.")
        if row > max_rows:
            return


def _lines(name: str, stream: IO[bytes], max_lines: int) -> Iterator[str]:
    for number, line in enumerate(io.TextIOWrapper(stream, "utf-8-sig", newline=""), 1):
        if number > max_lines:
            raise InvalidSubmission(f"{name} has more than {max_lines:,} lines, most of them blank or inside quotes.")
        if "\0" in line:
            raise InvalidSubmission(
                f"{name} is not a text file: line {number} has a zero byte; a CSV file is expected."
            )
        yield line


def _widths(name: str, lines: Iterator[str]) -> Iterator[int]:
    """Yield the number of cells in each line that is not blank; until the first quote, counting commas is enough."""
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
            if commas > MAX_COMMAS:
                raise InvalidSubmission(f"{name} has a row with more than {MAX_COMMAS:,} commas, quoted or not.")
            yield line

    for row in csv.reader(bounded()):
        commas = 0
        if len(row) > 1 or "".join(row).strip(" \t"):
            yield len(row)


def _known_names(columns: list[str], form: Columns) -> list[str]:
    """Return the columns under the form's names; an alias is accepted only if the name itself is absent."""
    there = set(columns)
    return [form.aliases.get(name, name) if form.aliases.get(name) not in there else name for name in columns]


def check_columns(columns: list[str], form: Columns) -> None:
    """Raise InvalidSubmission for missing, repeated or (if the form forbids them) unexpected columns."""
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
    if len(columns) > len(required) + MAX_EXTRA_COLUMNS:
        raise InvalidSubmission(f"The header has {len(columns):,} columns; expected: {_quoted(required)}.")


def _read_parquet(path: Path, form: Columns, *, max_rows: int, max_bytes: int) -> pd.DataFrame:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("Reading a parquet submission", "parquet") from error
    name = clip(path.name)
    try:
        with parquet.ParquetFile(path) as file:
            _check_size(name, file.metadata, max_rows=max_rows, max_bytes=max_bytes)
            wanted = _check_schema(file.schema_arrow, form)
            _check_groups(name, file.metadata, wanted)
        # Strings stay dictionary-encoded until their total length is known: one long string may be shared by all rows.
        with parquet.ParquetFile(path, read_dictionary=wanted) as file:
            batches = list(_bounded_batches(name, file, wanted, max_rows=max_rows, max_bytes=max_bytes))
            table = arrow.Table.from_batches(batches, None if batches else file.schema_arrow).select(wanted)
        return _plain_frame(table.rename_columns([*form.ids, *form.targets]))
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InvalidSubmission(f"{name} is not a readable parquet file: {_reason(error)}") from error


def _check_schema(schema: Any, form: Columns) -> list[str]:
    """Return the file's names for the id and target columns; raise InvalidSubmission unless they hold plain values."""
    names = [str(name) for name in schema.names]
    known = _known_names(names, form)
    check_columns(known, form)
    places = [known.index(name) for name in (*form.ids, *form.targets)]
    for place in places:
        kind = _value_type(schema.types[place])
        if not (_is_number(kind) or _is_text(kind)):
            raise InvalidSubmission(f"Column '{known[place]}' holds {kind} values; numbers or strings are expected.")
    return [names[place] for place in places]


def _check_size(name: str, facts: Any, *, max_rows: int, max_bytes: int) -> None:
    if facts.num_rows > max_rows:
        raise _too_many_rows(name, max_rows)
    groups = map(facts.row_group, range(facts.num_row_groups))
    _check_unpacked(name, sum(group.total_byte_size for group in groups), max_bytes)


def _check_groups(name: str, facts: Any, wanted: Collection[str]) -> None:
    """Raise InvalidSubmission if row groups disagree with the metadata: memory is allocated for what they hold."""
    groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
    places = [place for place in range(facts.num_columns) if facts.schema.column(place).path in wanted]
    alike = all(group.column(place).num_values == group.num_rows for group in groups for place in places)
    if not alike or sum(group.num_rows for group in groups) != facts.num_rows:
        raise InvalidSubmission(f"{name} is damaged: its row groups do not add up to its {facts.num_rows:,} rows.")


def _bounded_batches(name: str, file: Any, wanted: list[str], *, max_rows: int, max_bytes: int) -> Iterator[Any]:
    """Yield the rows of a parquet file in batches, bounded regardless of its metadata."""
    rows = size_bytes = 0
    for batch in file.iter_batches(columns=wanted, use_threads=False):
        rows += batch.num_rows
        size_bytes += sum(map(_text_bytes, batch.columns))
        _check_unpacked(name, size_bytes, max_bytes)
        yield batch
        if rows > max_rows:
            return


def _check_unpacked(name: str, size_bytes: int, max_bytes: int) -> None:
    if size_bytes > max_bytes:
        raise _unpacks_too_large(name, max_bytes)


def _text_bytes(column: Any) -> int:
    """Return the total length of a dictionary-encoded column's strings once every row has its own copy."""
    from pyarrow import compute, types

    if not types.is_dictionary(column.type) or _is_number(column.type.value_type):
        return 0
    lengths = compute.binary_length(column.dictionary).take(column.indices)
    return int(compute.sum(lengths.cast("int64")).as_py() or 0)


def _plain_frame(table: Any) -> pd.DataFrame:
    """Return a table of numbers and of strings, with missing strings blank."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        cells = column.cast(_value_type(column.type)).to_pandas()
        is_number = _is_number(_value_type(column.type))
        columns[name] = cells if is_number else cells.astype(object).map(lambda cell: "" if cell is None else str(cell))
    return pd.DataFrame(columns)


def _value_type(kind: Any) -> Any:
    """Return the type of a column's values, dictionary-encoded or not."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind))


def _is_text(kind: Any) -> bool:
    """Return whether values of a type can be written as text: strings and booleans."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_boolean(kind))


def _too_many_rows(name: str, max_rows: int) -> InvalidSubmission:
    expected = (max_rows - SPARE_ROWS) // 2
    return InvalidSubmission(f"{name} has more than {max_rows:,} rows; {expected:,} are expected.")


def _unpacks_too_large(name: str, max_bytes: int) -> InvalidSubmission:
    return InvalidSubmission(f"{name} unpacks to more than {max_bytes:,} bytes, the maximum for this task.")


def _describe_undecodable(path: Path, max_bytes: int) -> str:
    """Return the message for a file that is not UTF-8, naming the first line that cannot be decoded."""
    name = clip(path.name)
    with _opened(path, max_bytes) as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = line[error.start]
                return f"{name} is not encoded as UTF-8: byte 0x{byte:02x} in line {number}. Write it as UTF-8."
    return f"{name} is not encoded as UTF-8. Write it as UTF-8."


def _reason(error: Exception) -> str:
    """Return the first line of a parser's error message, without the parser's name."""
    lines = str(error).split("C error: ")[-1].strip().splitlines() or [type(error).__name__]
    return clip(lines[0].rstrip("."), 300) + "."


def _columns(names: Collection[str]) -> str:
    """Return `Column 'a' is` or `Columns 'a', 'b' are`."""
    return f"Column {_quoted(names)} is" if len(names) == 1 else f"Columns {_quoted(names)} are"


def _quoted(names: Collection[str]) -> str:
    return list_some([f"'{name}'" for name in names], 8)
