"""Series: values at regular times, to be told for times to come."""

from typing import Any

import numpy as np
import pandas as pd

from podium.recipes.kit.environment import SPLIT
from podium.recipes.kit.learning import Folds
from podium.recipes.kit.models import boosting, curves, ridge
from podium.recipes.kit.screening import winsorised
from podium.recipes.kit.submission import read_table

NEVER = 99.0
WAVES = {"sine": np.sin, "cosine": np.cos}


def joined(both: pd.DataFrame, file: str, on: list[str]) -> pd.DataFrame:
    """Rows with the columns of a further table that has one row for each value of some columns."""
    more = read_table(file).drop_duplicates(on)
    more = more.rename(columns={name: f"{name} in {file}" for name in more if name in both and name not in on})
    return both.merge(more, on=on, how="left")


def with_spans(both: pd.DataFrame, file: str, on: list[str], first: str, last: str, time: str) -> pd.DataFrame:
    """Rows with what a table says about spans of days: its columns, where a row's day lies in a span."""
    spans = read_table(file)
    start, end = pd.to_datetime(spans[first]), pd.to_datetime(spans[last])
    days = [pd.date_range(left, right) for left, right in zip(start, end, strict=True)]
    told = [name for name in spans if name not in (*on, first, last)]
    spread = spans[[*on, *told]].assign(day=days).explode("day").drop_duplicates([*on, "day"])
    spread["day"] = pd.to_datetime(spread["day"])
    spread = spread.rename(columns={name: f"{name} in {file}" for name in told})
    days_of_rows = both.assign(day=pd.to_datetime(both[time]).dt.normalize())
    return days_of_rows.merge(spread, on=[*on, "day"], how="left").drop(columns="day")


def event_distances(both: pd.DataFrame, time: str, names: list[str], far: int = 15) -> pd.DataFrame:
    """How many days before and after the nearest event a day lies, for columns that are mostly empty."""
    days = pd.to_datetime(both[time]).dt.normalize()
    number = (days - days.min()).dt.days.to_numpy()
    found: dict[str, np.ndarray] = {}
    for name in names:
        events = np.unique(number[both[name].notna().to_numpy()])
        if 0 < len(events) < 0.3 * len(np.unique(number)):
            padded = np.r_[-far, events, number.max() + far]
            ahead = np.searchsorted(padded, number)
            found[f"days to {name}"] = np.minimum(padded[ahead] - number, far).astype(float)
            behind = np.searchsorted(padded, number, side="right") - 1
            found[f"days since {name}"] = np.minimum(number - padded[behind], far).astype(float)
    return pd.DataFrame(found, index=both.index)


def block_origins(time: pd.Series, rows: int) -> tuple[np.ndarray, int]:
    """The last day known when a row is told, and how many days are told at once.

    The days to tell are one block; those before are cut into blocks of the same length, so that train rows look back
    as far as test rows have to.
    """
    day = (time.dt.normalize() - time.min().normalize()).dt.days.to_numpy()
    last = day[:rows].max()
    length = int(day[rows:].max() - last)
    blocks = np.ceil(np.clip(last - day + 1, 0, None) / length).astype(int)
    return last - blocks * length, length


def history_features(known: list[np.ndarray], series: np.ndarray, day: np.ndarray, origin: np.ndarray) -> pd.DataFrame:
    """What was known of a row's series at its origin: recent levels, those of its weekday, and those a year ago.

    Args:
        known: series, day and value of the rows that are known.
    """
    count, days = int(max(series.max(), known[0].max())) + 1, int(max(day.max(), known[1].max())) + 1
    sums, seen = np.zeros((count, days + 1)), np.zeros((count, days + 1))
    np.add.at(sums, (known[0], known[1] + 1), known[2])
    np.add.at(seen, (known[0], known[1] + 1), 1)
    values = np.divide(sums, seen, out=np.full_like(sums, np.nan), where=seen > 0)[:, 1:]
    sums, seen = sums.cumsum(axis=1), seen.cumsum(axis=1)

    def mean(first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Mean of a row's series from one day to another, both included."""
        first, last = np.clip(first, 0, days), np.clip(last + 1, 0, days)
        total, number = (table[series, last] - table[series, np.minimum(first, last)] for table in (sums, seen))
        return np.divide(total, number, out=np.full(len(series), np.nan), where=number > 0)

    found = {f"mean of {k} days": mean(origin - k + 1, origin) for k in (7, 14, 28, 91)}
    year_ago = {"mean of 28 days a year before": mean(origin - 364 - 27, origin - 364)}
    year_ago["mean a year ago"] = mean(day - 364 - 3, np.minimum(day - 364 + 3, origin))
    # Where nothing is known of the year before, the last months stand for it: no feature is empty in all rows.
    found |= {name: np.where(np.isnan(values), found["mean of 91 days"], values) for name, values in year_ago.items()}
    back = [day - 7 * np.ceil((day - origin) / 7).astype(int) - 7 * week for week in range(8)]
    past = np.array([np.where(at >= 0, values[series, np.clip(at, 0, None)], np.nan) for at in back])
    for weeks in (4, 8):
        has_some = np.isfinite(past[:weeks]).any(axis=0)
        middle = np.full(len(series), np.nan)
        middle[has_some] = np.nanmedian(past[:weeks, has_some], axis=0)
        found[f"median of its weekday, {weeks} weeks"] = middle
    return pd.DataFrame(found)


def place_features(series: np.ndarray, day: np.ndarray, origin: np.ndarray) -> pd.DataFrame:
    """Where a row stands, in the columns in which `levelled` looks for it: its series, its day, its origin."""
    return pd.DataFrame({"series": series, "day": day, "origin": origin, "days ahead": day - origin}).astype(float)


def levelled(
    features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int, *, knots: int = 5, **options: Any
) -> Any:
    """Effects added up; then boosting on what they leave over, which is told how far off each series was of late.

    The first columns of the features are those of `place_features`.
    """
    shape = curves(features[:, 4:], groups, seed, knots)
    base, first = ridge(shape(features[:, 4:], groups), aim)
    known = [features[:, 0].astype(int), features[:, 1].astype(int), winsorised(aim - first)]

    def with_levels(features: np.ndarray, early: np.ndarray) -> np.ndarray:
        levels = history_features(known, *features[:, :3].astype(int).T)
        return np.column_stack([features, early, levels.to_numpy()])

    rest = boosting(with_levels(features, first), groups, aim - first, seed, **options)

    def predict(features: np.ndarray, groups: np.ndarray) -> np.ndarray:
        early = base(shape(features[:, 4:], groups))
        return np.asarray(early + rest(with_levels(features, early), groups))

    return predict


def without_drifting(numbers: pd.DataFrame, rows: int, most: float = 0.2) -> pd.DataFrame:
    """Numbers less those that leave, in the rows to be told, the range that train has taught."""
    low, high = numbers.iloc[:rows].min(), numbers.iloc[:rows].max()
    outside = ((numbers.iloc[rows:] < low) | (numbers.iloc[rows:] > high)).mean()
    return numbers[[name for name in numbers if outside[name] <= most]]


def slope_features(numbers: pd.DataFrame, groups: pd.DataFrame, most: int = 6) -> pd.DataFrame:
    """Numbers within each of a few groups, so that their effects may differ between these."""
    found: dict[str, pd.Series] = {}
    for group in [name for name in groups if 1 < groups[name].nunique() <= most]:
        for name in numbers:
            middle = numbers[name].mean()
            for member in range(groups[group].max() + 1):
                found[f"{name} for {group} {member}"] = numbers[name].where(groups[group] == member, middle)
    return pd.DataFrame(found, index=numbers.index)


def season_features(when: pd.Series, waves: int = 3) -> pd.DataFrame:
    """Smooth waves that repeat every year."""
    angle = 2 * np.pi * when.dt.dayofyear / 365.25
    turns = {f"season {name} {k}": wave(k * angle) for k in range(1, waves + 1) for name, wave in WAVES.items()}
    return pd.DataFrame(turns, index=when.index)


def time_folds(day: np.ndarray, rows: int, length: int, count: int) -> Folds:
    """The last days of train, in windows as long as the one to be told, each with the rows before it."""
    known = day[:rows]
    ends = [known.max() - length * (SPLIT + number) for number in range(count)]
    return [
        (np.flatnonzero(known <= end - length), np.flatnonzero((known > end - length) & (known <= end))) for end in ends
    ]
