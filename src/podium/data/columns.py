"""Column descriptions of a table, and random tables drawn from them: miniatures without any real row."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from podium.data.fabricate import hex_ids, sentences
from podium.tables.parse_numbers import to_numbers

if TYPE_CHECKING:
    import pandas as pd

ColumnKind = Literal["id", "number", "time", "category", "text"]
MAX_CATEGORIES = 50
MINIATURE_ROWS = 300
ROWS_PER_CLASS = 20
_LEVELS = np.linspace(0, 1, 21)
BLANK = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"}
    | {"NULL", "NaN", "None", "n/a", "nan", "null"}
)
"""Texts that pandas reads as missing."""
TIME_FORMATS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f", "%Y%m%dT%H%M", "%Y/%m/%d",
    "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H.%M", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%m/%d/%y", "%d/%m/%y", "%d.%m.%Y", "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H.%M", "%d-%m-%Y", "%b %d %Y", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y",
    "%d %b %Y %H:%M", "%d %b %Y %H.%M", "%d-%b-%Y", "%d-%b-%y", "%Y-%m",
)  # fmt: skip
"""Formats of times. If two match equally many cells (month and day in either order), the first one is used."""
MIN_TIME_SHARE = 0.95
"""Share of cells that must be times: others may be a 9999-12-31 for never, or a text for unknown."""
MAX_FORMAT_PROBES = 20
"""Number of cells used to preselect the time formats that are tried on all cells."""
MIN_TEXT_WORDS = 4
MIN_CODE_LETTERS = 15
MIN_DECIMAL_DIGITS = 7
"""Minimum average lengths of texts, codes and decimals that do not repeat by chance."""


@dataclass(frozen=True)
class Column:
    """Description of a column for a data dictionary or a miniature."""

    name: str
    kind: ColumnKind
    missing: float = 0.0
    """Share of blank cells."""
    quantiles: tuple[float, ...] = ()
    """Evenly spaced quantiles of a number, or of a time in seconds since 1970, from the smallest to the largest."""
    whole: bool = False
    """True if a number column has only whole numbers."""
    shares: dict[str, float] = field(default_factory=dict)
    """Share of each value of a category, the most frequent first."""
    words: int = 0
    """Average number of words of a text."""
    written: str = ""
    """Format of a time."""


def describe_column(cells: pd.Series, *, classes: bool = False) -> Column:
    """Describe a column of texts as read from a CSV file.

    Args:
        classes: True to describe it as a category, even if its values are numbers or there are many of them.
    """

    present = cells[~cells.isin(BLANK)]
    column = Column(str(cells.name), "category", round(1 - len(present) / max(len(cells), 1), 4))
    numbers = to_numbers(present)
    if len(present) and np.isfinite(numbers).all() and not classes:
        quantiles = tuple(float(f"{value:.6g}") for value in np.quantile(numbers, _LEVELS))
        return replace(column, kind="number", quantiles=quantiles, whole=bool((numbers % 1 == 0).all()))
    written = None if classes else time_format(present)
    if written:
        moments = parse_times(present, written)
        moments = moments[np.isfinite(moments)]
        return replace(column, kind="time", quantiles=tuple(np.quantile(moments, _LEVELS).tolist()), written=written)
    counts = present.value_counts(normalize=True)
    if classes or (len(counts) <= MAX_CATEGORIES and len(counts) <= max(2, len(present) / 2)):
        return replace(column, shares={str(value): round(share, 4) for value, share in counts.items()})
    return replace(column, kind="text", words=max(1, round(present.str.split().str.len().mean())))


def time_format(cells: pd.Series, at_least: float = MIN_TIME_SHARE) -> str | None:
    """Return the time format of the cells that are not blank, or None if fewer than `at_least` of them match one."""
    present = cells[~cells.isin(BLANK)]
    seen = present.iloc[:: max(1, len(present) // MAX_FORMAT_PROBES)]
    shares = {written: _share_written(present, written) for written in TIME_FORMATS if _share_written(seen, written)}
    best = max(shares, key=lambda written: shares[written], default="")
    return best if best and shares[best] >= at_least else None


def _share_written(cells: pd.Series, written: str) -> float:
    """Return the share of cells that are times in this format."""
    import pandas as pd

    return float(pd.to_datetime(cells, format=written, errors="coerce", utc=True).notna().mean()) if len(cells) else 0.0


def parse_times(cells: pd.Series, written: str) -> np.ndarray:
    """Return times in seconds since 1970; NaN for blank cells and cells in another format."""
    import pandas as pd

    times = pd.to_datetime(cells.where(~cells.isin(BLANK)), format=written, errors="coerce", utc=True)
    return np.asarray((times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1), dtype=float)


def count_possible_rows(rows: pd.DataFrame) -> float:
    """Return the number of distinct rows these columns could form; infinite if one rarely repeats a cell by chance."""
    distinct = {name: rows[name].nunique(dropna=False) for name in rows}
    return math.prod(math.inf if _never_repeats(rows[name]) else min(count, 1e6) for name, count in distinct.items())


def _never_repeats(cells: pd.Series) -> bool:
    """Return whether equal cells must be copies, as in texts, long codes and decimals with many digits."""
    present = cells[~cells.isin(BLANK)]
    values = present.drop_duplicates()
    is_category = len(values) <= MAX_CATEGORIES and len(values) < len(present) / 2
    if is_category or len(values) <= len(present) / 10 or time_format(values):
        return False
    repeated = present[present.duplicated()].drop_duplicates()
    seen = repeated if len(repeated) else values  # a repeated 0 among decimals with many digits is plausible
    if seen.str.split().str.len().mean() >= MIN_TEXT_WORDS:
        return True
    are_decimals = values.str.fullmatch(r"[+-]?\d*\.\d+(e[+-]?\d+)?", case=False).mean() > 0.5
    signs, many = (r"\d", MIN_DECIMAL_DIGITS) if are_decimals else (r"[^\W\d_]", MIN_CODE_LETTERS)
    is_long = seen.str.count(signs).mean() >= many
    return bool(is_long and len(values) > 0.8 * len(present))


def write_columns(columns: list[Column], path: Path) -> None:
    """Write columns as JSON."""
    path.write_text(json.dumps([asdict(column) for column in columns], indent=1, ensure_ascii=False) + "\n", "utf-8")


def read_columns(path: Path) -> list[Column]:
    """Read the columns that `write_columns` wrote."""
    return parse_columns(json.loads(path.read_text(encoding="utf-8")))


def parse_columns(documents: list[dict[str, Any]]) -> list[Column]:
    """Return columns from their JSON."""
    return [Column(**{**document, "quantiles": tuple(document["quantiles"])}) for document in documents]


def draw_table(columns: list[Column], *, target: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return a small random table with these columns, drawn independently; only the target depends on some others."""
    import pandas as pd

    classes = next(len(column.shares) for column in columns if column.name == target)
    count = max(MINIATURE_ROWS, ROWS_PER_CLASS * classes)
    positions = {column.name: rng.random(count) for column in columns}
    kinds = ("number", "category", "time")
    telling = [column.name for column in columns if column.name != target and column.kind in kinds]
    latent = sum((positions[name] for name in telling[:3]), start=rng.normal(0, 0.3, count))
    positions[target] = (np.argsort(np.argsort(latent)) + 0.5) / count
    return pd.DataFrame({column.name: _draw(column, positions[column.name], rng) for column in columns})


def _draw(column: Column, position: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return cells at positions between 0 (the smallest or most frequent value) and 1."""
    cells: np.ndarray
    match column.kind:
        case "id":
            cells = np.array(hex_ids(rng, len(position)), dtype=object)
        case "number":
            numbers = np.interp(position, _LEVELS, column.quantiles)
            cells = np.array([round(x) if column.whole else float(f"{x:.6g}") for x in numbers], dtype=object)
        case "time":
            seconds = np.interp(position, _LEVELS, column.quantiles).round()
            cells = np.array([_written_time(second, column.written) for second in seconds], dtype=object)
        case "category":
            # A fifth of the mass is spread evenly, so that rare values occur often enough to be split.
            occurring = column.shares or {"": 1.0}
            shares, values = np.array(list(occurring.values())), np.array(list(occurring), dtype=object)
            shares = 0.8 * shares / shares.sum() + 0.2 / len(shares)
            cells = values[np.minimum(np.searchsorted(shares.cumsum(), position), len(values) - 1)]
        case "text":
            cells = np.array(sentences(rng, len(position), words=max(2, 2 * column.words)), dtype=object)
    cells[rng.random(len(cells)) < column.missing] = ""
    return cells


def _written_time(second: float, written: str) -> str:
    return datetime.fromtimestamp(second, UTC).strftime(written)
