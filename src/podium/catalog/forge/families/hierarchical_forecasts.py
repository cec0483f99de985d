"""Hierarchical forecasts: how many will there be at each thing, in each region and in all, on the days to come?

What moves the counts follows from the grammar of mechanisms. Sums over regions and over everything are asked for too,
and a relative error counts alike at all levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.field_mix import table_entrants
from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.entrants.table_readings import Reading, joined, parse_dates, read, target_of
from podium.catalog.forge.family import ForgedData, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.assemble_family import world_family
from podium.catalog.forge.world.brief import ID_AND_TARGET, DictionaryLine, Story
from podium.catalog.forge.world.corruption import nested_codes, recorded_values
from podium.catalog.forge.world.expressions import Facts, Term, standardised
from podium.catalog.forge.world.file_layout import draw_layout
from podium.catalog.forge.world.mechanism import draw_mechanism
from podium.catalog.forge.world.row_task import TERMS
from podium.catalog.forge.world.sheet import Sheet, SheetQuestion, Sizes, draw_sheet, sheet_task
from podium.catalog.forge.world.vocabulary import TIMES, Quantity
from podium.metrics import rmsle
from podium.task import Columns, Number

THINGS: Mapping[Difficulty, tuple[int, int]] = {"easy": (14, 4), "medium": (12, 4), "hard": (10, 3), "tiny": (4, 2)}
"""Number of things and of regions."""
STEPS: Sizes = {"easy": (330, 28), "medium": (300, 28), "hard": (260, 28), "tiny": (20, 5)}
"""Number of known days or weeks and of those to forecast."""
PACES = (("day", 1, "the day"), ("week", 7, "first day of the week"))
WEEKS_OF_YEAR = 53
NOISE: Mapping[Difficulty, float] = {"easy": 0.10, "medium": 0.15, "hard": 0.20, "tiny": 0.10}
SIGNAL, DRIFT = 0.45, 0.02
"""Effect of the mechanism on log counts, and standard deviation of the random drift of a thing per step."""
PLANNED = (3, 5)
"""Smallest and largest number of columns that are known in advance."""
MISSING = 0.03
DRAWS = 100
"""Draws of the counts from which the best forecast is estimated."""
SHRINKAGE_ROWS = 4
"""Number of similar rows whose mean is shrunk by half."""
ALL = "all"
DATES = ("%Y-%m-%d", "%d %b %Y", "%Y/%m/%d")
NOTES = (
    "Counts of {place} with `all` as {thing} are sums over the {things} of a {region}, or over every {region}. "
    "Other numbers of such rows are means.",
    "What `test.csv` tells of the {horizon} {steps} to come was known in {place} beforehand.",
    "About {missing:.0%} of the rows of {place} that belong into `train.csv` were lost.",
)
SPLIT = (
    "`test.csv` goes on in {place} where `train.csv` ends, at {date}.",
    "The {horizon} {steps} from {date} on are those to forecast for {place}.",
    "{place} has not counted yet what comes from {date} on, which is `test.csv`.",
)
StepValues = dict[str, np.ndarray]
"""Values of each thing at each step, by name: arrays of steps by things."""


@dataclass(frozen=True)
class Hierarchy:
    """Hierarchy of the series and their dates."""

    region: np.ndarray
    """Region of each thing."""
    dates: pd.DatetimeIndex
    """Dates of the steps."""

    @property
    def members(self) -> np.ndarray:
        """Return the matrix of series by things: 1 where a thing counts. A series is one thing, a region, or all."""
        of_regions = np.arange(self.region.max() + 1)[:, None] == self.region
        return np.vstack([np.eye(len(self.region)), of_regions, np.ones(len(self.region))])

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Return values of each thing, or of each step in a column, as an array of steps by things."""
        return np.broadcast_to(values, (len(self.dates), len(self.region)))


def draw_once(rng: np.random.Generator, difficulty: Difficulty, story: Story) -> ForgedData:
    """Draw things, the columns known in advance, the mechanism of their counts, and the counts."""
    (things, regions), (past, horizon) = THINGS[difficulty], STEPS[difficulty]
    beginning = pd.Timestamp("2012-01-01") + pd.Timedelta(days=int(rng.integers(0, 2600)))
    paces = [pace for pace in PACES if pace[1] == 1 or past > WEEKS_OF_YEAR]  # months come again after a year
    step, days, meaning = paces[int(rng.integers(len(paces)))]
    dates = pd.date_range(beginning, periods=past + horizon, freq=f"{days}D")
    hierarchy = Hierarchy(rng.permutation(np.arange(things) % regions), dates)
    sheet = draw_sheet(rng, story, len(dates) * len(hierarchy.members))
    written = dates.strftime(str(rng.choice(DATES))).to_numpy()
    when = story.naming.about(story.domain.row.one, TIMES)
    sheet.add(when, np.repeat(written, len(hierarchy.members)), meaning)
    layout = draw_layout(rng, story.naming.file(story.place, "data"))
    file = layout.path(story.naming.file(story.domain.parents[0].many))
    table, facts = _draw_facts(rng, sheet, hierarchy, file)
    steady = _steady_levels(rng, facts, (len(dates), things), terms=int(rng.integers(*TERMS[difficulty])))
    counts, best = _count(rng, steady, past, hierarchy, NOISE[difficulty])
    kept = (np.arange(len(dates)) >= past)[:, None] | (rng.random(counts.shape) >= MISSING)
    sheet.table = sheet.table[kept.ravel()].reset_index(drop=True)
    figures = {"horizon": horizon, "steps": f"{step}s", "date": written[past], "days": days * len(dates)}
    return sheet_task(
        rng,
        sheet,
        _question(story, file, figures),
        target=counts[kept],
        ceiling=best[kept],
        sample=np.tile(counts[:past].mean(axis=0).round(1), horizon),
        train_rows=int(kept[:past].sum()),
        tables={file: table},
    )


def _question(story: Story, file: str, figures: Mapping[str, object]) -> SheetQuestion:
    many, noun, region = story.domain.row.many, story.domain.parents[0], story.domain.region
    return SheetQuestion(
        rows=f"counts of {many}",
        asked=f"the number of {many}",
        meaning=f"the number of {many}",
        metric="The root mean squared error of logarithms (RMSLE).\nLower is better.",
        form=f"{ID_AND_TARGET}\n`{{target}}` is not negative.",
        notes=NOTES,
        split=SPLIT,
        files=[(file, noun.many)],
        figures={"thing": noun.one, "things": noun.many, "region": region, "missing": MISSING, **figures},
    )


def _draw_facts(rng: np.random.Generator, sheet: Sheet, hierarchy: Hierarchy, file: str) -> tuple[pd.DataFrame, Facts]:
    """Record a table of things and the facts known in advance of every step; return them as the mechanism needs
    them.
    """
    kinds, *plans = (str(name) for name in rng.permutation(list(sheet.story.domain.categories)))
    table, numbers, groups = _draw_things(rng, sheet, hierarchy, file, kinds)
    for name in plans:
        groups[name] = _draw_category(rng, sheet, hierarchy, name)
    quantities = rng.permutation(len(sheet.story.domain.numbers))[: int(rng.integers(*PLANNED))]
    for quantity in (sheet.story.domain.numbers[number] for number in quantities):
        numbers[quantity.name] = _draw_number(rng, sheet, hierarchy, quantity)
    groups["weekday"] = hierarchy.spread(hierarchy.dates.dayofweek.to_numpy()[:, None])
    groups["month"] = hierarchy.spread(hierarchy.dates.month.to_numpy()[:, None] - 1)
    day = (hierarchy.dates - hierarchy.dates[0]).days.to_numpy(float)
    return table, Facts(_flat(numbers), _flat(groups), hierarchy.spread(day[:, None]).ravel())


def _flat(known: StepValues) -> StepValues:
    return {name: values.ravel() for name, values in known.items()}


def _draw_things(
    rng: np.random.Generator, sheet: Sheet, hierarchy: Hierarchy, file: str, kinds: str
) -> tuple[pd.DataFrame, StepValues, StepValues]:
    """Return a table of things and its contents as numbers and groups; rows name the thing and its region."""
    domain, naming, region = sheet.story.domain, sheet.story.naming, hierarchy.region
    noun, steps = domain.parents[0], len(hierarchy.dates)
    codes = nested_codes(rng, region, np.arange(len(region)))
    letters = np.array([codes[region == number][0][0] for number in range(region.max() + 1)], dtype=object)
    key, kind_column = naming.key(noun.one), naming.text(kinds)
    named = {key: (noun.one, [*codes, *[ALL] * len(letters), ALL])}
    named[naming.key(domain.region)] = (domain.region, [*letters[region], *letters, ALL])
    for column, (called, of_series) in named.items():
        sheet.add(column, np.tile(np.array(of_series, dtype=object), steps), f"the {called}, or `{ALL}`")
    kind = rng.integers(0, len(domain.categories[kinds]), len(region))
    table = pd.DataFrame({key: codes, kind_column: np.array(domain.categories[kinds], dtype=object)[kind]})
    meanings, numbers = {key: f"the {noun.one}", kind_column: kinds}, {}
    for quantity in domain.parent_numbers[0][:2]:
        facts, column = rng.normal(size=len(region)), naming.number(quantity)
        table[column], meanings[column] = recorded_values(quantity, facts), f"{quantity.name} [{quantity.unit}]"
        numbers[quantity.name] = hierarchy.spread(facts)
    sheet.columns += [DictionaryLine(file, column, meaning) for column, meaning in meanings.items()]
    groups = {"thing": np.arange(len(region)), "region": region, kinds: kind}
    return table, numbers, {name: hierarchy.spread(values) for name, values in groups.items()}


def _draw_category(rng: np.random.Generator, sheet: Sheet, hierarchy: Hierarchy, name: str) -> np.ndarray:
    """Draw a planned category that differs by thing and step; sums have none of their own."""
    values = np.array([*sheet.story.domain.categories[name], ALL], dtype=object)
    shares = rng.dirichlet(np.full(len(values) - 1, 1.5))
    codes = rng.choice(len(shares), (len(hierarchy.dates), len(hierarchy.region)), p=shares)
    sums = np.full((len(codes), len(hierarchy.members) - len(hierarchy.region)), len(shares))
    sheet.add(sheet.story.naming.text(name), values[np.hstack([codes, sums])].ravel(), f"{name}, or `{ALL}`")
    return codes


def _draw_number(rng: np.random.Generator, sheet: Sheet, hierarchy: Hierarchy, quantity: Quantity) -> np.ndarray:
    """Draw a persistent number for each thing or region; sums have the mean of their things."""
    where = hierarchy.region if rng.random() < 0.5 else np.arange(len(hierarchy.region))
    drawn = pd.DataFrame(rng.normal(size=(len(hierarchy.dates), where.max() + 1)))
    facts = standardised(drawn.ewm(alpha=rng.uniform(0.15, 1.0)).mean().to_numpy()[:, where])
    shares = hierarchy.members / hierarchy.members.sum(axis=1, keepdims=True)
    means = (recorded_values(quantity, facts) @ shares.T).round(6).round(3)  # ties are the same on every machine
    sheet.add(sheet.story.naming.number(quantity), means.ravel(), f"{quantity.name} [{quantity.unit}]")
    return facts


def _steady_levels(rng: np.random.Generator, facts: Facts, shape: tuple[int, int], *, terms: int) -> np.ndarray:
    """Return the expected log count of each thing at each step, with differences in size and seasons of its own."""
    seasons = tuple(_season(rng, facts, *groups) for groups in ((), ("region",), ("thing",)))
    signal = draw_mechanism(rng, facts, terms=terms, always=seasons).signal.reshape(shape)
    return np.asarray(rng.uniform(2.5, 4.0) + rng.normal(0, 0.5, shape[1]) + SIGNAL * signal)


def _season(rng: np.random.Generator, facts: Facts, *groups: str) -> Term:
    """Draw a seasonal effect for each group, by weekday, or by month where the weekday never changes."""
    season = "weekday" if np.ptp(facts.groups["weekday"]) else "month"
    codes = tuple(facts.groups[name] for name in (season, *groups))
    levels = rng.normal(size=[code.max() + 1 for code in codes])
    return Term(f"level of {' and '.join((season, *groups))}", standardised(levels[codes]))


def _count(
    rng: np.random.Generator, steady: np.ndarray, past: int, hierarchy: Hierarchy, noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts of every series and the best forecast, which cannot foresee the drift of the things."""
    steps = rng.normal(0, DRIFT, steady.shape)

    def count() -> np.ndarray:
        usual = np.exp(steady + steps.cumsum(axis=0) + noise * rng.normal(size=steady.shape))
        return np.asarray(rng.poisson(usual) @ hierarchy.members.T.astype(int))

    counts, drawn = count(), []
    for _ in range(DRAWS):
        steps[past:] = rng.normal(0, DRIFT, steps[past:].shape)
        drawn.append(np.log1p(count()))
    return counts, np.expm1(np.mean(drawn, axis=0))


@dataclass(frozen=True)
class Past:
    """Log counts of the series, and the positions of the train and test rows in them."""

    usual: np.ndarray
    """Mean of each series."""
    apart: pd.DataFrame
    """Deviation of each step from that mean, steps by series; blank where it is unknown."""
    step: np.ndarray
    series: np.ndarray
    month: np.ndarray
    horizon: int

    def level(self, window: int) -> np.ndarray:
        """Return, for each row, the mean of a window that ended a horizon earlier."""
        return self._earlier(self.apart.rolling(window, min_periods=1).mean(), self.horizon)

    def same_weekday(self, weeks: int) -> np.ndarray:
        """Return, for each row, the mean of the same weekday in weeks that ended a horizon earlier."""
        weekdays = self.apart.groupby(np.arange(len(self.apart)) % 7)
        means = weekdays.transform(lambda steps: steps.rolling(weeks, min_periods=1).mean())
        return self._earlier(means, -(-self.horizon // 7) * 7)

    def habit(self, *keys: pd.Series | np.ndarray) -> np.ndarray:
        """Return, for each row, the shrunk mean of the rows with the same keys. Blank rows count as 0."""
        rows = pd.Series(self.apart.to_numpy()[self.step, self.series]).groupby(list(keys))
        return np.asarray((rows.transform("sum") / (rows.transform("count") + SHRINKAGE_ROWS)).fillna(0.0))

    def _earlier(self, values: pd.DataFrame, steps: int) -> np.ndarray:
        return np.asarray(values.shift(steps).fillna(0.0).to_numpy()[self.step, self.series])


def past_of(data: PublicData) -> Past:
    """Return the history of the series; the second column of the rows is the time, the next two name the series."""
    rows = pd.concat([data.train, data.test], ignore_index=True)
    when, keys = rows.columns[1], list(rows.columns[2:4])
    moment = parse_dates(rows[when])
    assert moment is not None
    step = pd.factorize(moment, sort=True)[0]
    series = rows.groupby(keys, sort=False).ngroup().to_numpy()
    counted = np.full((step.max() + 1, series.max() + 1), np.nan)
    counted[step[: len(data.train)], series[: len(data.train)]] = np.log1p(target_of(data))
    usual = np.nanmean(counted, axis=0)
    horizon = len(np.unique(step[len(data.train) :]))
    return Past(usual, pd.DataFrame(counted - usual), step, series, moment.dt.month.to_numpy(), horizon)


def usual_counts(data: PublicData) -> np.ndarray:
    """Return the mean of each row's series."""
    past = read(data, past_of)
    return np.asarray(past.usual[past.series])


def with_habits(data: PublicData) -> Reading:
    """Add the recent level of the series, and the usual deviation of similar rows from the mean of theirs."""
    past, known = read(data, past_of), read(data, joined)
    kinds = {str(name): known.both[name] for name in [*known.both.select_dtypes(exclude="number"), "weekday"]}
    kinds["month"] = pd.Series(past.month)
    facts = {f"level of {window}": past.level(window) for window in (7, 28, 84)}
    facts |= {f"on this weekday for {weeks}": past.same_weekday(weeks) for weeks in (4, 12)}
    facts |= {f"habit of {name}": past.habit(kind) for name, kind in kinds.items()}
    facts |= {f"own habit of {name}": past.habit(kind, past.series) for name, kind in kinds.items()}
    return known.with_columns(facts)


goal = Goal(
    learned=lambda target: np.log1p(target.to_numpy(float)),
    finish=lambda prediction, target: np.expm1(np.clip(prediction, 0, 2 * np.log1p(target.max()))),
    usual=usual_counts,
)
family = world_family(
    "hierarchical-forecasts",
    "How many will there be, in each place and in all?",
    "hierarchical forecast",
    metric=rmsle,
    submission=Columns(id="id", target="target", values=Number(low=0)),
    draw_once=draw_once,
    entrants=table_entrants(goal, with_habits),
    row="{row} count",
)
