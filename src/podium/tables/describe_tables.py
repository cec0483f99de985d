"""Table profiler: reads the first rows of tables and describes their columns."""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from podium.errors import MissingExtraError
from podium.tables.parse_numbers import to_numbers
from podium.tables.profile import ColumnProfile, FeatureKind, TableProfile

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 200_000
"""Maximum number of rows of a table read for a profile."""
MAX_PARTS = 50
"""Maximum number of parts of MAX_ROWS rows read of a single column."""
MAX_TABLES = 40
"""Maximum number of tables read."""
MAX_UNSPLIT_BYTES = 200_000_000
"""Maximum size of files that cannot be read in parts."""
IS_TABLE = re.compile(r"\.(csv|tsv|parquet|json|jsonl|ndjson)$|\.(csv|tsv|json)\.(zip|7z)$", re.IGNORECASE)
IS_TEXT = re.compile(r"\.(csv|tsv)(\.(zip|7z))?$", re.IGNORECASE)
UNREADABLE = (
    *(OSError, ValueError, KeyError, IndexError, TypeError, ImportError),
    *(StopIteration, AttributeError, MemoryError, zipfile.BadZipFile),
)
"""Exceptions raised by reading a file that is not a table."""


@dataclass
class ReadTables:
    """Tables read for a profile, with their descriptions."""

    public: Path
    frames: dict[str, pd.DataFrame] = field(default_factory=dict)
    tables: dict[str, TableProfile] = field(default_factory=dict)

    def add(self, name: str, frame: pd.DataFrame) -> None:
        self.frames[name], self.tables[name] = frame, describe_table(name, frame)

    def parts(self, name: str, column: str, *, text: bool = False) -> Iterator[pd.Series]:
        """Yield a column in parts, including the rows of a truncated table that were not read before."""
        yield self.frames[name][column]
        if self.tables[name].is_truncated and "/*" not in name:  # a table of files is not in one
            for part in islice(read_parts(self.public / name, text=text, column=column), 1, MAX_PARTS):
                yield part[column]

    def keep_words(self, name: str, columns: Sequence[str]) -> None:
        """Read labels again if words such as `None` and `NA` may have been parsed as missing cells."""
        frame = self.frames[name]
        worded = [column for column in columns if frame[column].dtype == object and frame[column].isna().any()]
        if worded and IS_TEXT.search(name):
            cells = read_frame(self.public / name, text=True)
            self.add(name, frame.assign(**{column: cells[column].where(cells[column] != "") for column in worded}))

    def all_labels(self, name: str, column: str) -> pd.DataFrame:
        """Return the labels that were read, with an extra row for each label that occurs only in later rows."""
        import pandas as pd

        labels = self.frames[name][column]
        is_text = labels.dtype == object
        parts = [part.drop_duplicates() for part in self.parts(name, column, text=is_text)]
        values = pd.concat(parts, ignore_index=True).drop_duplicates()
        values = values[values != ""] if is_text else to_numbers(values).dropna().astype(labels.dtype)
        later = values[values.notna() & ~values.isin(labels)]
        found: pd.DataFrame = pd.concat([labels, later], ignore_index=True).to_frame(column)
        return found


def read_tables(public: Path, listed: Sequence[str]) -> ReadTables:
    """Return all readable tables among the files of a public folder."""
    tables = ReadTables(public)
    names = [name for name in listed if IS_TABLE.search(name) and len(Path(name).parts) <= 3]
    folders = Counter(Path(name).parent.as_posix() for name in names)
    names = [name for name in names if folders[Path(name).parent.as_posix()] <= MAX_TABLES]
    for name in names[:MAX_TABLES]:
        try:
            frame = read_frame(public / name)
            if len(frame) and len(frame.columns):
                frame.columns = [str(column) for column in frame.columns]
                tables.add(name, frame)
        # Files can be broken in many ways; a broken file must not hide the others.
        except Exception:  # noqa: BLE001
            continue
    return tables


def read_frame(path: Path, *, text: bool = False) -> pd.DataFrame:
    """Return the first rows of a table, which may be in an archive."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    for part in read_parts(path, text=text):
        parts.append(part)
        if sum(map(len, parts)) >= MAX_ROWS:
            break
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True).head(MAX_ROWS)


def read_parts(path: Path, *, text: bool = False, column: str | None = None) -> Iterator[pd.DataFrame]:
    """Yield a table, or a column of it, part by part, so that no more of it is in memory than is looked at."""
    import pandas as pd

    from podium.tables.table_io import lists_as_text, read_records

    name, columns = path.name.lower(), None if column is None else [column]
    with _open(path) as file:
        if name.endswith(".parquet"):
            content = file if path.is_file() else io.BytesIO(_read_all(file))
            for batch in _parquet_file()(content).iter_batches(batch_size=MAX_ROWS, columns=columns):
                yield lists_as_text(batch.to_pandas())
        elif ".json" in name or name.endswith(".ndjson"):
            table = read_records(io.BytesIO(_read_all(file)))
            yield from (table[start : start + MAX_ROWS] for start in range(0, len(table), MAX_ROWS))
        else:
            # Other parsers read beyond the end of a cell such as 1e2147483648.
            options: dict[str, Any] = {"low_memory": False, "float_precision": "round_trip"}
            options = {"dtype": str, "keep_default_na": False} if text else options
            options |= {"sep": "\t" if ".tsv" in name else ",", "encoding_errors": "replace", "usecols": columns}
            yield from pd.read_csv(file, chunksize=MAX_ROWS, **options)


def _parquet_file() -> Any:
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError("Reading parquet files", "parquet") from error
    return ParquetFile


def _read_all(file: IO[bytes]) -> bytes:
    content = file.read(MAX_UNSPLIT_BYTES + 1)
    if len(content) > MAX_UNSPLIT_BYTES:
        raise ValueError("too large to be profiled")
    return content


def _open(path: Path) -> IO[bytes]:
    """Open a file, which may be in an archive."""
    name = path.name.lower()
    packed = next((one for one in path.parents if one.suffix.lower() == ".zip" and one.is_file()), None)
    if packed is not None:
        with zipfile.ZipFile(packed) as archive:
            return archive.open(path.relative_to(packed).as_posix())
    if name.endswith(".7z"):
        return _open_7z(path)
    if name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.startswith("__MACOSX") and not name.endswith("/")]
            return archive.open(names[0])
    return path.open("rb")


def _open_7z(path: Path) -> IO[bytes]:
    import py7zr

    with tempfile.TemporaryDirectory() as folder, py7zr.SevenZipFile(path) as packed:
        if packed.archiveinfo().uncompressed > MAX_UNSPLIT_BYTES:
            raise ValueError("too large to be profiled")
        packed.extractall(folder)
        return io.BytesIO(next(one for one in sorted(Path(folder).rglob("*")) if one.is_file()).read_bytes())


def describe_table(name: str, frame: pd.DataFrame) -> TableProfile:
    """Return the description of a table in a profile."""
    columns = tuple(_column(column, frame[column]) for column in frame.columns)
    return TableProfile(name, len(frame), columns, is_truncated=len(frame) >= MAX_ROWS)


def _column(name: str, values: pd.Series) -> ColumnProfile:
    column = _column_by_kind(name, values.dropna(), float(values.isna().mean()))
    counts = values.value_counts(dropna=False)
    return replace(column, common=float(counts.iloc[0]) / len(values) if len(counts) else 0.0)


def _column_by_kind(name: str, known: pd.Series, missing: float) -> ColumnProfile:
    import pandas as pd

    if known.empty:
        return ColumnProfile(name, "empty", 0, missing)
    if pd.api.types.is_bool_dtype(known):
        return ColumnProfile(name, "category", int(known.nunique()), missing)
    if pd.api.types.is_numeric_dtype(known):
        return _number_column(name, known, missing)
    if pd.api.types.is_datetime64_any_dtype(known):
        return ColumnProfile(name, "date", int(known.nunique()), missing)
    text = known.astype(str)
    distinct, length = int(text.nunique()), float(text.str.len().mean())
    return ColumnProfile(name, _kind_of_text(text, distinct, length), distinct, missing, length=length)


def _number_column(name: str, cells: pd.Series, missing: float) -> ColumnProfile:
    import numpy as np

    values = cells.to_numpy(dtype=float)
    values = values[np.isfinite(values)]
    distinct = len(np.unique(values))
    whole = bool(len(values)) and bool((values == np.rint(values)).all())
    known = ColumnProfile(name, "number", distinct, missing, is_whole=whole, is_code=whole and _is_code(values))
    if not len(values):
        return known
    return replace(known, minimum=float(values.min()), median=float(np.median(values)), maximum=float(values.max()))


def _is_code(values: Any) -> bool:
    """Return whether integers repeat with gaps that are typical of codes."""
    import numpy as np

    known = np.unique(values)
    if not 8 <= len(known) <= len(values) / 2 or np.abs(known).max() > 2**53:
        return False
    step = int(np.gcd.reduce(np.abs(known - known[0])[1:].astype(np.int64)))
    gaps = np.diff(known) / max(1, step)
    possible = (known[-1] - known[0]) / max(1, step) + 1
    # Counts become sparse towards their maximum; codes are spread evenly.
    return bool(
        possible > 2.5 * len(known) and np.median(gaps) > 1.5 and np.median(known) > known[0] + 0.3 * np.ptp(known)
    )


def _kind_of_text(text: pd.Series, distinct: int, length: float) -> FeatureKind:
    from podium.tables.dates import DATE

    some = text.sample(min(len(text), 300), random_state=0)
    if some.map(lambda value: bool(DATE.match(value))).mean() > 0.95:
        return "date"
    words = some.str.split().str.len().mean()
    if words >= 4 and length > 20 and distinct > 0.3 * len(text):
        return "text"
    return "category"


def as_text(value: Any) -> str:
    """Return a cell as text, whole numbers without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
