"""A county's swimming pools: their tables, what the tables say day by day, and what draws visitors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

HORIZON = 56
POOLS = 66
POOL_KINDS = ("indoor", "outdoor", "thermal")
DISTRICTS = ("Abbey", "Bridge", "Castle", "Dock", "Elms")
HOLIDAYS = (
    *("Candle Day", "Bell Day", "Thaw Feast", "Sowing Day", "May Crown", "Midsummer"),
    *("River Day", "Harvest Home", "Apple Fair", "Lantern Night", "First Frost", "Year's End"),
)
BREAKS = {"winter break": (40, 9), "spring break": (98, 14), "summer break": (188, 40), "autumn break": (292, 12)}
"""Usual first day in the year, and number of days."""


@dataclass(frozen=True)
class Grid:
    """Contents of the tables as arrays of days by pools, or of one of the two."""

    dates: pd.DatetimeIndex
    weekday: np.ndarray
    holiday: np.ndarray
    """Number of the day's holiday, 0 for none."""
    school_break: np.ndarray
    kind: np.ndarray
    district: np.ndarray
    air: np.ndarray
    rain: np.ndarray
    half_price: np.ndarray
    family_day: np.ndarray
    half_open: np.ndarray
    closed: np.ndarray
    """Closed for works."""
    visits: np.ndarray
    """NaN where not recorded or to be forecast."""

    @property
    def eve(self) -> np.ndarray:
        """True if the next day is a holiday."""
        return np.append(self.holiday[1:] > 0, False)

    @property
    def after_offer(self) -> np.ndarray:
        """True if there was an offer on the day before."""
        offers = self.half_price + self.family_day
        return np.vstack([np.zeros_like(offers[:1]), offers[:-1]])


def draw_tables(rng: np.random.Generator, dates: pd.DatetimeIndex, *, indices: int) -> dict[str, pd.DataFrame]:
    """The tables beside the rows, by file name."""
    pools, calendar = _pools(rng), _calendar(rng, dates, indices)
    return {"pools.csv": pools, "calendar.csv": calendar, "works.csv": _works(rng, dates, pools)}


def _pools(rng: np.random.Generator) -> pd.DataFrame:
    names = np.sort(rng.permutation(900)[:POOLS] + 100)
    return pd.DataFrame(
        {
            "pool": [f"P{name}" for name in names],
            "district": rng.choice(DISTRICTS, POOLS),
            "kind": rng.choice(POOL_KINDS, POOLS, p=[0.45, 0.3, 0.25]),
            "lanes": rng.integers(2, 11, POOLS),
            "built": rng.integers(1955, 2012, POOLS),
        }
    )


def _calendar(rng: np.random.Generator, dates: pd.DatetimeIndex, indices: int) -> pd.DataFrame:
    """Holidays and breaks that move a little every year, and indices that wander for no reason that matters."""
    holiday, school_break = pd.Series("", dates), pd.Series("", dates)
    anchors = np.arange(14, 365, 30.5).astype(int) + rng.integers(-6, 7, len(HOLIDAYS))
    for year in dates.year.unique():
        start = pd.Timestamp(year, 1, 1)
        for name, anchor in zip(HOLIDAYS, anchors + rng.integers(-6, 7, len(HOLIDAYS)), strict=True):
            holiday[dates == start + pd.Timedelta(days=int(anchor))] = name
        for name, (anchor, length) in BREAKS.items():
            begin = start + pd.Timedelta(days=int(anchor + rng.integers(-7, 8)))
            school_break[begin : begin + pd.Timedelta(days=length - 1)] = name
    wander = 100 + rng.normal(0, 0.4, (len(dates), indices)).cumsum(axis=0)
    table = pd.DataFrame({"date": dates.strftime("%Y-%m-%d"), "holiday": holiday, "school_break": school_break})
    table = table.replace("", np.nan).reset_index(drop=True)
    return table.assign(**{f"index_{number + 1}": wander[:, number].round(2) for number in range(indices)})


def _works(rng: np.random.Generator, dates: pd.DatetimeIndex, pools: pd.DataFrame) -> pd.DataFrame:
    past = len(dates) - HORIZON
    begin = np.sort(np.append(rng.integers(0, past, 110), rng.integers(past, len(dates), 22)))
    count = len(begin)
    end = np.minimum(begin + rng.integers(3, 20, count), len(dates) - 1)
    return pd.DataFrame(
        {
            "pool": rng.choice(pools["pool"], count),
            "first_day": dates[begin].strftime("%Y-%m-%d"),
            "last_day": dates[end].strftime("%Y-%m-%d"),
            "extent": rng.choice(["half", "closed"], count),
        }
    )


def draw_rows(rng: np.random.Generator, dates: pd.DatetimeIndex, pools: pd.DataFrame) -> pd.DataFrame:
    """One row per day and pool: weather by district, offers by pool."""
    shape = (len(dates), POOLS)
    district = pools["district"].map(DISTRICTS.index).to_numpy()
    innovations = pd.DataFrame(rng.normal(0, 9, (len(dates), len(DISTRICTS))))
    anomaly = innovations.ewm(alpha=0.2, adjust=False).mean().to_numpy()
    season = -np.cos((dates.dayofyear.to_numpy() - 20) * 2 * np.pi / 365.25)
    air = 14 + 10 * season[:, None] + anomaly + rng.normal(0, 1, len(DISTRICTS))
    wet = rng.random((len(dates), len(DISTRICTS))) < 1 / (1 + np.exp(0.8 + 0.3 * anomaly))
    rain = wet * rng.gamma(1.2, 5.0, wet.shape)
    offers = rng.choice(["", "half price", "family day"], shape, p=[0.94, 0.03, 0.03])
    return pd.DataFrame(
        {
            "row_id": rng.permutation(900_000)[: len(dates) * POOLS] + 100_000,
            "pool": np.tile(pools["pool"], len(dates)),
            "date": np.repeat(dates.strftime("%Y-%m-%d"), POOLS),
            "air": air[:, district].ravel().round(1),
            "rain": rain[:, district].ravel().round(1),
            "offer": offers.ravel(),
        }
    ).replace({"offer": {"": np.nan}})


def read_grid(rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> Grid:
    """The grid of rows with visits (train) and without (test) put together."""
    pools, calendar, works = tables["pools.csv"], tables["calendar.csv"], tables["works.csv"]
    dates = pd.DatetimeIndex(calendar["date"])
    shape = len(dates), len(pools)
    position = dates.get_indexer(pd.DatetimeIndex(rows["date"])), _numbers(rows["pool"], pools["pool"])

    def spread(values: pd.Series, blank: float) -> np.ndarray:
        field = np.full(shape, blank)
        field[position] = values
        return field

    during = {"half": np.zeros(shape, bool), "closed": np.zeros(shape, bool)}
    begin, end = (dates.get_indexer(pd.DatetimeIndex(works[name])) for name in ("first_day", "last_day"))
    for row, pool in enumerate(_numbers(works["pool"], pools["pool"])):
        during[works["extent"][row]][begin[row] : end[row] + 1, pool] = True
    return Grid(
        dates=dates,
        weekday=dates.dayofweek.to_numpy(),
        holiday=1 + _numbers(calendar["holiday"], HOLIDAYS),
        school_break=1 + _numbers(calendar["school_break"], list(BREAKS)),
        kind=_numbers(pools["kind"], POOL_KINDS),
        district=_numbers(pools["district"], DISTRICTS),
        air=spread(rows["air"], np.nan),
        rain=spread(rows["rain"], np.nan),
        half_price=spread(rows["offer"] == "half price", 0),
        family_day=spread(rows["offer"] == "family day", 0),
        half_open=during["half"],
        closed=during["closed"],
        visits=spread(rows["visits"], np.nan),
    )


def _numbers(values: pd.Series, names: Iterable[str]) -> np.ndarray:
    """The positions of values in a list of names, −1 where they are not in it."""
    return pd.Index(list(names)).get_indexer(pd.Index(values))


def draw_closures(rng: np.random.Generator, grid: Grid) -> np.ndarray:
    """Works, rest days (which some pools moved at some time) and holidays that a pool keeps."""
    days = np.arange(len(grid.dates))[:, None]
    rest_days = np.where(rng.random((2, POOLS)) < 0.45, rng.integers(0, 5, (2, POOLS)), -1)
    moved = np.where(rng.random(POOLS) < 0.5, rng.uniform(0.1, 0.85, POOLS), 0) * len(days)
    rest = grid.weekday[:, None] == np.where(days < moved, rest_days[0], rest_days[1])
    keeps = rng.random((len(HOLIDAYS) + 1, POOLS)) < rng.beta(0.6, 1.2, POOLS)
    keeps[0] = False
    return np.asarray(grid.closed | rest | keeps[grid.holiday])


def draw_mechanism(rng: np.random.Generator, grid: Grid) -> np.ndarray:
    """The true logarithm of the visits to a pool that is open."""
    repeating = _year(rng, grid) + _calendar_effects(rng, grid)
    works = grid.half_open * np.log(rng.uniform(0.5, 0.7))
    return np.asarray(_levels(rng, grid) + repeating + _weather_effects(rng, grid) + _offer_effects(rng, grid) + works)


def _levels(rng: np.random.Generator, grid: Grid) -> np.ndarray:
    """Return the part of each pool that does not repeat: its size, trend, jumps and slow drift."""
    days = np.arange(len(grid.dates))[:, None]
    turn = rng.uniform(0.4, 0.85, len(DISTRICTS)) * len(days)
    before, after = rng.normal(0, 0.15, (2, len(DISTRICTS))) / 365
    trend = before * np.minimum(days, turn) + after * np.maximum(0, days - turn)
    jump_day = rng.uniform(0.1, 0.9, POOLS) * len(days)
    jump = rng.choice([-1, 0, 0, 1], POOLS) * rng.uniform(0.2, 0.5, POOLS)
    drift = rng.normal(0, 0.005, (len(days), POOLS)).cumsum(axis=0)
    size = np.log(70) + rng.normal(0, 0.4, POOLS)
    return np.asarray(size + trend[:, grid.district] + jump * (days > jump_day) + drift)


def _year(rng: np.random.Generator, grid: Grid) -> np.ndarray:
    """The season of the kind of pool, stronger at some pools than at others."""
    angle = grid.dates.dayofyear.to_numpy()[:, None] * 2 * np.pi / 365.25
    size = np.array([0.2, 0.35, 0.25]) * rng.uniform(0.7, 1.3, 3)
    peak = np.array([0.3, np.pi, 0.1]) + rng.normal(0, 0.4, 3)
    curve = size * np.cos(angle - peak) + 0.35 * size * np.cos(2 * (angle - rng.uniform(0, 2 * np.pi, 3)))
    return curve[:, grid.kind] * rng.lognormal(0, 0.2, POOLS)


def _calendar_effects(rng: np.random.Generator, grid: Grid) -> np.ndarray:
    """Weekdays by kind and by pool, other weekdays in school breaks, holidays and the days before them."""
    weekend = (np.arange(7) >= 5)[:, None]
    week = rng.normal(0, 0.12, (7, 3)) + weekend * rng.normal(0.45, 0.15, 3)
    own_week = rng.normal(0, 0.1, (7, POOLS))
    free_week = rng.normal(0.25, 0.15, (7, 3)) - weekend * rng.uniform(0.1, 0.4, 3)
    holidays = rng.normal(0.15, 0.3, (len(HOLIDAYS) + 1, 3))
    holidays[0] = 0
    effects = (week[:, grid.kind] + own_week)[grid.weekday] + holidays[grid.holiday][:, grid.kind]
    effects += (grid.school_break > 0)[:, None] * free_week[grid.weekday][:, grid.kind]
    return np.asarray(effects + grid.eve[:, None] * rng.normal(0.12, 0.05))


def _weather_effects(rng: np.random.Generator, grid: Grid) -> np.ndarray:
    """Heat draws people to outdoor pools and rain to the others, most of all at weekends."""
    warm, hot, wet = grid.air / 10 - 1.4, np.clip(grid.air - 24, 0, 8) / 5, np.minimum(grid.rain, 6) / 6
    usual = np.array([[-0.15, 0.3, -0.1], [-0.1, 0.2, -0.2], [0.15, -0.45, 0.05], [0.15, -0.2, 0.1]])
    strength = (usual * rng.uniform(0.7, 1.3, usual.shape))[:, grid.kind]
    wet_weekend = wet * (grid.weekday >= 5)[:, None]
    return np.asarray(strength[0] * warm + strength[1] * hot + strength[2] * wet + strength[3] * wet_weekend)


def _offer_effects(rng: np.random.Generator, grid: Grid) -> np.ndarray:
    half_price, family_day = rng.normal(0.4, 0.1, 3)[grid.kind], rng.normal(0.5, 0.1, 3)[grid.kind]
    weekend = np.where(grid.weekday >= 5, 1, rng.uniform(0.1, 0.4))[:, None]
    dip = rng.uniform(0.1, 0.2) * grid.after_offer
    return np.asarray(grid.half_price * half_price + grid.family_day * family_day * weekend - dip)
