"""Series: values at regular times, to be forecast."""

from typing import Any

import numpy as np
import pandas as pd

from podium.recipes.kit.environment import SPLIT
from podium.recipes.kit.models import boosting, fit_splines, ridge
from podium.recipes.kit.screening import winsorise
from podium.recipes.kit.submission import read_table
from podium.recipes.kit.validation import Folds, Predict

NO_LIMIT = 99.0
WAVES = {"sine": np.sin, "cosine": np.cos}


def join_table(both: pd.DataFrame, file: str, on: list[str]) -> pd.DataFrame:
    """Rows with the columns of a further table that has one row for each value of some columns."""
    more = read_table(file).drop_duplicates(on)
    more = more.rename(columns={name: f"{name} in {file}" for name in more if name in both and name not in on})
    return both.merge(more, on=on, how="left")


def join_spans(both: pd.DataFrame, file: str, on: list[str], first: str, last: str, time: str) -> pd.DataFrame:
    """Rows with the columns of a table about spans of days, where a row's day is within a span."""
    spans = read_table(file)
    start, end = pd.to_datetime(spans[first]), pd.to_datetime(spans[last])
    days = pd.Series([pd.date_range(left, right) for left, right in zip(start, end, strict=True)], index=spans.index)
    names = [name for name in spans if name not in (*on, first, last)]
    rows_per_day = spans[[*on, *names]].assign(day=days).explode("day").drop_duplicates([*on, "day"])
    rows_per_day["day"] = pd.to_datetime(rows_per_day["day"])
    rows_per_day = rows_per_day.rename(columns={name: f"{name} in {file}" for name in names})
    days_of_rows = both.assign(day=pd.to_datetime(both[time]).dt.normalize())
    return days_of_rows.merge(rows_per_day, on=[*on, "day"], how="left").drop(columns="day")


def event_distances(both: pd.DataFrame, time: str, names: list[str], far: int = 15) -> pd.DataFrame:
    """The number of days before and after the nearest event, for columns that are mostly empty."""
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


def forecast_origins(time: pd.Series, rows: int) -> tuple[np.ndarray, int]:
    """The last day known when a row is forecast, and how many days are forecast at once.

    The days to forecast are one block. Those before are cut into blocks of the same length, so that train rows look
    back as far as test rows have to.
    """
    day = (time.dt.normalize() - time.min().normalize()).dt.days.to_numpy()
    last = day[:rows].max()
    length = int(day[rows:].max() - last)
    blocks = np.ceil(np.clip(last - day + 1, 0, None) / length).astype(int)
    return last - blocks * length, length


def history_features(known: list[np.ndarray], series: np.ndarray, day: np.ndarray, origin: np.ndarray) -> pd.DataFrame:
    """What was known of a row's series at its origin: recent means, those of its weekday, and those a year ago.

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
        return np.asarray(np.divide(total, number, out=np.full(len(series), np.nan), where=number > 0))

    found = {f"mean of {k} days": mean(origin - k + 1, origin) for k in (7, 14, 28, 91)}
    year_ago = {"mean of 28 days a year before": mean(origin - 364 - 27, origin - 364)}
    year_ago["mean a year ago"] = mean(day - 364 - 3, np.minimum(day - 364 + 3, origin))
    # Where the year before is unknown, the last months replace it: no feature is empty in all rows.
    found |= {name: np.where(np.isnan(values), found["mean of 91 days"], values) for name, values in year_ago.items()}
    back = [day - 7 * np.ceil((day - origin) / 7).astype(int) - 7 * week for week in range(8)]
    past = np.array([np.where(at >= 0, values[series, np.clip(at, 0, None)], np.nan) for at in back])
    for weeks in (4, 8):
        is_known = np.isfinite(past[:weeks]).any(axis=0)
        middle = np.full(len(series), np.nan)
        middle[is_known] = np.nanmedian(past[:weeks, is_known], axis=0)
        found[f"median of its weekday, {weeks} weeks"] = middle
    return pd.DataFrame(found)


def position_features(series: np.ndarray, day: np.ndarray, origin: np.ndarray) -> pd.DataFrame:
    """The series, day and origin of a row, in the columns where `boosted_effects` expects them."""
    return pd.DataFrame({"series": series, "day": day, "origin": origin, "days ahead": day - origin}).astype(float)


def boosted_effects(
    features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, *, knots: int = 5, **options: Any
) -> Predict:
    """Additive effects, then boosting on their residuals, with the recent residuals of each series as features.

    The first columns of the features are those of `position_features`.
    """
    transform, transformed = fit_splines(features[:, 4:], groups, seed, knots)
    base, first = ridge(transformed, y)
    known = [features[:, 0].astype(int), features[:, 1].astype(int), winsorise(y - first)]

    def with_history(features: np.ndarray, base_prediction: np.ndarray) -> np.ndarray:
        history = history_features(known, *features[:, :3].astype(int).T)
        return np.column_stack([features, base_prediction, history.to_numpy()])

    boosted = boosting(with_history(features, first), groups, y - first, seed, **options)

    def predict(features: np.ndarray, groups: np.ndarray) -> np.ndarray:
        base_prediction = base(transform(features[:, 4:], groups))
        return np.asarray(base_prediction + boosted(with_history(features, base_prediction), groups))

    return predict


def drop_drifting(numbers: pd.DataFrame, rows: int, most: float = 0.2) -> pd.DataFrame:
    """Numbers without those that leave the range of the train rows in many test rows."""
    low, high = numbers.iloc[:rows].min(), numbers.iloc[:rows].max()
    outside = ((numbers.iloc[rows:] < low) | (numbers.iloc[rows:] > high)).mean()
    return numbers.loc[:, (outside <= most).to_numpy()]


def group_slope_features(numbers: pd.DataFrame, groups: pd.DataFrame, most: int = 6) -> pd.DataFrame:
    """Numbers within each of a few groups, so that their effects may differ between groups."""
    found: dict[str, pd.Series] = {}
    for group in [name for name in groups if 1 < groups[name].nunique() <= most]:
        for name in numbers:
            middle = numbers[name].mean()
            for member in range(groups[group].max() + 1):
                found[f"{name} for {group} {member}"] = numbers[name].where(groups[group] == member, middle)
    return pd.DataFrame(found, index=numbers.index)


def season_features(when: pd.Series, waves: int = 3) -> pd.DataFrame:
    """Sine waves that repeat every year."""
    angle = 2 * np.pi * when.dt.dayofyear / 365.25
    columns = {f"season {name} {k}": wave(k * angle) for k in range(1, waves + 1) for name, wave in WAVES.items()}
    return pd.DataFrame(columns, index=when.index)


def time_folds(day: np.ndarray, rows: int, length: int, count: int) -> Folds:
    """The last days of train, in windows as long as the one to forecast, each with the rows before it."""
    known = day[:rows]
    ends = [known.max() - length * (SPLIT + number) for number in range(count)]
    return [
        (np.flatnonzero(known <= end - length), np.flatnonzero((known > end - length) & (known <= end))) for end in ends
    ]
