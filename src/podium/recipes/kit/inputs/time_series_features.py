"""Series: values at regular times, to be forecast."""

from typing import Any

import numpy as np
import pandas as pd

from podium.recipes.kit.learning.cross_validation import PredictRows
from podium.recipes.kit.learning.feature_screening import winsorise
from podium.recipes.kit.learning.fit_models import boosting, fit_splines, ridge
from podium.tables.dates import parse_dates
from podium.tables.table_io import read_table

NO_LIMIT = 99.0
DAY = "the day that is joined by"
MAX_STEPS = 50_000
WAVES = {"sine": np.sin, "cosine": np.cos}


def join_table(both: pd.DataFrame, file: str, on: list[str], names: dict[str, str]) -> pd.DataFrame:
    """Rows with columns of a further table that has one row for each value of some columns.

    Args:
        names: what the columns of the further table are called from now on.
    """
    more = read_table(file).drop_duplicates(on)[[*on, *names]].rename(columns=names)
    return both.merge(more, on=on, how="left")


def join_spans(
    both: pd.DataFrame, file: str, on: list[str], ends: tuple[str, str], time: str, names: dict[str, str]
) -> pd.DataFrame:
    """The same with a table about spans of days, where a row's day is within a span."""
    spans = read_table(file)
    start, end = (parse_dates(spans[name]) for name in ends)
    days = pd.Series([pd.date_range(left, right) for left, right in zip(start, end, strict=True)], index=spans.index)
    rows_per_day = spans[[*on, *names]].rename(columns=names).assign(**{DAY: days}).explode(DAY)
    rows_per_day = rows_per_day.drop_duplicates([*on, DAY])
    rows_per_day[DAY] = pd.to_datetime(rows_per_day[DAY])
    days_of_rows = both.assign(**{DAY: parse_dates(both[time]).dt.normalize()})
    return days_of_rows.merge(rows_per_day, on=[*on, DAY], how="left").drop(columns=DAY)


def event_distances(both: pd.DataFrame, time: str, names: list[str], far: int = 15) -> pd.DataFrame:
    """The number of days before and after the nearest event, for columns that are mostly empty."""
    days = parse_dates(both[time]).dt.normalize()
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


def read_times(time: pd.Series) -> pd.Series:
    """Times as dates. Years become their first day; other numbers are counted in days."""
    if not pd.api.types.is_numeric_dtype(time):
        return parse_dates(time)
    known = time.dropna()
    if (known % 1 == 0).all() and known.between(1500, 2200).all():
        return pd.to_datetime(time.astype("Int64").astype(str), format="%Y", errors="coerce")
    days = (time - known.min()) / np.median(np.diff(np.unique(known)))
    return pd.Series(pd.Timestamp("2000-01-01") + pd.to_timedelta(days.round(6), unit="D"), index=time.index)


def fill_times(when: pd.Series, rows: int) -> pd.Series:
    """Times without gaps: where none is known, the first of all for train rows and the middle one for test rows.

    No row is left out, so that scores compare with those of models that do not need times.
    """
    train, test = when[:rows], when[rows:]
    filled: pd.Series = pd.concat([train.fillna(when.min()), test.fillna(test.median())])
    return filled


def time_steps(when: pd.Series) -> tuple[np.ndarray, int, int]:
    """The number of each time, how many of these are a season (a week of days, a year of months), and a year.

    Where there are several times a day, at regular intervals, a season is a day and a "year" a week.
    """
    gaps = np.diff(np.unique(when.to_numpy())) / np.timedelta64(1, "D")
    usual = float(np.median(gaps)) if len(gaps) else 1.0
    if usual < 0.9 and np.ptp(when.to_numpy()) / np.timedelta64(1, "D") / usual < MAX_STEPS:
        number = ((when - when.min()) / pd.Timedelta(days=usual)).round().astype(int).to_numpy()
        return number, max(1, round(1 / usual)), max(1, round(7 / usual))
    if usual < 2:
        return (when.dt.normalize() - when.min().normalize()).dt.days.to_numpy(), 7, 364
    months = (when.dt.year * 12 + when.dt.month).to_numpy()
    for width, count in ((1, 12), (3, 4), (12, 1)):
        if 0.85 < usual / (30.44 * width) < 1.15:
            number = months // width
            return number - number.min(), count, count
    number = ((when - when.min()).dt.days.to_numpy() / usual).round().astype(int)
    year = max(1, round(365.25 / usual))
    return number, year, year


def without_weekdays(table: pd.DataFrame, time: str) -> pd.DataFrame:
    """A table without the parts of dates that tell nothing where times are weeks, months or years."""
    parts = (f"{time} weekday", f"{time} day of month", f"weekday of {time}")
    return table.drop(columns=[name for name in parts if name in table])


def forecast_origins(day: np.ndarray, rows: int) -> np.ndarray:
    """The last day known when a row is forecast.

    The days to forecast are one block. Those before are cut into blocks of the same length, so that train rows look
    back as far as test rows have to.
    """
    last = day[:rows].max()
    length = max(1, int(day[rows:].max() - last))
    blocks = np.ceil(np.clip(last - day + 1, 0, None) / length).astype(int)
    return np.asarray(last - blocks * length)


def history_features(
    known: list[np.ndarray], series: np.ndarray, day: np.ndarray, origin: np.ndarray, season: int = 7, year: int = 364
) -> pd.DataFrame:
    """Return features of a row's series at its origin: recent means, those of its weekday, and those a year ago.

    Args:
        known: series, day and value of the rows that are known.
        season: after how many days the weekday is the same. Where times are months, "days" are months, too.
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
    near = 3 if year > 12 else 0
    year_ago = {"mean of 28 days a year before": mean(origin - year - 27, origin - year)}
    year_ago["mean a year ago"] = mean(day - year - near, np.minimum(day - year + near, origin))
    # Where the year before is unknown, the last months replace it: no feature is empty in all rows.
    found |= {name: np.where(np.isnan(values), found["mean of 91 days"], values) for name, values in year_ago.items()}
    back = [day - season * np.ceil((day - origin) / season).astype(int) - season * week for week in range(8)]
    past = np.array([np.where(at >= 0, values[series, np.clip(at, 0, None)], np.nan) for at in back])
    for weeks in (4, 8):
        is_known = np.isfinite(past[:weeks]).any(axis=0)
        middle = np.full(len(series), np.nan)
        middle[is_known] = np.nanmedian(past[:weeks, is_known], axis=0)
        found[f"median of its weekday, {weeks} weeks"] = middle
    return pd.DataFrame(found)


def simple_forecasts(
    known: list[np.ndarray], series: np.ndarray, day: np.ndarray, origin: np.ndarray, season: int
) -> pd.DataFrame:
    """Forecasts of rows that need no model: the last value of a series, its trend, and its value a season before.

    Args:
        known: as for `history_features`. Before the first known value of a series there is no forecast.
    """
    count, days = int(max(series.max(), known[0].max())) + 1, int(max(day.max(), known[1].max())) + 1
    table = pd.DataFrame({"day": known[1], "series": known[0], "value": known[2]})
    means = table.groupby(["day", "series"])["value"].mean().unstack().reindex(index=range(days), columns=range(count))
    filled = means.ffill().to_numpy()
    ahead = day - origin

    def at(moment: np.ndarray) -> np.ndarray:
        return np.where(moment >= 0, filled[np.clip(moment, 0, days - 1), series], np.nan)

    last = at(origin)
    found = {"last": last, "mean of 3": np.mean([at(origin - back) for back in range(3)], axis=0)}
    found["mean of a season"] = np.mean([at(origin - back) for back in range(max(season, 2))], axis=0)
    found["season before"] = at(day - season * np.ceil(ahead / season).astype(int))
    for back in (1, 3):
        found[f"trend of {back} times as long"] = last + (last - at(origin - back * ahead)) / back
    found["season before, with trend"] = found["season before"] + last - at(origin - season)
    return pd.DataFrame(found)


def position_features(series: np.ndarray, day: np.ndarray, origin: np.ndarray) -> pd.DataFrame:
    """The series, day and origin of a row, in the columns where `boosted_effects` expects them."""
    position = {"which series": series, "which day": day, "which origin": origin, "days ahead": day - origin}
    return pd.DataFrame(position).astype(float)


def boosted_effects(
    features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, *, knots: int = 5, **options: Any
) -> PredictRows:
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
