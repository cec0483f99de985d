"""Generic feature extraction for table tasks, from the files alone, without knowing how they were made.

Each step adds to the one before: columns as they are, dates taken apart, other tables joined, records and remarks
summed up, history and comparisons within groups.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeVar

import numpy as np
import pandas as pd

from podium.catalog.forge.family import PublicData

KNOWN_DATES = (
    *("%Y-%m-%d %H:%M", "%Y%m%dT%H%M", "%d %b %Y %H:%M", "%Y/%m/%d %H.%M"),
    *("%Y-%m-%d", "%d %b %Y", "%Y/%m/%d"),
)
MAX_WORDS = 40
MIN_ROWS_WITH_WORD = 8


@dataclass(frozen=True)
class Reading:
    """Columns of train and test, one below the other."""

    both: pd.DataFrame
    train_rows: int

    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Return train and test with texts as category numbers and blanks as NaN."""
        return self._matrix[: self.train_rows], self._matrix[self.train_rows :]

    @cached_property
    def _matrix(self) -> np.ndarray:
        texts = set(self.both.select_dtypes(exclude="number"))
        columns = [_coded(self.both[name]) if name in texts else self.both[name].to_numpy(float) for name in self.both]
        return np.ascontiguousarray(np.array(columns, dtype=float).reshape(len(columns), len(self.both)).T)

    def with_columns(self, added: Mapping[str, np.ndarray | pd.Series]) -> Reading:
        """Return a copy with more columns; adding them together is much faster than one at a time."""
        return Reading(pd.concat([self.both, pd.DataFrame(added, index=self.both.index)], axis=1), self.train_rows)

    def texts(self) -> list[str]:
        """Return the names of columns with repeated categories."""
        kinds = self.both.select_dtypes(exclude="number")
        return [str(name) for name in kinds if 2 < kinds[name].nunique() < len(kinds) / 3]


def _coded(column: pd.Series) -> np.ndarray:
    """Return the category numbers of a column in sorted order; NaN for blanks."""
    codes = pd.factorize(column, sort=True)[0].astype(float)
    return np.where(codes < 0, np.nan, codes)


def ids_of(data: PublicData) -> pd.Series:
    """Return the first column of train and test, which holds the ids, one below the other."""
    ids: pd.Series = pd.concat([data.train.iloc[:, 0], data.test.iloc[:, 0]], ignore_index=True)
    return ids


def target_of(data: PublicData) -> pd.Series:
    """Return the column that train has and test lacks."""
    (name,) = [name for name in data.train if name not in data.test]
    return data.train[name]


def as_is(data: PublicData) -> Reading:
    """Return the columns that both tables have, without ids and forbidden columns."""
    shared = [name for name in data.test.columns[1:] if name not in data.forbidden]
    return Reading(pd.concat([data.train[shared], data.test[shared]], ignore_index=True), len(data.train))


def only_numbers(data: PublicData) -> Reading:
    reading = read(data, as_is)
    numbers = reading.both.select_dtypes("number")
    return Reading(numbers.fillna(numbers.median()), reading.train_rows)


def dated(data: PublicData) -> Reading:
    """Add the parts of dates."""
    reading = read(data, as_is)
    both = reading.both.copy()
    for name in reading.both.select_dtypes(exclude="number"):
        moment = parse_dates(both[name])
        if moment is not None:
            both = both.drop(columns=name).assign(**_date_parts(moment))
    return Reading(both, reading.train_rows)


def parse_dates(column: pd.Series) -> pd.Series | None:
    """Parse a column of dates; None if it holds something else."""
    for written in KNOWN_DATES:
        if _is_written(column.iloc[0], written):
            moment = pd.to_datetime(column, format=written, errors="coerce")
            if moment.notna().all():
                return moment
    return None


def _is_written(text: object, written: str) -> bool:
    """Return whether a text is a date in this format; checking one is much faster than parsing a column."""
    try:
        return bool(datetime.strptime(str(text), written))  # noqa: DTZ007 (nothing is done with it)
    except ValueError:
        return False


def _date_parts(moment: pd.Series) -> dict[str, pd.Series]:
    minute = (moment - moment.min()).dt.total_seconds() / 60
    clock = moment.dt.hour + moment.dt.minute / 60
    parts = {"elapsed": minute, "clock": clock, "weekday": moment.dt.dayofweek, "yearday": moment.dt.dayofyear}
    return parts | {"monthday": moment.dt.day, "fortnight": minute // 1440 % 14}


def joined(data: PublicData) -> Reading:
    """Add the columns of other tables about the parent of each row."""
    reading = read(data, dated)
    both = reading.both
    for key, table in _keyed_tables(data, both):
        if table[key].is_unique:
            both = both.merge(table, on=key, how="left")
    for name in _codes(both):
        both = both.assign(**{f"{name} letters": both[name].str.extract(r"^([A-Z]+)")[0]})
    return Reading(both, reading.train_rows)


def _keyed_tables(data: PublicData, both: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Yield the tables that share one column with the rows, with that column."""
    shared = [([str(name) for name in table if name in both], table) for table in data.tables.values()]
    return [(keys[0], table) for keys, table in shared if len(keys) == 1]


def _codes(both: pd.DataFrame) -> list[str]:
    """Return the columns of codes such as `K07`: letters, then digits."""
    texts = both.select_dtypes(exclude="number")
    return [str(name) for name in texts if texts[name].str.fullmatch(r"[A-Z]+[\d-]+").all()]


def summed_up(data: PublicData) -> Reading:
    """Add statistics of records, the words of remarks, and indicators of blank cells."""
    reading = read(data, joined)
    both = reading.both
    for key, table in _keyed_tables(data, read(data, as_is).both):
        if not table[key].is_unique:
            statistics = table.groupby(key)[list(table.select_dtypes("number"))].agg(["count", "mean", "std", "max"])
            statistics.columns = pd.Index([" ".join(names) for names in statistics.columns])
            both = both.merge(statistics.reset_index(), on=key, how="left")
    blank = {f"{name} blank": both[name].isna() * 1 for name in both.select_dtypes("number") if both[name].isna().any()}
    words: dict[str, np.ndarray] = {}
    texts = both.select_dtypes(exclude="number")
    for name in [name for name in texts if texts[name].str.contains(" ", regex=False).mean() > 0.2]:
        words |= _words(both[name])
        both = both.drop(columns=name)
    return Reading(both, reading.train_rows).with_columns({**blank, **words})


def _words(column: pd.Series) -> dict[str, np.ndarray]:
    """Return an indicator column for each frequent word."""
    # Sorted, because sets of words have another order in every process.
    sets = [sorted(set(re.findall(r"[a-z]{3,}", text.lower()))) for text in column.fillna("")]
    counts = pd.Series([word for words in sets for word in words], dtype=object).value_counts()
    frequent = sorted(counts.index[counts >= MIN_ROWS_WITH_WORD][:MAX_WORDS])
    return {f"says {word}": np.array([word in words for words in sets], dtype=float) for word in frequent}


def with_history(data: PublicData) -> Reading:
    """Add the values of the previous row of the same group, and the differences to the group's mean."""
    reading = read(data, summed_up)
    both = reading.both
    numbers = list(read(data, as_is).both.select_dtypes("number"))
    added = {}
    for group in reading.texts():
        ordered = both.sort_values("elapsed", kind="stable")[[group, *numbers]].groupby(group)
        previous = ordered[numbers].shift().reindex(both.index)
        mean = both.groupby(group)[numbers].transform("mean")
        for name in numbers:
            added[f"{name} before in {group}"] = previous[name]
            added[f"{name} less {group}"] = both[name] - mean[name]
        added[f"{group} count"] = both[group].map(both[group].value_counts())
    return reading.with_columns(added)


Read = Callable[[PublicData], Reading]
READINGS: tuple[Read, ...] = (only_numbers, as_is, dated, joined, summed_up, with_history)
Found = TypeVar("Found")
_known = threading.local()
"""Cache of this thread: the public data used last, and the features made of them."""


def read(data: PublicData, how: Callable[[PublicData], Found]) -> Found:
    """Return features of public data, such as a `Reading`, computed once for all entrants of a field."""
    if getattr(_known, "data", None) is not data:
        _known.data, _known.readings = data, {}
    readings: dict[Callable[[PublicData], Found], Found] = _known.readings
    if how not in readings:
        readings[how] = how(data)
    return readings[how]
