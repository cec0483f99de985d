"""Finds how train, test and further tables relate: shared columns, time, groups, series, joins, edges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

from podium.tables.describe_tables import ReadTables, as_text
from podium.tables.forbidden_columns import forbidden_names
from podium.tables.parse_numbers import to_numbers
from podium.tables.profile import ColumnProfile, ForeignKey, Join, Profile, Spans, TableProfile

if TYPE_CHECKING:
    import pandas as pd

MIN_UNCOMMON, MIN_UNCOMMON_SHARE = 3, 0.0005
"""A column in which fewer rows differ from the others tells nothing."""
MIN_TIMES = 5
"""A number with fewer values is not a time, unless its name says so."""
TIME_WORDS = re.compile(
    r"date|time|year|month|week|day|hour|quarter|period|season|step|trend|wave|^yr$|^t$", re.IGNORECASE
)
MIN_GROUPS, MIN_NEW_GROUPS = 20, 10
"""So many groups train has, and test where they are numbered."""
MOST_GROUPS = 0.6
"""There are fewer groups than this share of the rows."""
MIN_KNOWN = 0.9
"""A column refers to another if at least so many of its values are found there, in train and in test."""
MIN_KNOWN_OF_SAME_NAME = 0.3
"""The same, if both have one name."""
MOST_PAIRS = 20
"""There are at most so many times as many pairs of series and times as rows."""
MIN_STEPS = 5
"""Groups that are sequences have at least so many rows, mostly."""
MOST_SPAN = 1.5
"""The steps of a sequence span at most so many times as many numbers as there are."""
MIN_RESEMBLANCE, MIN_NEIGHBOURS = 0.5, 50
"""The correlation of the targets of neighbouring rows from which on the order of rows is a time; of fewer, none is."""


def find_features(profile: Profile) -> tuple[ColumnProfile, ...]:
    """Columns that train and test share, other than ids, what the brief forbids and what is constant or nearly so."""
    train, test = profile.train, profile.test
    if train is None or test is None:
        return ()
    left_out = {*profile.ids, profile.key, *profile.labels, *profile.targets, *forbidden_names(profile.brief)}
    # Where the key of a row is its text, that is all there is to learn from.
    left_out -= {column.name for column in train.columns if column.kind == "text" and column.name == profile.key}
    shared = [column for column in train.columns if column.name in test and column.name not in left_out]
    return tuple(
        column
        for column in shared
        if "empty" not in (column.kind, test[column.name].kind)
        and (1 - column.common) * train.rows >= max(MIN_UNCOMMON, MIN_UNCOMMON_SHARE * train.rows)
        and not _is_id(column, train)
    )


def _is_id(column: ColumnProfile, table: TableProfile) -> bool:
    """Whether every row has its own value that is not a measurement, date or text."""
    is_unique = column.distinct >= 0.98 * table.rows * (1 - column.missing) and table.rows > 50
    if column.kind == "category":
        return is_unique
    name = column.name.lower()
    return is_unique and column.is_whole and (name == "id" or name.endswith(("_id", " id", "uid")))


def find_order(profile: Profile, read: ReadTables) -> Mapping[str, Any]:
    """The fields `time`, `is_series`, `series`, `group` and `sequence` of a profile, where they apply."""
    assert profile.train is not None
    if profile.test is None:
        return {}
    train = read.frames[profile.train.file]
    found: dict[str, Any] = {}
    time = _time(profile, read)
    if time is not None:
        series = _series(train, time, profile)
        found |= {"time": time, "is_series": series is not None, "series": series or ()}
    found["group"] = _group(profile, read, time)
    if not found.get("is_series"):
        found["sequence"] = _sequence(profile, train, found["group"])
    return found


def _group(profile: Profile, read: ReadTables, time: str | None) -> str | None:
    """The first column of names or numbers of groups of which train and test have none in common."""
    train, test = profile.train, profile.test
    assert train is not None and test is not None
    for column in profile.features:
        is_numbered = column.is_whole and MIN_NEW_GROUPS <= test[column.name].distinct < MOST_GROUPS * test.rows
        may_group = column.kind == "category" or column.is_code or is_numbered
        if column.name == time or not may_group or not MIN_GROUPS <= column.distinct < MOST_GROUPS * train.rows:
            continue
        asked = _names(read.frames[test.file][column.name])
        if all(asked.isdisjoint(_names(part)) for part in read.parts(train.file, column.name)):
            return column.name
    return None


def _names(cells: pd.Series) -> set[str]:
    return {as_text(value) for value in cells.dropna().unique()}


def _sequence(profile: Profile, train: pd.DataFrame, numbered: str | None) -> tuple[str, str] | None:
    """A column of groups and one of whole numbers that counts the rows of each group without many gaps.

    Args:
        numbered: a column that is one of groups though it holds plain numbers.
    """
    steps = [column.name for column in profile.features if column.kind == "number" and column.is_whole]
    named = (column for column in profile.features if column.kind == "category" or column.is_code)
    for group in dict.fromkeys([*(column.name for column in named), *([numbered] if numbered else [])]):
        if train[group].value_counts().median() < MIN_STEPS:
            continue
        for step in (name for name in steps if name != group and not train.duplicated([group, name]).any()):
            of_group = train.groupby(group)[step]
            if (of_group.max() - of_group.min() < MOST_SPAN * of_group.size()).mean() > MIN_KNOWN:
                return group, step
    return None


def _time(profile: Profile, read: ReadTables) -> str | None:
    """The column by which all test rows come after all train rows: dates before numbers, and row numbers last.

    Row numbers of test, or those of groups, often follow those of train by habit alone. Numbers that differ from row to
    row, or that may name groups, are times only if neighbours resemble each other, unless the name says that it is one.
    """
    import pandas as pd

    assert profile.train is not None and profile.test is not None
    train, test = read.frames[profile.train.file], read.frames[profile.test.file]
    keys = [column for column in profile.train.columns if column.name == profile.key]
    dates = [column for column in (*profile.features, *keys) if column.kind == "date"]
    for column in dates:
        if _is_later(profile, read, column):
            return column.name
    numbers = [column for column in profile.features if column.kind == "number"]
    timely = [column for column in numbers if column.distinct >= MIN_TIMES or TIME_WORDS.search(column.name)]
    for column in [*timely, *keys]:
        name = column.name
        if not all(pd.api.types.is_numeric_dtype(part[name]) for part in (train, test)):
            continue
        may_group = column.is_whole and column.distinct >= MIN_GROUPS
        is_plain_number = (train[name].is_unique or may_group) and not TIME_WORDS.search(name)
        if not train[name].max() < test[name].min():
            continue
        if (not is_plain_number or _resembles_neighbours(train, name, profile)) and _is_later(profile, read, column):
            return name
    return None


def _is_later(profile: Profile, read: ReadTables, column: ColumnProfile) -> bool:
    """Whether all test rows have later dates than all train rows, or the same, or greater numbers."""
    import pandas as pd

    from podium.tables.dates import ROWS_TO_SEE, parse_dates

    assert profile.train is not None and profile.test is not None
    files = (profile.train.file, profile.test.file)
    # Dates of train may not show whether days come first; scripts read both tables as one.
    seen = pd.concat([read.frames[file][column.name] for file in files]).dropna().head(ROWS_TO_SEE)

    def moments(cells: pd.Series) -> pd.Series:
        if column.kind != "date":
            return to_numbers(cells)
        return parse_dates(pd.concat([seen, cells], ignore_index=True), utc=True)[len(seen) :]

    before, after = (read.parts(file, column.name) for file in files)
    earliest = pd.Series([moments(cells).min() for cells in after]).min()
    latest = (moments(cells).max() for cells in before)
    return all(bool(one <= earliest if column.kind == "date" else one < earliest) for one in latest)


def _resembles_neighbours(train: pd.DataFrame, order: str, profile: Profile) -> bool:
    """Whether the target of the rows with one number tells much about that of the rows with the next one."""
    if profile.goal != "regression" or len(profile.labels) > 1:
        return False
    label = train.groupby(order)[profile.labels[0]].mean()
    return len(label) >= MIN_NEIGHBOURS and bool(label.std() > 0 and label.autocorr() > MIN_RESEMBLANCE)


def _series(train: pd.DataFrame, time: str, profile: Profile) -> tuple[str, ...] | None:
    """The fewest columns that, with the time, make a row unique; None if there are none."""
    names = [
        column.name
        for column in profile.features
        if column.name != time and (column.kind == "category" or column.is_whole) and column.missing == 0
    ]
    names = [name for name in names if train[name].nunique() <= len(train) / 5]
    for count in range(4):
        for chosen in combinations(names[:12], count):
            if train.duplicated([time, *chosen]).mean() < 0.001 and not _is_sparse(train, time, list(chosen)):
                return chosen
    return None


def _is_sparse(train: pd.DataFrame, time: str, series: list[str]) -> bool:
    """Whether there are very many more pairs of series and times than rows; a forecast looks at all of them."""
    count = train.groupby(series).ngroups if series else 1
    return count * train[time].nunique() > MOST_PAIRS * len(train)


def find_further_tables(profile: Profile, read: ReadTables) -> Mapping[str, Any]:
    """The fields of a profile about tables besides train and test."""
    assert profile.train is not None
    known = set(profile.train.names) & set(profile.test.names if profile.test else profile.train.names)
    joins, spans, edges = [], [], None
    parents: list[ForeignKey] = []
    records: list[ForeignKey] = []
    for name, frame in read.frames.items():
        if name in (profile.train.file, profile.test.file if profile.test else "") or len(frame) < 2:
            continue
        for one in _foreign_keys(profile, read, name):
            (parents if frame[one.key].is_unique else records).append(one)
        on = tuple(column for column in frame.columns if column in known)
        ends = _span_columns(read.tables[name], frame)
        if ends is not None and len(frame.columns) > 2:
            spans.append(Spans(name, tuple(column for column in on if column not in ends), *ends))
        elif on and not frame.duplicated(list(on)).any() and len(frame.columns) > len(on):
            joins.append(Join(name, on))
        elif edges is None:
            edges = _edges(name, profile, read)
    found = {"joins": tuple(joins), "spans": tuple(spans), "edges": edges}
    return {**found, "parents": tuple(parents), "records": tuple(records)}


def _foreign_keys(profile: Profile, read: ReadTables, name: str) -> list[ForeignKey]:
    """Which columns of the rows refer to which column of a table.

    That has the same name, or no value twice. Whole numbers may be anything: they refer to ids that are unique, or are
    those of the rows.
    """
    assert profile.train is not None
    table, frame = read.tables[name], read.frames[name]
    if profile.test is None or table.is_truncated:
        return []
    train, test = read.frames[profile.train.file], read.frames[profile.test.file]
    ruled_out = forbidden_names(profile.brief)
    rows, keys = (
        [
            column
            for column in columns
            if (column.kind == "category" or column.is_whole) and column.distinct > 1 and column.name not in ruled_out
        ]
        for columns in (profile.train.columns, table.columns)
    )
    rows = [column for column in rows if column.name in test]
    found = []
    for column in rows:
        parts = [{as_text(value) for value in part[column.name].head(1000)} for part in (train, test)]
        for key in keys:
            is_unique, is_text = key.distinct == len(frame), key.kind == column.kind == "category"
            is_same = key.name == column.name and (is_text or is_unique or key.name == profile.key)
            known = {as_text(value) for value in frame[key.name]} if is_same or (is_unique and is_text) else set()
            # A table about train alone would teach what nobody knows of test.
            share = min(len(values & known) / len(values) for values in parts)
            if share > (MIN_KNOWN_OF_SAME_NAME if is_same else MIN_KNOWN):
                found.append(ForeignKey(column.name, name, key.name))
                break
    return found


def _span_columns(table: TableProfile, frame: pd.DataFrame) -> tuple[str, str] | None:
    """Two columns of dates of which the first is never after the second."""
    from podium.tables.dates import parse_dates

    dates = [column.name for column in table.columns if column.kind == "date"]
    if len(dates) != 2:
        return None
    left, right = (parse_dates(frame[name]) for name in dates)
    if (left <= right).all():
        return dates[0], dates[1]
    return (dates[1], dates[0]) if (right <= left).all() else None


def _edges(name: str, profile: Profile, read: ReadTables) -> tuple[str, str, str] | None:
    """The table, and its two columns that hold ids of train or test rows, if there are such."""
    assert profile.train is not None
    if profile.key is None or profile.key not in profile.train or profile.test is None:
        return None
    files = (profile.train.file, profile.test.file)
    ids = {as_text(value) for file in files for value in read.frames[file][profile.key]}
    ends = [
        column.name
        for column in read.tables[name].columns
        if column.distinct > 2 and read.frames[name][column.name].head(500).map(as_text).isin(ids).mean() > 0.8
    ]
    return (name, ends[0], ends[1]) if len(ends) == 2 else None
