"""How a stranger reads a table task: what can be told from the files alone, without knowing how they were made.

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
MOST_WORDS = 40
FEWEST_ROWS_WITH_WORD = 8


@dataclass(frozen=True)
class Reading:
    """Columns of train and test, one below the other."""

    both: pd.DataFrame
    train_rows: int

    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Train and test with texts as the numbers of their categories; blanks are NaN."""
        return self._matrix[: self.train_rows], self._matrix[self.train_rows :]

    @cached_property
    def _matrix(self) -> np.ndarray:
        texts = set(self.both.select_dtypes(exclude="number"))
        columns = [_coded(self.both[name]) if name in texts else self.both[name].to_numpy(float) for name in self.both]
        return np.ascontiguousarray(np.array(columns, dtype=float).reshape(len(columns), len(self.both)).T)

    def with_columns(self, added: Mapping[str, np.ndarray | pd.Series]) -> Reading:
        """The same with more columns, added all at once: one by one takes much longer."""
        return Reading(pd.concat([self.both, pd.DataFrame(added, index=self.both.index)], axis=1), self.train_rows)

    def texts(self) -> list[str]:
        """The names of columns with categories that repeat."""
        kinds = self.both.select_dtypes(exclude="number")
        return [str(name) for name in kinds if 2 < kinds[name].nunique() < len(kinds) / 3]


def _coded(column: pd.Series) -> np.ndarray:
    """The numbers of a column's categories, in their order; NaN for blanks."""
    codes = pd.factorize(column, sort=True)[0].astype(float)
    return np.where(codes < 0, np.nan, codes)


def ids_of(data: PublicData) -> pd.Series:
    """The first column of train and test, one below the other: what rows are called."""
    ids: pd.Series = pd.concat([data.train.iloc[:, 0], data.test.iloc[:, 0]], ignore_index=True)
    return ids


def target_of(data: PublicData) -> pd.Series:
    """The column that train has and test lacks."""
    (name,) = [name for name in data.train if name not in data.test]
    return data.train[name]


def as_is(data: PublicData) -> Reading:
    """The columns that both tables have, without ids and without what may not be used."""
    shared = [name for name in data.test.columns[1:] if name not in data.forbidden]
    return Reading(pd.concat([data.train[shared], data.test[shared]], ignore_index=True), len(data.train))


def only_numbers(data: PublicData) -> Reading:
    reading = read(data, as_is)
    numbers = reading.both.select_dtypes("number")
    return Reading(numbers.fillna(numbers.median()), reading.train_rows)


def dated(data: PublicData) -> Reading:
    """With dates taken apart."""
    reading = read(data, as_is)
    both = reading.both.copy()
    for name in reading.both.select_dtypes(exclude="number"):
        moment = parse_dates(both[name])
        if moment is not None:
            both = both.drop(columns=name).assign(**_date_parts(moment))
    return Reading(both, reading.train_rows)


def parse_dates(column: pd.Series) -> pd.Series | None:
    """The column as dates, if that is what it holds."""
    for written in KNOWN_DATES:
        if _is_written(column.iloc[0], written):
            moment = pd.to_datetime(column, format=written, errors="coerce")
            if moment.notna().all():
                return moment
    return None


def _is_written(text: object, written: str) -> bool:
    """Whether a text is such a date: asking for one is much faster than for a column."""
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
    """With what other tables say about the thing a row names."""
    reading = read(data, dated)
    both = reading.both
    for key, table in _keyed_tables(data, both):
        if table[key].is_unique:
            both = both.merge(table, on=key, how="left")
    for name in _codes(both):
        both = both.assign(**{f"{name} letters": both[name].str.extract(r"^([A-Z]+)")[0]})
    return Reading(both, reading.train_rows)


def _keyed_tables(data: PublicData, both: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Tables that share one column with the rows, and that column."""
    shared = [([str(name) for name in table if name in both], table) for table in data.tables.values()]
    return [(keys[0], table) for keys, table in shared if len(keys) == 1]


def _codes(both: pd.DataFrame) -> list[str]:
    """Columns of texts such as `K07`: letters, then digits."""
    texts = both.select_dtypes(exclude="number")
    return [str(name) for name in texts if texts[name].str.fullmatch(r"[A-Z]+[\d-]+").all()]


def summed_up(data: PublicData) -> Reading:
    """With statistics of records, the words of remarks, and which cells are blank."""
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
    """Whether each of the frequent words is in a text."""
    # Sorted, because sets of words have another order in every process.
    sets = [sorted(set(re.findall(r"[a-z]{3,}", text.lower()))) for text in column.fillna("")]
    counts = pd.Series([word for words in sets for word in words], dtype=object).value_counts()
    frequent = sorted(counts.index[counts >= FEWEST_ROWS_WITH_WORD][:MOST_WORDS])
    return {f"says {word}": np.array([word in words for words in sets], dtype=float) for word in frequent}


def with_history(data: PublicData) -> Reading:
    """With what the row before it in its group had, and how its numbers stand to the group's mean."""
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
"""The data that this thread read last, and what it made of them."""


def read(data: PublicData, how: Callable[[PublicData], Found]) -> Found:
    """What is read from public data, such as a `Reading`; done once for all entrants of a field."""
    if getattr(_known, "data", None) is not data:
        _known.data, _known.readings = data, {}
    readings: dict[Callable[[PublicData], Found], Found] = _known.readings
    if how not in readings:
        readings[how] = how(data)
    return readings[how]
