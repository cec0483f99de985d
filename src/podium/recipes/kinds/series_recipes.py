"""Recipes for forecasts: history at the origin of each block of days, the calendar, and further tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podium.recipes.kinds import table_recipes
from podium.recipes.recipe import Improvement, Recipe, Settings
from podium.recipes.script_ending import ending, loss_source
from podium.recipes.script_writer import assign, keywords
from podium.recipes.shared_source import read_tables_source
from podium.tables.forbidden_columns import forbidden_names
from podium.tables.profile import ColumnProfile, Profile


def suits(profile: Profile) -> bool:
    """Return whether values of series are to be forecast for times after those of train."""
    return profile.modality == "series" and len(profile.labels) == 1


def series_source(profile: Profile) -> str:
    """The start of a body: all tables joined into one, and the truth."""
    joined = _joined(profile)
    names = {file: {column.name: name for name, column in columns.items()} for file, columns in joined.items()}
    columns = [(name, column.kind) for of_file in joined.values() for name, column in of_file.items()]
    constants: dict[str, Any] = {"TIME": profile.time, "SERIES": list(profile.series)}
    constants["NUMBERS"] = [*profile.of_kind("number"), *(name for name, kind in columns if kind == "number")]
    constants["GROUPS"] = [*profile.of_kind("category"), *(name for name, kind in columns if kind == "category")]
    joins = "".join(
        f"both = join_table(both, {join.file!r}, {list(join.on)!r}, {names[join.file]!r})\n" for join in profile.joins
    )
    spans = "".join(
        f"both = join_spans(both, {span.file!r}, {list(span.on)!r}, {(span.first, span.last)!r}, TIME, "
        f"{names[span.file]!r})\n"
        for span in profile.spans
    )
    return f"""{read_tables_source(profile, constants)}truth = train[LABELS[0]].to_numpy(float)
both = stack_rows(train.drop(columns=LABELS), test)
{joins}{spans}"""


FEATURES = """
folds = later_folds(both[TIME], len(train))
both[TIME] = when = fill_times(read_times(both[TIME]), len(train))
day, season, year = time_steps(when)
series = both.groupby(SERIES, sort=False).ngroup().to_numpy() if SERIES else np.zeros(len(both), dtype=int)
origin = forecast_origins(day, len(train))
position = [series, day, origin]
"""
COLUMNS = """
given = drop_drifting(number_features(both, NUMBERS), len(train))
groups = group_features(both, GROUPS, [TIME])
calendar = drop_drifting(date_features(both, [TIME]), len(train))
if season != 7:
    groups, calendar = without_weekdays(groups, TIME), without_weekdays(calendar, TIME)
numbers = position_features(series, day, origin).join(given).join(calendar)
numbers = numbers.join(event_distances(both, TIME, GROUPS))
for name in [name for name in groups if groups[name].nunique() < 10]:
    crossed = pd.factorize(groups[name] * (series.max() + 1) + series)[0]
    if crossed.max() > series.max():
        groups[f"{name} in its series"] = crossed
"""
HISTORY = """
known = [series[: len(train)], day[: len(train)], truth]
numbers = numbers.join(history_features(known, *position, season, year))
"""
CHANGE = """
# What is learnt is the change since the last value that was known.
known = [series[: len(train)], day[: len(train)], y]
simple = simple_forecasts(known, *position, season)
level = simple["last"].to_numpy()
is_known = np.isfinite(level[: len(train)])
level = np.nan_to_num(level, nan=y.mean())
numbers = numbers.join(history_features(known, *position, season, year).join(simple).sub(level, axis=0))
y = y - level[: len(train)]
"""
ZEROS = """
# Whether a value is positive is predicted first, and then, from positive rows, how large it is.
is_positive = truth > 0
known_positive = [series[: len(train)], day[: len(train)], is_positive.astype(float)]
before = numbers.join(history_features(known_positive, *position, season, year).add_suffix(" positive"))
probability, test_probability, _ = cross_validate(
    before, groups, is_positive.astype(int), folds, shallow_boosting, refit=True, until=NO_LIMIT
)
"""
EFFECTS = """
weekday = when.dt.dayofweek.to_numpy() if season == 7 else day % season
factors = {"series": group_factor(series), "weekday": group_factor(weekday)}
factors |= {name: group_factor(groups[name].to_numpy()) for name in groups if name in GROUPS and name not in SERIES}
factors |= {name: number_factor(given[name].to_numpy()) for name in given if given[name].nunique() > 2}
factors["season"] = season_factor(when.dt.dayofyear.to_numpy())
base = [(name,) for name in factors] + [("series", "weekday")]
base += [(name, "season") for name in STATIC if name in factors]

y = np.r_[value, np.zeros(len(test))]
oof, rows = np.zeros(len(truth)), np.zeros(len(truth), dtype=bool)
started = time_used()
for number, (learn, check) in enumerate(folds):
    if number and time_used() + 1.5 * (time_used() - started) / number > LATEST:
        break
    forecast, used = forecast_effects(
        factors, base, y, np.intersect1d(learn, usable), (series, day, origin), rounds=ROUNDS
    )
    oof[check], rows[check] = forecast[check], True
forecast, _ = forecast_effects(factors, used, y, usable, (series, day, origin), rounds=0)
prediction = forecast[len(train) :]
"""
SLOPES = """
waves = season_features(when)
attributes = groups[[name for name in groups if name in STATIC]]
numbers = numbers.join(waves).join(group_slope_features(given.join(waves), attributes))
"""


def body_with(model: str) -> Callable[[Profile, Settings], str]:
    """The body of a recipe that fits one model of the kit to the features of series."""

    def body(profile: Profile, settings: Settings) -> str:
        more = assign(STATIC=_static(profile)) + SLOPES if settings.get("slopes") else HISTORY
        start = series_source(profile) + FEATURES + COLUMNS + ("" if settings.get("change") else more)
        return start + _learning_source(model, settings) + ending(profile, settings)

    return body


def effects_body(profile: Profile, settings: Settings) -> str:
    """Additive effects on logarithms, interactions where they are missing, and recent residuals of each series."""
    is_log, zeros = settings["log"], settings["zeros"]
    given = assign(STATIC=_static(profile), ROUNDS=settings["rounds"])
    goal = f"""
value = {"np.log1p(np.clip(truth, 0, None))" if is_log else "truth"}
usable = {"np.flatnonzero(is_positive)" if zeros else "np.arange(len(truth))"}
"""
    start = series_source(profile) + given + FEATURES + COLUMNS
    parts = [start, ZEROS if zeros else "", goal, EFFECTS, _back_source(settings)]
    if is_log and profile.metric == "rmse":
        parts.append("scale = np.clip(truth[rows].sum() / oof[rows].sum(), 0.8, 1.25)  # means exceed medians\n")
        parts.append("oof, prediction = scale * oof, scale * prediction\n")
    return "".join([*parts, ending(profile, settings)])


def simple_body(profile: Profile, settings: Settings) -> str:
    """A blend of forecasts that need no model."""
    return f"""{series_source(profile)}{FEATURES}
known = [series[: len(train)], day[: len(train)], truth]
simple = simple_forecasts(known, *position, season).bfill(axis=1).ffill(axis=1).fillna(truth.mean())
checked = np.isin(np.arange(len(truth)), np.concatenate([check for _, check in folds]))
parts = {{
    name: (column[: len(train)], column[len(train) :], checked) for name, column in simple.items()
}}


def loss(truth, oof):
    return {loss_source(profile)}


oof, prediction, rows = blend({{name: tuple(map(np.asarray, part)) for name, part in parts.items()}}, truth, loss)
{ending(profile, settings)}"""


def _back_source(settings: Settings) -> str:
    """Source that transforms predictions from logarithms to numbers, and to 0 where that is more likely."""
    levels = ["oof, prediction = oof + level[: len(train)], prediction + level[len(train) :]"]
    lines = levels if settings.get("change") else []
    lines += ["oof, prediction = np.expm1(oof), np.expm1(prediction)"] if settings.get("log") else []
    if settings.get("zeros"):
        lines.append("oof = np.where(probability > 0.5, oof, 0)")
        lines.append("prediction = np.where(test_probability > 0.5, prediction, 0)")
    return "".join(f"{line}\n" for line in lines)


def _learning_source(model: str, settings: Settings) -> str:
    is_log, zeros = settings.get("log"), settings.get("zeros")
    seeds = f", seeds={settings['seeds']}" if settings.get("seeds", 1) > 1 else ""
    change = settings.get("change")
    usable = ", usable=is_positive" if zeros else ", usable=is_known" if change else ""
    return f"""
y = {"np.log1p(np.clip(truth, 0, None))" if is_log else "truth"}
{ZEROS if zeros else CHANGE if change else ""}

def fit(features, groups, y, seed):
    return {model}(features, groups, y, seed{keywords(settings["model"])})


oof, prediction, rows = cross_validate(numbers, groups, y, folds, fit, refit=True{usable}{seeds}, until=NO_LIMIT)
{_back_source(settings)}"""


def _static(profile: Profile) -> list[str]:
    """Groups that a further table gives for whole series."""
    joined = _joined(profile)
    about = [joined[join.file] for join in profile.joins if set(join.on) <= set(profile.series)]
    return [name for columns in about for name, column in columns.items() if column.kind == "category"]


def _joined(profile: Profile) -> dict[str, dict[str, ColumnProfile]]:
    """The numbers and groups that are joined from further tables, by file and by what they are called then."""
    assert profile.train is not None and profile.test is not None
    tables = {table.file: table for table in profile.tables}
    left_out = {*forbidden_names(profile.brief), *profile.labels, *profile.targets}
    taken = {*profile.train.names, *profile.test.names}
    keys = {join.file: join.on for join in profile.joins}
    keys |= {span.file: (*span.on, span.first, span.last) for span in profile.spans}
    found: dict[str, dict[str, ColumnProfile]] = {}
    for file, on in keys.items():
        found[file] = {}
        for column in tables[file].columns:
            is_constant = column.distinct < 2 and not column.missing
            if column.name in (*on, *left_out) or is_constant or column.kind not in ("number", "category"):
                continue
            name = column.name if column.name not in taken else f"{column.name} in {file}"
            taken.add(name)
            found[file][name] = column
    return found


def _settings(profile: Profile, **model: object) -> Settings:
    label = profile.train[profile.labels[0]] if profile.train else None
    is_positive = label is not None and label.minimum is not None and label.minimum >= 0
    return {
        "log": is_positive,
        "zeros": is_positive and label is not None and label.minimum == 0,
        "model": model,
    }


RECIPES = (
    Recipe(
        name="quick forecast",
        title="Gradient boosting on history, calendar and further tables.",
        suits=suits,
        body=body_with("boosting"),
        defaults=lambda profile: _settings(profile, learning_rate=0.15, max_iter=80, max_leaf_nodes=15),
    ),
    Recipe(
        name="simple forecasts",
        title="Last values, trends and seasons of each series, weighted by their scores.",
        suits=suits,
        body=simple_body,
    ),
    Recipe(
        name="linear effects",
        title="A linear model of the columns, whose effects go on beyond the times that were learnt from.",
        suits=lambda profile: table_recipes.suits(profile) and profile.time is not None,
        body=table_recipes.body_with("linear_effects"),
        defaults=lambda profile: {"folds": 4, "log": profile.metric == "rmsle", "model": {}},
    ),
    Recipe(
        name="effects with interactions",
        title="Additive effects of series, calendar and further tables, with interactions where residuals need them.",
        suits=suits,
        body=effects_body,
        defaults=lambda profile: {**_settings(profile), "rounds": 3},
        improvements=lambda profile, settings: [
            Improvement("look for more interactions", {"rounds": 2 * settings["rounds"]})
        ],
        simpler=lambda profile, settings: {**settings, "rounds": 0} if settings["rounds"] else None,
        time_share=0.6,
    ),
    Recipe(
        name="forecast",
        title="Gradient boosting on history, calendar and further tables, with many small steps.",
        suits=suits,
        body=body_with("boosting"),
        defaults=lambda profile: _settings(
            profile, learning_rate=0.05, max_iter=400, max_leaf_nodes=24, l2_regularization=3.0, max_features=0.4
        ),
        improvements=table_recipes.tree_improvements,
    ),
    Recipe(
        name="boosted effects",
        title="Additive effects of series, calendar and further tables; boosting on their residuals.",
        suits=suits,
        body=body_with("boosted_effects"),
        defaults=lambda profile: {
            **_settings(profile, knots=5, learning_rate=0.06, max_iter=200, max_leaf_nodes=16, l2_regularization=3.0),
            "slopes": True,
        },
        improvements=table_recipes.tree_improvements,
    ),
    Recipe(
        name="boosted changes",
        title="Gradient boosting on how history and further tables explain the change since the last value.",
        suits=suits,
        body=body_with("boosting"),
        defaults=lambda profile: {
            **_settings(profile, learning_rate=0.05, max_iter=200, max_leaf_nodes=8, l2_regularization=3.0),
            "zeros": False,
            "change": True,
        },
        improvements=table_recipes.tree_improvements,
    ),
)
