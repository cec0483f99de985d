"""Features that need no learning. They are computed on train and test rows together."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from podium.tables.dates import parse_dates
from podium.tables.script_settings import time_used

LIST_SEPARATORS = (";", "|", ",")
MIN_LISTS = 0.02
"""Smallest share of rows whose cells list several items, for a column of lists."""
MAX_LISTED_ITEMS = 60
"""Largest number of different items in a column of lists."""
MIN_OF_ITEM = 5
"""Items of fewer rows are left out."""
HUGE_EXPONENT = r"[eE][+-]?\d{5}"
REACHES = (1, 3, 6)
"""Numbers of steps before and after a row of a sequence that are averaged."""


def stack_rows(train: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
    """All rows, train rows first."""
    return pd.concat([train, test], ignore_index=True)


def number_features(both: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Numbers, whether each is missing, and how many are."""
    numbers: pd.DataFrame = both[names].apply(to_numbers).astype(float)
    numbers = numbers.where(np.isfinite(numbers))
    gaps = numbers.isna().loc[:, numbers.isna().any()]
    if gaps.shape[1]:
        numbers = numbers.join(gaps.astype(float).add_prefix("no "))
        numbers["gaps"] = gaps.sum(axis=1).astype(float)
    return numbers


def to_numbers(cells: pd.Series) -> pd.Series:
    """Cells as numbers; missing where a cell is none, or has an exponent that pandas before release 3 dies of."""
    if cells.dtype.kind == "O":
        cells = cells.mask(cells.astype(str).str.contains(HUGE_EXPONENT))
    return pd.to_numeric(cells, errors="coerce")


def listed_items(both: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return indicators of listed items, for columns whose cells list some of a few, such as `late; wet`."""
    found: dict[str, pd.Series] = {}
    for name in names:
        cells = both[name].map(lambda value: "" if pd.isna(value) else str(value))
        for separator in LIST_SEPARATORS:
            if cells.str.contains(separator, regex=False).mean() < MIN_LISTS:
                continue
            listed = {cell: {item.strip() for item in cell.split(separator)} for cell in cells.unique()}
            items = sorted(set().union(*listed.values()) - {""})
            if len(items) > MAX_LISTED_ITEMS:
                continue
            rows = {item: cells.map({cell: float(item in some) for cell, some in listed.items()}) for item in items}
            found |= {f"{name} lists {item}": has for item, has in rows.items() if has.sum() >= MIN_OF_ITEM}
    return pd.DataFrame(found, index=both.index)


def date_features(both: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Days since the first date, and the day of the year, month and week and the hour of a date."""
    parts: dict[str, pd.Series] = {}
    for name in names:
        date = parse_dates(both[name])
        parts[f"{name} days"] = (date - date.min()).dt.total_seconds() / 86400
        parts[f"{name} day of year"] = date.dt.dayofyear.astype(float)
        parts[f"{name} day of month"] = date.dt.day.astype(float)
        parts[f"{name} weekday"] = date.dt.dayofweek.astype(float)
        parts[f"{name} hour"] = date.dt.hour + date.dt.minute / 60
    found = pd.DataFrame(parts, index=both.index)
    return found.loc[:, found.nunique() > 1]


def group_features(both: pd.DataFrame, names: list[str], dates: list[str]) -> pd.DataFrame:
    """Return groups of rows as codes: categories, parts of their values, months, weekdays and hours."""
    groups: dict[str, pd.Series] = {}
    for name in names:
        text = both[name].map(lambda value: "" if pd.isna(value) else str(value))
        groups[name] = text
        groups |= {f"{name} part {number}": part for number, part in enumerate(code_parts(text), start=1)}
    for name in dates:
        date = parse_dates(both[name])
        groups |= {f"month of {name}": date.dt.month, f"weekday of {name}": date.dt.dayofweek}
        groups[f"hour of {name}"] = date.dt.hour
    coded = {
        name: pd.Series(pd.factorize(values, use_na_sentinel=False)[0], index=both.index)
        for name, values in groups.items()
    }
    found = pd.DataFrame(coded, index=both.index)
    distinct = found.nunique().to_numpy()
    return found.loc[:, (distinct > 1) & (distinct < 0.9 * len(found))]


def drop_unseen(groups: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Drop groups that are new in most test rows, such as a later year."""
    kept = [name for name in groups if groups[name][rows:].isin(groups[name][:rows].unique()).mean() > 0.5]
    return groups[kept]


def drop_drifting(numbers: pd.DataFrame, rows: int, kept: Sequence[str] = (), most: float = 0.2) -> pd.DataFrame:
    """Drop numbers that leave the range of the train rows in many test rows."""
    low, high = numbers.iloc[:rows].min(), numbers.iloc[:rows].max()
    outside = ((numbers.iloc[rows:] < low) | (numbers.iloc[rows:] > high)).mean()
    return numbers.loc[:, (outside <= most).to_numpy() | numbers.columns.isin(kept)]


def code_parts(codes: pd.Series) -> list[pd.Series]:
    """The parts of codes such as `W10-E5` or `B/27/S`: W, 10, E, 5; and every letter of short codes of one length."""
    pieces = codes.map(lambda code: re.findall(r"[A-Za-z]+|\d+", code))
    shape = int(pieces.map(len).mode().iloc[0])
    named = codes.str.contains("[A-Za-z]").mean() > 0.5
    if not named or (pieces.map(len) == shape).mean() < 0.7 or codes.str.len().median() > 24 or codes.nunique() < 5:
        return []
    padded = pieces.map(lambda piece: piece if len(piece) == shape else [""] * shape)
    columns = [padded.str[index] for index in range(shape)] if shape > 1 else []
    lengths = codes.str.len()
    if lengths.nunique() == 1 and lengths.iloc[0] <= 12:
        columns += [codes.str[index] for index in range(lengths.iloc[0])]
    kept: dict[bytes, pd.Series] = {}
    for column in columns:
        if 1 < column.nunique() < codes.nunique():
            kept.setdefault(pd.factorize(column)[0].tobytes(), column)
    return list(kept.values())


def time_gap_features(both: pd.DataFrame, groups: pd.DataFrame, dates: list[str]) -> pd.DataFrame:
    """The time since the previous row of the same group and until the next one, on a log scale."""
    found: dict[str, pd.Series] = {}
    for date in dates:
        when = parse_dates(both[date])
        if when.nunique() < len(both) / 20:
            continue
        for group in (name for name in groups if 8 <= groups[name].nunique() <= len(groups) / 3):
            order = pd.DataFrame({"group": groups[group], "when": when}).sort_values(["group", "when"])
            steps = order.groupby("group")["when"]
            found[f"{date} since last of {group}"] = steps.diff().dt.total_seconds()
            found[f"{date} until next of {group}"] = -steps.diff(-1).dt.total_seconds()
    minutes = pd.DataFrame(found, index=both.index).clip(lower=0) / 60
    return minutes.apply(np.log1p)


def group_counts(groups: pd.DataFrame) -> pd.DataFrame:
    """Return the size of each row's group."""
    counts = {f"{name} count": groups[name].map(groups[name].value_counts()) for name in groups}
    found = pd.DataFrame(counts, index=groups.index).astype(float)
    return found.loc[:, found.nunique() > 1]


def relative_features(
    numbers: pd.DataFrame, groups: pd.DataFrame, least: float = 0.15, until: float = 0.2
) -> pd.DataFrame:
    """Numbers relative to the median of their group, where groups differ in them.

    Args:
        until: the share of the script's time after which no further ones are tried.
    """
    found: dict[str, pd.Series] = {}
    for group in groups:
        if not 8 <= groups[group].nunique() <= len(groups) / 5:
            continue
        for name in numbers:
            if time_used() > until:
                break
            is_scale = numbers[name].min() > 0
            values = np.log(numbers[name]) if is_scale else numbers[name]
            if values.nunique() > 20 and variance_between_groups(values, groups[group]) > least:
                found[f"{name} beside {group}"] = values - values.groupby(groups[group]).transform("median")
    return pd.DataFrame(found, index=numbers.index)


def variance_between_groups(values: pd.Series, group: pd.Series) -> float:
    """The share of the variance of values that lies between groups, corrected for chance."""
    within = values - values.groupby(group).transform("mean")
    rows, sizes = values.notna().sum(), group[values.notna()].nunique()
    if rows <= sizes or not values.var() > 0:
        return 0.0
    return float(1 - (within**2).sum() / (rows - sizes) / values.var())


def sequence_features(both: pd.DataFrame, names: list[str], group: str, step: str) -> pd.DataFrame:
    """Means of numbers over some steps before and after a row, also less the mean of all rows of their group."""
    ordered = both.sort_values([group, step])
    of_group = ordered[group]
    values = ordered[names].apply(to_numbers)
    centred = (values - values.groupby(of_group).transform("mean")).add_suffix(f" less mean of {group}")
    parts = [centred]
    for reach in REACHES:
        windows = values.join(centred).groupby(of_group).rolling(2 * reach + 1, center=True, min_periods=1)
        parts.append(windows.mean().droplevel(0).add_suffix(f", {reach} around"))
    found: pd.DataFrame = pd.concat(parts, axis=1).reindex(both.index)
    return found


def family_features(numbers: pd.DataFrame) -> pd.DataFrame:
    """Mean, spread and extremes over numbered columns, such as `sensor_1` to `sensor_8`."""
    families: dict[str, list[str]] = {}
    for name in numbers:
        stem = re.sub(r"[ _-]?\d+$", "", str(name))
        families.setdefault(stem, []).extend([str(name)] if stem != name else [])
    found: dict[str, pd.Series] = {}
    for stem, names in families.items():
        if len(names) >= 3:
            part = numbers[names]
            found |= {f"{stem} mean": part.mean(axis=1), f"{stem} spread": part.std(axis=1)}
            found |= {f"{stem} least": part.min(axis=1), f"{stem} most": part.max(axis=1)}
    return pd.DataFrame(found, index=numbers.index)
