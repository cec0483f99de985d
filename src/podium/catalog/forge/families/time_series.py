"""Time series: how full will the swimming pools be? Shared seasons, own habits, closures, level shifts, weather.

The mechanism is a product. A pool's level drifts, bends with the district's trend and may jump; on it act the
week of the kind of pool and of the pool itself, the year, weather (which draws people to some pools and away from
others), holidays and school breaks that move from year to year, offers with a dip on the day after, and works.
Visits are zero when a pool is closed: on rest days, on holidays it keeps, for works. Some train days are missing
and some were miscounted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.learners import boosting, subsample
from podium.catalog.forge.families.time_series_data import (
    BREAKS,
    DISTRICTS,
    HOLIDAYS,
    HORIZON,
    POOL_KINDS,
    POOLS,
    Grid,
    draw_closures,
    draw_mechanism,
    draw_rows,
    draw_tables,
    read_grid,
)
from podium.catalog.forge.family import Family, ForgedData, Pipeline, Predict, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import ID_AND_TARGET
from podium.catalog.forge.world.retelling import TIME_NAMES, OwnColumn, OwnFile, Retelling, told_as
from podium.metrics import mae
from podium.task import Columns, Number

TRAIN_DAYS = {"easy": 860, "medium": 800, "hard": 745}
NOISE = {"easy": 0.09, "medium": 0.13, "hard": 0.18}
MISCOUNTED = {"easy": 0.005, "medium": 0.010, "hard": 0.020}
DISTRACTORS = {"easy": 1, "medium": 3, "hard": 5}
MISSING = 0.02

SUBMISSION = Columns(id="row_id", target="visits", values=Number(low=0))

FIGURES = {"pools": POOLS, "horizon": HORIZON, "missing": MISSING}
OFFERS = ("half price", "family day")
FEASTS = {name: f"{{name{number + 5}}} Day" for number, name in enumerate(HOLIDAYS)}
LEAVES = {name: name.replace("break", "{leave}") for name in BREAKS}
EXTENTS = {"half": "{some}", "closed": "{shut}"}

RETELLING = Retelling(
    asked="`{visits}`, that is how busy it will be",
    opening=(
        ("{organisation} runs {pools:,} {parents} and plans its staff eight weeks ahead.",),
        ("For every {parent} of {place} and each of the {horizon} days after the records end, forecast {asked}.",),
    ),
    nouns={
        "leave": ("recess", "leave", "vacation", "pause", "closedown"),
        "gates": ("gates", "counters", "posts", "stands", "bays"),
        "some": ("partial", "reduced", "one side", "limited"),
        "shut": ("shut", "complete", "total", "everything"),
    },
    pools={
        "kind": ("municipal", "private", "seasonal", "leased", "historic", "central", "remote", "trial"),
        "offer": ("voucher day", "open house", "two for one", "guest day", "happy hour", "raffle", "club day"),
    },
    columns=(
        OwnColumn("row_id", "{parent} day|{parent} entry|{parent} record", "identifier", "key"),
        OwnColumn("pool", "{parent}", "the {parent}", "key", file="train, test, {pools_csv}, {works_csv}"),
        OwnColumn("date", TIME_NAMES, "the day", file="train, test, {calendar_csv}"),
        OwnColumn("air", "warmth|air|top temperature|heat", "highest air temperature", "number", {"°C": 1}),
        OwnColumn("rain", "rain|rainfall|wet|precipitation", "rain", "number", {"mm": 1, "in": 0.0393701}),
        OwnColumn(
            "offer", "offer/campaign/special", "`{offer0}`, `{offer1}` or empty", values=told_as("offer", OFFERS)
        ),
        OwnColumn(
            "visits", "{row} load/use/rate/density", "{rows} per 100 that fit in; 0 when closed", "number", file="train"
        ),
        OwnColumn("district", "{region}", "where it lies", values=told_as("name", DISTRICTS), file="{pools_csv}"),
        OwnColumn(
            "kind", "{parent} kind/type/sort", "what it is", values=told_as("kind", POOL_KINDS), file="{pools_csv}"
        ),
        OwnColumn("lanes", "{gates}", "number of {gates}", "number", file="{pools_csv}"),
        OwnColumn("built", "built|opened|founded|begun", "year of its beginning", "number", file="{pools_csv}"),
        OwnColumn("holiday", "holiday/feast", "its holiday, empty if none", values=FEASTS, file="{calendar_csv}"),
        OwnColumn("school_break", "school {leave}", "its {leave}, empty if none", values=LEAVES, file="{calendar_csv}"),
        OwnColumn("index_#", "{name18} index/figure", "figures published in advance", "number", file="{calendar_csv}"),
        OwnColumn("first_day", "works from/begin/start", "first day of the works", file="{works_csv}"),
        OwnColumn("last_day", "works until/end/finish", "last day, included", file="{works_csv}"),
        OwnColumn(
            "extent", "works extent/scope", "`{some}`, or `{shut}` when closed", values=EXTENTS, file="{works_csv}"
        ),
    ),
    files=(
        OwnFile("pools.csv", "{place} {parents}|{parent} list/register", "one row per {parent}"),
        OwnFile("calendar.csv", "{place} days/calendar/almanac", "one row per day, past and future"),
        OwnFile("works.csv", "{place} works/repairs/sites", "building works, past and planned"),
    ),
    notes=(
        "Weather in `test.csv` is the forecast of {place}, which you may take as true; offers are already decided.",
        "Not every {parent} of {place} opens on every holiday, and some have rest days.",
        "About {missing:.0%} of the days of {place} were never recorded.",
        "On about {miscounted:.1%} of the days in `train.csv` only part of the {rows} of {place} was counted; "
        "the days of `test.csv` were checked.",
        "Even on a day about which everything is known, `{visits}` scatters by about {noise:.0%}.",
    ),
    metric="The mean absolute error (MAE).\nLower is better.",
    form=f"{ID_AND_TARGET}\n`{{target}}` is not negative.",
    facts=lambda difficulty: {"miscounted": MISCOUNTED[difficulty], "noise": NOISE[difficulty], **FIGURES},
)


def draw(rng: np.random.Generator, difficulty: Difficulty) -> ForgedData:
    """Draws pools, calendar, works and weather, then the mechanism, then what was recorded."""
    cut = TRAIN_DAYS[difficulty]
    first = pd.Timestamp("2013-01-01") + pd.Timedelta(days=int(rng.integers(0, 365)))
    dates = pd.date_range(first, periods=cut + HORIZON)
    tables = draw_tables(rng, dates, indices=DISTRACTORS[difficulty])
    rows = draw_rows(rng, dates, tables["pools.csv"])
    grid = read_grid(rows.assign(visits=np.nan), tables)
    closed = draw_closures(rng, grid)
    expected = np.where(closed, 0.0, np.exp(draw_mechanism(rng, grid)))
    visits = expected * np.exp(rng.normal(0, NOISE[difficulty], expected.shape))
    miscounted = rng.random(expected.shape) < MISCOUNTED[difficulty]
    counted = visits * np.where(miscounted, rng.uniform(0.1, 0.5, expected.shape), 1)
    train = rows.assign(visits=counted.ravel().round(1))[: cut * POOLS]
    test = rows[cut * POOLS :].reset_index(drop=True)
    answers = pd.DataFrame({"row_id": test["row_id"], "visits": visits[cut:].ravel().round(1)})
    return ForgedData(
        public=PublicData(train[rng.random(len(train)) > MISSING].reset_index(drop=True), test, tables),
        answers=answers,
        sample=answers.assign(visits=50.0),
        ceiling=expected[cut:].ravel(),
    )


Method = Callable[[Grid, np.random.Generator], np.ndarray]
"""Fills the horizon: an array of days by pools."""


def forecaster(method: Method) -> Predict:
    """A pipeline from a method; test rows run day by day and pool by pool, as the arrays do."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        grid = read_grid(pd.concat([data.train, data.test]), data.tables)
        return np.maximum(method(grid, rng), 0).ravel()

    return predict


def one_number(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    return np.full((HORIZON, POOLS), np.nanquantile(grid.visits, rng.uniform(0.3, 0.6)))


def moving_average(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    window = int(rng.integers(10, 120))
    return np.tile(np.nanmean(grid.visits[-HORIZON - window : -HORIZON], axis=0), (HORIZON, 1))


def last_week(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    """One of the last weeks again and again."""
    filled = pd.DataFrame(grid.visits[:-HORIZON]).ffill().to_numpy()
    end = len(filled) - 7 * int(rng.integers(0, 4))
    return np.tile(filled[end - 7 : end], (HORIZON // 7, 1))


def last_year(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    """The same weeks a year ago, or the mean of some weeks around them."""
    shifts = [364, 357, 371][: int(rng.integers(1, 4))]
    weeks = pd.DataFrame(np.nanmean([grid.visits[-HORIZON - shift :][:HORIZON] for shift in shifts], axis=0))
    return weeks.fillna(weeks.mean()).to_numpy()


def weekday_means(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    weeks = int(rng.integers(4, 14))
    recent = grid.visits[-HORIZON - 7 * weeks : -HORIZON].reshape(weeks, 7, POOLS)
    return np.tile(np.nanmean(recent, axis=0), (HORIZON // 7, 1))


def _stack(*facts: np.ndarray) -> np.ndarray:
    """Facts as features, in an array of days by pools by facts."""
    return np.stack(np.broadcast_arrays(*facts), axis=-1).astype(float)


def _as_is(grid: Grid) -> np.ndarray:
    """The columns of the rows alone; the date is a number that grows."""
    offer = grid.half_price + 2 * grid.family_day
    return _stack(np.arange(POOLS), np.arange(len(grid.dates))[:, None], grid.air, grid.rain, offer)


def _dated(grid: Grid) -> np.ndarray:
    """The columns of the rows with the date taken apart."""
    dates = np.column_stack([grid.dates.month, grid.weekday, grid.dates.year, grid.dates.day, grid.dates.dayofyear])
    return np.concatenate([_stack(*dates.T[:, :, None], np.arange(POOLS)), _as_is(grid)[:, :, 2:]], axis=2)


def _joined(grid: Grid) -> np.ndarray:
    """Return the features of all tables."""
    days = np.column_stack([grid.holiday, grid.school_break, grid.eve, np.arange(len(grid.dates))])
    facts = (*days.T[:, :, None], grid.kind, grid.district, grid.half_open, grid.after_offer)
    return np.concatenate([_dated(grid), _stack(*facts)], axis=2)


def _lagged(grid: Grid) -> np.ndarray:
    """With the tables, what is known of the pool a horizon before: its level, the weekday, the year before."""
    logs = pd.DataFrame(_log_visits(grid))
    weekday = np.nanmean([logs.shift(HORIZON + 7 * weeks) for weeks in range(6)], axis=0)
    year = np.nanmean([logs.shift(shift) for shift in (357, 364, 371)], axis=0)
    return np.concatenate([_joined(grid), _stack(_past_level(grid, 42), weekday, year)], axis=2)


def _past_level(grid: Grid, window: int) -> np.ndarray:
    """The mean logarithm of a pool's visits in some days that ended a horizon before."""
    return pd.DataFrame(_log_visits(grid)).rolling(window, min_periods=10).mean().shift(HORIZON).to_numpy()


def _log_visits(grid: Grid) -> np.ndarray:
    """NaN on closed days too."""
    return np.log(np.where(grid.visits > 0, grid.visits, np.nan))


def _fit(model: Any, features: np.ndarray, target: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
    """The model's forecast of the horizon after learning from days with a target: all, or some that are drawn."""
    rows = features.reshape(-1, features.shape[2])
    known = np.flatnonzero(~np.isnan(target[:-HORIZON]))
    if rng:
        known = known[subsample(len(known), rng.uniform(0.5, 0.8), rng)]
    model.fit(rows[known], target.ravel()[known])
    return np.asarray(model.predict(rows[-HORIZON * POOLS :]).reshape(HORIZON, POOLS))


def linear(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    """Month, weekday and pool as categories."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    columns = make_column_transformer((OneHotEncoder(), [0, 1, 5]), remainder="passthrough")
    return _fit(make_pipeline(columns, Ridge(10 ** rng.uniform(-1, 2))), _dated(grid), grid.visits, rng)


def plain_boosting(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    return _fit(boosting(rng, classify=False), _as_is(grid), grid.visits, rng)


def dated_boosting(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    return _fit(boosting(rng, classify=False), _dated(grid), grid.visits, rng)


def scaled_year(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    """The weeks of a year ago, scaled by how the pool's recent weeks stand to theirs a year ago."""
    logs, window = _log_visits(grid), int(rng.integers(28, 70))
    recent = logs[-HORIZON - window : -HORIZON], logs[-HORIZON - window - 364 : -HORIZON - 364]
    growth = np.nanmedian(recent[0], axis=0) - np.nanmedian(recent[1], axis=0)
    weeks = [logs[-HORIZON - 364 + shift :][:HORIZON] for shift in (-14, -7, 0, 7, 14)]
    return _when_open(grid, np.nanmedian(weeks, axis=0) + growth)


def joined_boosting(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    """Learns how a day stands to the pool's mean."""
    logs = _log_visits(grid)
    mean = np.nanmean(logs[-HORIZON - 365 :], axis=0)
    return _when_open(grid, mean + _fit(_rich_boosting(rng), _joined(grid), logs - mean, rng))


def lagged_boosting(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    return _when_open(grid, _fit(_rich_boosting(rng), _lagged(grid), _log_visits(grid), rng))


def ratio_boosting(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    """Learns how a day stands to the pool's level a horizon before."""
    level = _past_level(grid, int(rng.integers(28, 57)))
    ratio = _fit(_rich_boosting(rng), _lagged(grid), _log_visits(grid) - level, rng)
    return _when_open(grid, ratio + level[-HORIZON:])


def _rich_boosting(rng: np.random.Generator) -> Any:
    return boosting(rng, classify=False, learning_rate=0.1, max_leaf_nodes=int(rng.integers(16, 32)))


def _when_open(grid: Grid, logs: np.ndarray) -> np.ndarray:
    """Visits from their logarithms; zero where works, recent rest days or holidays kept so far say closed."""
    zero = np.where(np.isnan(grid.visits), np.nan, grid.visits == 0)[:-HORIZON]
    special = grid.closed | (grid.holiday > 0)[:, None]
    ordinary = np.where(special[:-HORIZON], np.nan, zero)[-70:].reshape(10, 7, POOLS)
    closed = grid.closed[-HORIZON:] | np.tile(np.nanmean(ordinary, axis=0) > 0.5, (HORIZON // 7, 1))
    for day in np.flatnonzero(grid.holiday[-HORIZON:]):
        before = grid.holiday[:-HORIZON] == grid.holiday[-HORIZON:][day]
        closed[day] |= np.nanmean(zero[before], axis=0) > 0.6
    return np.where(closed, 0, np.exp(np.nan_to_num(logs)))


def decomposition(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    return _when_open(grid, _decompose(grid, rng, habits=False)[-HORIZON:])


def decomposition_with_habits(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    return _when_open(grid, _decompose(grid, rng, habits=True)[-HORIZON:])


def decomposition_then_boosting(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    fitted = _decompose(grid, rng, habits=True)
    trees = boosting(rng, classify=False, learning_rate=0.05, max_leaf_nodes=8)
    correction = _fit(trees, _joined(grid), np.clip(_log_visits(grid) - fitted, -0.5, 0.5), rng)
    return _when_open(grid, fitted[-HORIZON:] + correction)


def _decompose(grid: Grid, rng: np.random.Generator, *, habits: bool) -> np.ndarray:
    """Fits the logarithms of all days, kind by kind, by what repeats and a level that moves slowly.

    Habits are weekdays of the pool's own.
    """
    strength, window = 10 ** rng.uniform(0, 1.3), int(rng.integers(41, 91))
    shared, logs, week = _shared_effects(grid), _log_visits(grid), np.eye(7)[grid.weekday]
    fitted = np.empty_like(logs)
    for kind in range(len(POOL_KINDS)):
        members = grid.kind == kind
        design = shared[:, members]
        if habits:
            own = week[:, None, None, :] * np.eye(members.sum())[:, :, None]
            design = np.concatenate([design, own.reshape(*design.shape[:2], -1)], axis=2)
        fitted[:, members] = _backfit(design, logs[:, members], strength, window)
    return fitted


def _backfit(design: np.ndarray, logs: np.ndarray, strength: float, window: int) -> np.ndarray:
    """Alternates between a ridge regression and the moving median of what it leaves over."""
    level = np.tile(np.nanmedian(logs, axis=0), (len(logs), 1))
    for _ in range(3):
        known = np.abs(logs - level) < 1.5
        rows = design[known]
        gram = rows.T @ rows + strength * np.eye(rows.shape[1])
        repeating = design @ np.linalg.solve(gram, rows.T @ (logs - level)[known])
        moving = pd.DataFrame(logs - repeating).rolling(window, min_periods=5, center=True).median()
        level = moving[:-HORIZON].ffill().bfill().reindex(moving.index, method="ffill").to_numpy()
    return np.asarray(repeating + level)


def _shared_effects(grid: Grid) -> np.ndarray:
    """Return the effects that are the same for all pools of a kind."""
    angle = grid.dates.dayofyear.to_numpy() * 2 * np.pi / 365.25
    week, weekend = np.eye(7)[grid.weekday].T, (grid.weekday >= 5)[:, None]
    days = [turn(times * angle) for times in (1, 2, 3) for turn in (np.sin, np.cos)]
    days += [*week, *(week * (grid.school_break > 0)), *np.eye(len(HOLIDAYS) + 1)[grid.holiday].T[1:], grid.eve]
    wet = np.minimum(grid.rain, 8) / 8
    weather = (grid.air / 10, *(np.maximum(0, grid.air - limit) / 5 for limit in (18, 24)), wet, wet * weekend)
    offers = (grid.half_price, grid.family_day, grid.family_day * weekend, grid.after_offer)
    return _stack(*(day[:, None] for day in days), *weather, *offers, grid.half_open)


def default_linear(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    from sklearn.linear_model import Ridge

    return _fit(Ridge(), _as_is(grid), grid.visits)


def default_boosting(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return _fit(HistGradientBoostingRegressor(random_state=0), _as_is(grid), grid.visits)


def default_dated_boosting(grid: Grid, rng: np.random.Generator) -> np.ndarray:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return _fit(HistGradientBoostingRegressor(random_state=0), _dated(grid), grid.visits)


family = Family(
    name="time-series",
    title="How busy will it be?",
    kind="time series",
    metric=mae,
    submission=SUBMISSION,
    draw=RETELLING.drawn(draw),
    form=RETELLING.form_of(SUBMISSION),
    pipelines=(
        Pipeline("one number", "naive", forecaster(one_number), 3),
        Pipeline("moving average", "naive", forecaster(moving_average), 4),
        Pipeline("last week again", "naive", forecaster(last_week), 4),
        Pipeline("last year again", "naive", forecaster(last_year), 4),
        Pipeline("weekday means", "plain", forecaster(weekday_means), 4),
        Pipeline("linear on date parts", "plain", forecaster(linear), 5),
        Pipeline("boosting as is", "plain", forecaster(plain_boosting), 6),
        Pipeline("boosting on date parts", "plain", forecaster(dated_boosting), 7),
        Pipeline("last year, scaled", "good", forecaster(scaled_year), 3),
        Pipeline("boosting on all tables", "good", forecaster(joined_boosting), 7),
        Pipeline("boosting on lags", "good", forecaster(lagged_boosting), 5),
        Pipeline("boosting on ratios", "good", forecaster(ratio_boosting), 5),
        Pipeline("decomposition", "expert", forecaster(decomposition), 4),
        Pipeline("decomposition with habits", "expert", forecaster(decomposition_with_habits), 6),
        Pipeline("decomposition, then boosting", "expert", forecaster(decomposition_then_boosting), 6),
    ),
    defaults=(
        Pipeline("Ridge()", "plain", forecaster(default_linear), 0),
        Pipeline("HistGradientBoostingRegressor()", "plain", forecaster(default_boosting), 0),
        Pipeline("HistGradientBoostingRegressor() on date parts", "plain", forecaster(default_dated_boosting), 0),
    ),
)
