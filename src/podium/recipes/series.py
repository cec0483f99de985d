"""Recipes for forecasts: what is known at the origin of each block of days, the calendar, and further tables."""

from __future__ import annotations

from collections.abc import Callable

from podium.recipes.finishing import ending, forms
from podium.recipes.profile import Profile, Table
from podium.recipes.recipe import Move, Recipe, Settings
from podium.recipes.scripts import assign
from podium.recipes.tabular import boosting_moves


def suits(profile: Profile) -> bool:
    """Whether values of series are to be told for times after those of train."""
    return profile.shape == "series" and len(profile.labels) == 1


def tables(profile: Profile) -> str:
    """The start of a story: all tables in one, and the truth."""
    assert profile.train is not None and profile.test is not None and profile.time is not None
    numbers, groups = _columns(profile)
    given = assign(TRAIN=profile.train.file, TEST=profile.test.file, KEY=profile.key) + forms(profile)
    given += assign(TIME=profile.time, SERIES=list(profile.series), NUMBERS=numbers, GROUPS=groups)
    joins = "".join(f"both = joined(both, {join.file!r}, {list(join.on)!r})\n" for join in profile.joins)
    spans = "".join(
        f"both = with_spans(both, {span.file!r}, {list(span.on)!r}, {span.first!r}, {span.last!r}, TIME)\n"
        for span in profile.spans
    )
    return (
        given
        + f"""
train = read_table(TRAIN)
train = train[train[LABELS].notna().all(axis=1)].reset_index(drop=True)
test, sample = read_table(TEST), read_sample(SAMPLE)
keys = read_table(TEST, usecols=[KEY], dtype=str).set_axis(IDS, axis=1)
truth = train[LABELS[0]].to_numpy(float)
both = stacked(train.drop(columns=LABELS), test)
{joins}{spans}"""
    )


FEATURES = """
when = pd.to_datetime(both[TIME])
day = (when.dt.normalize() - when.min().normalize()).dt.days.to_numpy()
series = both.groupby(SERIES, sort=False).ngroup().to_numpy() if SERIES else np.zeros(len(both), dtype=int)
origin, length = block_origins(when, len(train))
folds = time_folds(day, len(train), length, FOLDS)

given = without_drifting(number_features(both, NUMBERS), len(train))
groups = group_features(both, GROUPS, [TIME])
calendar = without_drifting(date_features(both, [TIME]), len(train))
numbers = place_features(series, day, origin).join(given).join(calendar)
numbers = numbers.join(event_distances(both, TIME, GROUPS))
for name in [name for name in groups if groups[name].nunique() < 10]:
    crossed = pd.factorize(groups[name] * (series.max() + 1) + series)[0]
    if crossed.max() > series.max():
        groups[f"{name} in its series"] = crossed
"""
HISTORY = """
known = [series[: len(train)], day[: len(train)], truth]
numbers = numbers.join(history_features(known, series, day, origin))
"""
SOME = """
# Whether there is anything at all is told first, and then, from rows that have something, how much.
some = truth > 0
known_some = [series[: len(train)], day[: len(train)], some.astype(float)]
before = numbers.join(history_features(known_some, series, day, origin).add_suffix(" with something"))
chance, chance_guess, _ = cross_validated(
    before, groups, some.astype(int), folds, shallow_boosting, refit=True, until=NEVER
)
"""
EFFECTS = """
factors = {"series": group_factor(series), "weekday": group_factor(when.dt.dayofweek.to_numpy())}
factors |= {name: group_factor(groups[name].to_numpy()) for name in groups if name in GROUPS and name not in SERIES}
factors |= {name: number_factor(given[name].to_numpy()) for name in given if given[name].nunique() > 2}
factors["season"] = wave_factor(when.dt.dayofyear.to_numpy())
begin = [(name,) for name in factors] + [("series", "weekday")]
begin += [(name, "season") for name in STATIC if name in factors]

aim = np.r_[value, np.zeros(len(test))]
oof, rows = np.zeros(len(truth)), np.zeros(len(truth), dtype=bool)
for learn, check in folds:
    said, used = crossed_forecast(
        factors, begin, aim, np.intersect1d(learn, usable), (series, day, origin), rounds=ROUNDS
    )
    oof[check], rows[check] = said[check], True
said, _ = crossed_forecast(factors, used, aim, usable, (series, day, origin), rounds=0)
guess = said[len(train) :]
"""
SLOPES = """
waves = season_features(when)
attributes = groups[[name for name in groups if name in STATIC]]
numbers = numbers.join(waves).join(slope_features(given.join(waves), attributes))
"""


def story_with(model: str) -> Callable[[Profile, Settings], str]:
    """The story of a recipe that puts one model of the kit on the features of series."""

    def story(profile: Profile, settings: Settings) -> str:
        more = assign(STATIC=_static(profile)) + SLOPES if settings.get("slopes") else HISTORY
        start = tables(profile) + assign(FOLDS=settings["folds"]) + FEATURES + more
        return start + _learning(model, settings) + ending(profile, settings)

    return story


def effects_story(profile: Profile, settings: Settings) -> str:
    """Effects added up in logarithms, crossed where that is missing, and how far off each series was of late."""
    log, zeros = settings["log"], settings["zeros"]
    given = assign(FOLDS=settings["folds"], STATIC=_static(profile), ROUNDS=settings["rounds"])
    goal = f"""
value = {"np.log1p(np.clip(truth, 0, None))" if log else "truth"}
usable = {"np.flatnonzero(some)" if zeros else "np.arange(len(truth))"}
"""
    parts = [tables(profile), given, FEATURES, SOME if zeros else "", goal, EFFECTS, _outward(settings)]
    if log and profile.metric == "rmse":
        parts.append("scale = np.clip(truth[rows].sum() / oof[rows].sum(), 0.8, 1.25)  # means lie above medians\n")
        parts.append("oof, guess = scale * oof, scale * guess\n")
    return "".join([*parts, ending(profile, settings)])


def _outward(settings: Settings) -> str:
    """Source that brings predictions from logarithms to numbers, and to 0 where nothing is likelier."""
    log, zeros = settings.get("log"), settings.get("zeros")
    return f"""{"oof, guess = np.expm1(oof), np.expm1(guess)" if log else ""}
{"oof, guess = np.where(chance > 0.5, oof, 0), np.where(chance_guess > 0.5, guess, 0)" if zeros else ""}
"""


def _learning(model: str, settings: Settings) -> str:
    options = "".join(f", {name}={value!r}" for name, value in settings["model"].items())
    log, zeros = settings.get("log"), settings.get("zeros")
    seeds = f", seeds={settings['seeds']}" if settings.get("seeds", 1) > 1 else ""
    usable = ", usable=some" if zeros else ""
    return f"""
aim = {"np.log1p(np.clip(truth, 0, None))" if log else "truth"}
{SOME if zeros else ""}

def fit(features, groups, aim, seed):
    return {model}(features, groups, aim, seed{options})


oof, guess, rows = cross_validated(numbers, groups, aim, folds, fit, refit=True{usable}{seeds}, until=NEVER)
{_outward(settings)}"""


def _static(profile: Profile) -> list[str]:
    """Groups that are told of whole series in a further table."""
    held = {table.file: table for table in profile.tables}
    about = [join for join in profile.joins if set(join.on) <= set(profile.series)]
    return [column.name for join in about for column in held[join.file].columns if column.kind == "category"]


def _columns(profile: Profile) -> tuple[list[str], list[str]]:
    """The names of numbers and of groups once further tables are joined."""
    held: dict[str, Table] = {table.file: table for table in profile.tables}
    numbers, groups = profile.of_kind("number"), profile.of_kind("category")
    known = {
        *profile.ids,
        *profile.labels,
        *(column.name for column in profile.features),
        *(profile.train.names if profile.train else ()),
    }
    for file, on in [(join.file, join.on) for join in profile.joins] + [
        (span.file, (*span.on, span.first, span.last)) for span in profile.spans
    ]:
        is_span = any(span.file == file for span in profile.spans)
        for column in held[file].columns:
            if (
                column.name in on
                or column.kind not in ("number", "category")
                or (column.distinct < 2 and not column.missing)
            ):
                continue
            name = f"{column.name} in {file}" if is_span or column.name in known else column.name
            (numbers if column.kind == "number" else groups).append(name)
    return numbers, groups


def _settings(profile: Profile, **model: object) -> Settings:
    label = profile.train[profile.labels[0]] if profile.train else None
    is_positive = label is not None and label.low is not None and label.low >= 0
    return {
        "folds": 2,
        "log": is_positive,
        "zeros": is_positive and label is not None and label.low == 0,
        "model": model,
    }


RECIPES = (
    Recipe(
        name="quick forecast",
        title="Gradient boosting on history, calendar and further tables.",
        suits=suits,
        story=story_with("boosting"),
        defaults=lambda profile: {**_settings(profile, learning_rate=0.15, max_iter=80, max_leaf_nodes=15), "folds": 1},
    ),
    Recipe(
        name="crossed effects",
        title="Effects of series, calendar, weather and the like added up, crossed where first ones miss something.",
        suits=suits,
        story=effects_story,
        defaults=lambda profile: {**_settings(profile), "folds": 1, "rounds": 3},
        moves=lambda profile, settings: [Move("look for further crossings", {"rounds": 2 * settings["rounds"]})],
        simpler=lambda profile, settings: {**settings, "rounds": 0} if settings["rounds"] else None,
        share=0.6,
    ),
    Recipe(
        name="forecast",
        title="Gradient boosting on history, calendar and further tables, with many small steps.",
        suits=suits,
        story=story_with("boosting"),
        defaults=lambda profile: _settings(
            profile, learning_rate=0.05, max_iter=400, max_leaf_nodes=24, l2_regularization=3.0, max_features=0.4
        ),
        moves=boosting_moves,
    ),
    Recipe(
        name="levelled forecast",
        title="Effects of series, calendar, weather and the like added up; boosting on what they leave over.",
        suits=suits,
        story=story_with("levelled"),
        defaults=lambda profile: {
            **_settings(profile, knots=5, learning_rate=0.06, max_iter=200, max_leaf_nodes=16, l2_regularization=3.0),
            "slopes": True,
        },
        moves=boosting_moves,
    ),
)
