"""Relations between train, test and further tables: shared columns, time, groups, series, joins, edges."""

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
"""Minimum number and share of rows that differ from the most common value in an informative column."""
MIN_TIMES = 5
"""Minimum number of distinct values of a numeric time, unless its name indicates a time."""
TIME_WORDS = re.compile(
    r"date|time|year|month|week|day|hour|quarter|period|season|step|trend|wave|^yr$|^t$", re.IGNORECASE
)
MIN_GROUPS, MIN_NEW_GROUPS = 20, 10
"""Minimum number of groups in train, and in test if they are numbered."""
MAX_GROUP_SHARE = 0.6
"""Maximum number of groups, as a share of the rows."""
MIN_KNOWN = 0.9
"""Minimum share of a foreign key's values, in train and in test, that occur in the referenced column."""
MIN_KNOWN_OF_SAME_NAME = 0.3
"""The same if both columns have the same name."""
MAX_PAIRS_PER_ROW = 20
"""Maximum number of pairs of series and times per row."""
MIN_STEPS = 5
"""Minimum median number of rows of groups that are sequences."""
MAX_SPAN_PER_STEP = 1.5
"""Maximum range of a sequence's step numbers per step."""
MIN_RESEMBLANCE, MIN_NEIGHBOURS = 0.5, 50
"""Minimum autocorrelation of the target, and minimum number of rows, for row order to count as time."""


def find_features(profile: Profile) -> tuple[ColumnProfile, ...]:
    """Return the columns shared by train and test, without ids, forbidden and (nearly) constant columns."""
    train, test = profile.train, profile.test
    if train is None or test is None:
        return ()
    left_out = {*profile.ids, profile.key, *profile.labels, *profile.targets, *forbidden_names(profile.brief)}
    # If the key of a row is its text, that is the only input.
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
    """Return whether every row has its own value that is not a measurement, date or text."""
    is_unique = column.distinct >= 0.98 * table.rows * (1 - column.missing) and table.rows > 50
    if column.kind == "category":
        return is_unique
    name = column.name.lower()
    return is_unique and column.is_whole and (name == "id" or name.endswith(("_id", " id", "uid")))


def find_order(profile: Profile, read: ReadTables) -> Mapping[str, Any]:
    """Return the fields `time`, `is_series`, `series`, `group` and `sequence` of a profile, if they apply."""
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
    """Return the first column of groups (by name or number) that has no value in both train and test."""
    train, test = profile.train, profile.test
    assert train is not None and test is not None
    for column in profile.features:
        is_numbered = column.is_whole and MIN_NEW_GROUPS <= test[column.name].distinct < MAX_GROUP_SHARE * test.rows
        may_group = column.kind == "category" or column.is_code or is_numbered
        if column.name == time or not may_group or not MIN_GROUPS <= column.distinct < MAX_GROUP_SHARE * train.rows:
            continue
        asked = _names(read.frames[test.file][column.name])
        if all(asked.isdisjoint(_names(part)) for part in read.parts(train.file, column.name)):
            return column.name
    return None


def _names(cells: pd.Series) -> set[str]:
    return {as_text(value) for value in cells.dropna().unique()}


def _sequence(profile: Profile, train: pd.DataFrame, numbered: str | None) -> tuple[str, str] | None:
    """Return a column of groups and an integer column that counts the rows of each group with few gaps.

    Args:
        numbered: A column of groups that are plain numbers.
    """
    steps = [column.name for column in profile.features if column.kind == "number" and column.is_whole]
    named = (column for column in profile.features if column.kind == "category" or column.is_code)
    for group in dict.fromkeys([*(column.name for column in named), *([numbered] if numbered else [])]):
        if train[group].value_counts().median() < MIN_STEPS:
            continue
        for step in (name for name in steps if name != group and not train.duplicated([group, name]).any()):
            of_group = train.groupby(group)[step]
            if (of_group.max() - of_group.min() < MAX_SPAN_PER_STEP * of_group.size()).mean() > MIN_KNOWN:
                return group, step
    return None


def _time(profile: Profile, read: ReadTables) -> str | None:
    """Return the column by which all test rows follow all train rows; dates are tried before numbers.

    Row or group numbers of test often simply continue those of train. Numbers that are unique per row or may be groups
    count as times only if the targets of neighbours are correlated, or if the name indicates a time.
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
    """Return whether all test rows have the same or later dates, or greater numbers, than all train rows."""
    import pandas as pd

    from podium.tables.dates import ROWS_TO_SEE, parse_dates

    assert profile.train is not None and profile.test is not None
    files = (profile.train.file, profile.test.file)
    # Dates of train alone may be ambiguous (day or month first); scripts parse both tables together.
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
    """Return whether the mean target of consecutive numbers is autocorrelated."""
    if profile.goal != "regression" or len(profile.labels) > 1:
        return False
    label = train.groupby(order)[profile.labels[0]].mean()
    return len(label) >= MIN_NEIGHBOURS and bool(label.std() > 0 and label.autocorr() > MIN_RESEMBLANCE)


def _series(train: pd.DataFrame, time: str, profile: Profile) -> tuple[str, ...] | None:
    """Return a minimal set of columns that, with the time, identifies a row, or None."""
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
    """Return whether there are far more pairs of series and times, all used by a forecast, than rows."""
    count = train.groupby(series).ngroups if series else 1
    return count * train[time].nunique() > MAX_PAIRS_PER_ROW * len(train)


def find_further_tables(profile: Profile, read: ReadTables) -> Mapping[str, Any]:
    """Return the fields of a profile about tables other than train and test."""
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
    """Return the columns of the rows that refer to a column of a table.

    The referenced column has the same name or unique values. Since integers are ambiguous, they refer only to unique
    ids or to the ids of the rows.
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
            # A table about train alone would provide features that test rows lack.
            share = min(len(values & known) / len(values) for values in parts)
            if share > (MIN_KNOWN_OF_SAME_NAME if is_same else MIN_KNOWN):
                found.append(ForeignKey(column.name, name, key.name))
                break
    return found


def _span_columns(table: TableProfile, frame: pd.DataFrame) -> tuple[str, str] | None:
    """Return two date columns of which the first is never after the second, or None."""
    from podium.tables.dates import parse_dates

    dates = [column.name for column in table.columns if column.kind == "date"]
    if len(dates) != 2:
        return None
    left, right = (parse_dates(frame[name]) for name in dates)
    if (left <= right).all():
        return dates[0], dates[1]
    return (dates[1], dates[0]) if (right <= left).all() else None


def _edges(name: str, profile: Profile, read: ReadTables) -> tuple[str, str, str] | None:
    """Return the table and its two columns that contain ids of train or test rows, or None."""
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
