"""Recipes for tables: boosting, forests, additive models, kernels and ensembles on engineered features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from podium.recipes.recipe import Improvement, Recipe, Settings
from podium.recipes.script_ending import ending, model_loss_source
from podium.recipes.script_writer import keywords
from podium.recipes.shared_source import (
    fold_source,
    further_source,
    group_source,
    read_tables_source,
    target_source,
    truth_source,
)
from podium.tables.data_files import has_images
from podium.tables.profile import LEARNABLE, Profile

LARGE_BYTES = 300_000_000
ROWS_OF_LARGE = 400_000
"""Number of rows of a large train table that are read."""
READING = 0.15
"""Share of the time for reading images beside a table."""
MIN_COLUMNS = 10
"""Smallest number of columns for table models besides images or audio; largest number of numeric group columns."""
MAX_BOOSTED_CLASSES = 4
"""Largest number of classes for full boosting, which is slow with more."""
MAX_SMALL_ROWS = 3000
"""Largest number of rows for small trees and more folds."""
MAX_NUMBERS = 150
"""Largest number of numeric columns for pairs and splines."""
LARGE_CELLS = 5_000_000
"""Number of cells in train above which only fast models are used."""

BOOSTING = {"learning_rate": 0.05, "max_iter": 250, "max_leaf_nodes": 8, "min_samples_leaf": 20}
BOOSTING |= {"l2_regularization": 5.0, "max_features": 0.5}
HYBRID = {**BOOSTING, "max_iter": 120, "max_leaf_nodes": 6}
LARGE_TREES = {**BOOSTING, "max_iter": 150, "max_leaf_nodes": 47, "l2_regularization": 1.0}
FAST_BOOSTING = {"learning_rate": 0.15, "max_iter": 60, "max_leaf_nodes": 8}
ORDER = (
    *("lightgbm", "plain trees", "linear", "log linear", "additive", "random trees", "xgboost", "catboost"),
    *("boosting", "hybrid", "svm"),
)
"""The members of an ensemble that are trained before others."""
ORDER_OF_MANY_CLASSES = (
    *("lightgbm", "random trees", "linear", "svm", "additive", "forest", "neural network"),
    *("boosting", "catboost", "xgboost"),
)
LIBRARIES: dict[str, dict[str, Any]] = {
    "lightgbm": {"rounds": 250, "learning_rate": 0.05, "num_leaves": 8, "feature_fraction": 0.6, "lambda_l2": 1.0},
    "catboost": {"rounds": 300, "learning_rate": 0.08, "boosting_type": "Plain", "max_ctr_complexity": 1},
    "xgboost": {"rounds": 250, "learning_rate": 0.05, "max_depth": 6, "colsample_bytree": 0.6, "subsample": 0.9},
}
"""Further boosting, where the interpreter has it."""
RANDOM_TREES = {"learning_rate": 0.05, "num_leaves": 31, "feature_fraction": 0.8, "extra_trees": True}
"""Options of LightGBM with random cuts."""
PLAIN_TREES = {"learning_rate": 0.05, "num_leaves": 31, "min_data_in_leaf": 3, "feature_fraction": 0.5}
PLAIN_TREES |= {"bagging_fraction": 0.8, "bagging_freq": 1}
"""Options of LightGBM on a table's own numbers and on groups."""
ABSOLUTE = {
    "lightgbm": {"objective": "l1"},
    "catboost": {"loss_function": "MAE"},
    "xgboost": {"objective": "reg:absoluteerror"},
}
"""Objectives of libraries for absolute errors."""


def suits(profile: Profile) -> bool:
    """Return whether there are train and test tables with features other than text and a learnable target."""
    usable = [*profile.of_kind("number", "category", "date"), *profile.parents, *profile.records]
    if profile.modality in ("images", "audio") and len(usable) < MIN_COLUMNS:
        return False  # recipes for images and audio use a few columns too
    return profile.train is not None and profile.test is not None and bool(usable) and profile.goal in LEARNABLE


def table_source(profile: Profile) -> str:
    """The start of a body: tables, keys and the truth."""
    options = f", most={ROWS_OF_LARGE}" if profile.size_bytes > LARGE_BYTES else ""
    constants = {"NUMBERS": profile.of_kind("number"), "GROUPS": groups(profile), "DATES": profile.of_kind("date")}
    return f"""{read_tables_source(profile, constants, options=options)}both = stack_rows(train, test)
{further_source(profile)}{truth_source(profile)}
"""


def groups(profile: Profile) -> list[str]:
    """The columns that put rows into groups. Many columns of small numbers are counts or pixels, and do not."""
    numbers = [column.name for column in profile.features if column.kind == "number" and column.is_group]
    return [*profile.of_kind("category"), *(numbers if len(numbers) <= MIN_COLUMNS else [])]


def feature_source(profile: Profile, settings: Settings) -> str:
    """Source that computes `numbers` and `groups` from `both`."""
    has_dates = bool(profile.of_kind("date"))
    calendar = "date_features(both, DATES)"
    if profile.time:  # of a time of the year that train has not seen, nothing is known
        calendar = f'drop_drifting({calendar}, len(train), [f"{{name}} days" for name in DATES])'
    lines = [
        "numbers = number_features(both, NUMBERS)" + (f".join({calendar})" if has_dates else ""),
        *(["plain = numbers.shape[1]"] if "plain trees" in settings.get("members", ()) else []),
        *(["numbers = numbers.join(listed_items(both, GROUPS))"] if groups(profile) else []),
        "groups = group_features(both, GROUPS, DATES)",
        *(["groups = drop_unseen(groups, len(train))"] if profile.time else []),
        "numbers = numbers.join(family_features(numbers))",
        *(["numbers = numbers.join(time_gap_features(both, groups, DATES))"] if has_dates else []),
        *([_picture_source(profile)] if has_images(profile) else []),
        *(["numbers = numbers.join(relative_features(numbers, groups))"] if settings.get("relative") else []),
        "measured, numbers = numbers, numbers.join(group_counts(groups))",
        # Rows of groups that are new in test still compare with their group, but nothing is known of its targets.
        *(["groups = drop_unseen(groups, len(train))"] if profile.group else []),
        *([] if profile.sequence is None or is_wide(profile) else [_sequence_source(*profile.sequence)]),
    ]
    return "\n".join(lines) + "\n"


def _picture_source(profile: Profile) -> str:
    """Source that adds what the images of rows look like."""
    assert profile.file_patterns is not None and profile.test is not None
    patterns = profile.file_patterns
    name = patterns.column if patterns.column in profile.test else profile.key
    return f"""numbers = numbers.join(picture_features(
    file_paths({patterns.train!r}, ids_as_text(train[{patterns.column!r}])),
    file_paths({patterns.test!r}, ids_as_text(test[{name!r}])),
    until=time_used() + {READING},
))"""


def _sequence_source(group: str, step: str) -> str:
    names = f"[name for name in NUMBERS if name != {step!r}]"
    return f"numbers = numbers.join(sequence_features(both, {names}, {group!r}, {step!r}))"


def learning_source(profile: Profile, settings: Settings, model: str) -> str:
    """Source that computes `oof`, `prediction` and `rows` with a model of the kit."""
    extras = _usable(settings) + (f", seeds={settings['seeds']}" if settings.get("seeds", 1) > 1 else "")
    extras += ", refit=True" if profile.time else ""
    call = f"cross_validate(numbers, groups, {{}}, folds, fit{extras})"
    several = profile.has_several_targets
    learning = f"each_column(lambda column: {call.format('column')}, y)" if several else call.format("y")
    return f"""{_target(profile, settings)}

def fit(features, groups, y, seed):
    return {model}(features, groups, y, seed{keywords(settings["model"])})


oof, prediction, rows = {learning}
{_from_log(settings)}"""


def _target(profile: Profile, settings: Settings) -> str:
    """Source that computes `folds` and `y`, and adds features to `numbers` and `groups` if asked for."""
    return f"""folds = {fold_source(profile, settings["folds"])}
y = {target_source(profile, is_log=bool(settings.get("log")))}
{_new_feature_source(profile, settings) if settings.get("pairs") else ""}"""


def _from_log(settings: Settings) -> str:
    return "oof, prediction = np.expm1(oof), np.expm1(prediction)\n" if settings.get("log") else ""


def _quantiles(profile: Profile) -> str:
    """Source that makes quantiles of estimates, where these are asked for: wider where models are further off."""
    if not profile.levels:
        return ""
    return "oof, prediction = quantiles_of_estimates(numbers, groups, truth, (oof, prediction), rows, LEVELS)\n"


def _usable(settings: Settings) -> str:
    return ", usable=usable" if settings.get("pairs") and settings.get("trim") else ""


def _new_feature_source(profile: Profile, settings: Settings) -> str:
    """Source that adds features that explain the residuals of first models, and finds rows that must be wrong."""
    is_single = profile.goal in ("binary", "ordinal", "regression") and len(profile.labels) == 1
    models = "(additive, shallow_boosting)" if is_single else "(additive,)"
    clipped = "winsorise(residual)" if profile.goal == "regression" else "residual"
    # Outliers mislead the first models too, so that residuals are computed again without them.
    trim = """usable = ~find_outliers(residual)
if not usable.all():
    residual = residuals(numbers, groups, y, first_folds, additive, usable)
    usable = ~find_outliers(residual)
    print(int((~usable).sum()), "outliers are left out")
"""
    return f"""
# The residuals of first models show which features are missing.
first_folds = make_folds(truth, 3{group_source(profile)})
residual = smallest_residuals([residuals(numbers, groups, y, first_folds, model) for model in {models}])
{trim if settings.get("trim") else ""}clipped = {clipped}
pairs, group_pairs = best_number_pairs(measured, clipped), best_group_pairs(groups, measured, clipped)
numbers, groups = join_new_columns(numbers, pairs), join_new_columns(groups, group_pairs)
print("new features", [*pairs, *group_pairs], "after", round(time_used(), 2), "of the time", flush=True)

"""


def ensemble_body(profile: Profile, settings: Settings) -> str:
    """Several models on the same features, weighted."""
    sources = members(profile)
    fits = "".join(f"    {name!r}: {sources[name]},\n" for name in settings["members"])
    kinds = _random_kinds(profile, settings["members"])
    further = f", further=random_boosting({kinds})" if settings["search"] else ""
    extras = _usable(settings) + (", refit=True" if profile.time else "")
    extras += ", until=0.7" if profile.levels else ""  # quantiles of the estimates take time as well
    call = f"train_ensemble(numbers, groups, {{}}, folds, fits, loss{further}{extras}{{}})"
    learning = call.format("y", "")
    if profile.has_several_targets:
        learning = f"each_column_until(lambda column, until: {call.format('column', ', until=until')}, y, 0.9)"
    return f"""{table_source(profile)}
{feature_source(profile, settings)}
{_target(profile, settings)}fits = {{
{fits}}}


def loss(truth, oof):
    return {"rmse(truth, oof)" if settings.get("log") else model_loss_source(profile)}


oof, prediction, rows = {learning}
{_from_log(settings)}{_quantiles(profile)}{ending(profile, settings)}"""


def is_wide(profile: Profile) -> bool:
    """Return whether there are too many numeric columns for pairs and splines."""
    return len(profile.of_kind("number")) > MAX_NUMBERS


def is_large(profile: Profile) -> bool:
    """Return whether there are too many cells for slow models."""
    assert profile.train is not None
    return profile.train.rows * max(1, len(profile.features)) > LARGE_CELLS or profile.train.is_truncated


def members(profile: Profile) -> dict[str, str]:
    """The members of an ensemble, the most promising first, as source."""
    assert profile.train is not None
    boosting, large = _member("boosting", **BOOSTING), _member("boosting", **LARGE_TREES)
    found = _library_members(profile)
    trees = found.get("lightgbm", boosting)
    if "lightgbm" not in found:
        found |= {"boosting": boosting, "large trees": large}
    if is_large(profile):
        return found
    found["neural network"] = "neural_network"
    found["forest"] = _member("forest", n_estimators=100, min_samples_leaf=2, max_features=0.4)
    if profile.time is not None:
        found |= {"linear": "linear_effects", **_log_linear(profile)}
    if profile.train.rows <= 6000:
        found["svm"] = "svm"
    if not is_wide(profile):
        found |= {"additive": "additive", "hybrid": _hybrid(profile)}
    if _suits_log(profile):
        found |= {"log boosting": f"on_log_scale({trees})"}
        found |= {} if is_wide(profile) else {"log additive": "on_log_scale(additive)"}
    if _is_absolute(profile) and "lightgbm" not in found:
        found["median boosting"] = _member("boosting", loss="absolute_error", max_iter=200, max_leaf_nodes=12)
    if profile.goal == "multiclass" and len(profile.classes) > MAX_BOOSTED_CLASSES:
        # Boosting grows trees for each class: all but LightGBM's come last.
        found |= {"boosting": _member("boosting", **FAST_BOOSTING)} if "boosting" in found else {}
        return {name: found[name] for name in ORDER_OF_MANY_CLASSES if name in found}
    return {name: found[name] for name in (*ORDER, *found) if name in found}


def _hybrid(profile: Profile) -> str:
    if "lightgbm" not in profile.packages:
        return _member("hybrid", **HYBRID)
    return f"partial(hybrid, trees=lightgbm_trees{keywords(LIBRARIES['lightgbm'])})"


def _is_absolute(profile: Profile) -> bool:
    """Return whether the metric is an absolute error."""
    return profile.goal == "regression" and (profile.metric in ("mae", "smape") or bool(profile.levels))


def _log_linear(profile: Profile) -> dict[str, str]:
    """A member that multiplies effects, where numbers that are always positive are learnt."""
    assert profile.train is not None
    is_number = profile.goal == "regression" and len(profile.labels) == 1
    least = profile.train[profile.labels[0]].minimum if is_number else None
    is_positive = least is not None and least > 0 and profile.metric not in ("rmsle", "concordance")
    return {"log linear": "on_log_scale(linear_effects, logs=True)"} if is_positive else {}


def _library_members(profile: Profile) -> dict[str, str]:
    """Boosting by the libraries that there are."""
    assert profile.train is not None
    settings = {**LIBRARIES, "lightgbm": {**LIBRARIES["lightgbm"], "num_leaves": _leaves(profile.train.rows)}}
    found = {
        name: _member(f"{name}_trees", **options, **_objective(profile, name))
        for name, options in settings.items()
        if name in profile.packages
    }
    if "lightgbm" in found:
        found["random trees"] = _member("lightgbm_trees", **RANDOM_TREES, **_objective(profile, "lightgbm"))
        found["plain trees"] = _plain_trees(profile, **PLAIN_TREES)
    return found


def _leaves(rows: int) -> int:
    """Return the best number of leaves of a tree."""
    return 8 if rows <= MAX_SMALL_ROWS else 16 if rows <= 5 * MAX_SMALL_ROWS else 48


def _objective(profile: Profile, library: str) -> dict[str, str]:
    return ABSOLUTE[library] if _is_absolute(profile) else {}


def _plain_trees(profile: Profile, **options: Any) -> str:
    """Boosting of the first `plain` numbers, which are the table's own and parts of dates, and of groups, as source."""
    return f"partial(plain_trees, columns=plain{keywords({**options, **_objective(profile, 'lightgbm')})})"


def _random_kinds(profile: Profile, members: Sequence[str]) -> str:
    """The kinds of boosting of which more models are trained in the time that is left, as source."""
    libraries = [name for name in ("lightgbm", "catboost") if name in profile.packages]
    kinds: dict[str, str] = {name: _member(f"{name}_trees", **_objective(profile, name)) for name in libraries}
    kinds |= {"plain": _plain_trees(profile)} if "plain trees" in members else {}
    if not kinds:
        kinds = {"boosting": "boosting"} if is_wide(profile) else {"boosting": "boosting", "hybrid": "hybrid"}
    return ", ".join(f"{name}={source}" for name, source in kinds.items())


def _member(model: str, **options: Any) -> str:
    return f"partial({model}{keywords(options)})"


def _suits_log(profile: Profile) -> bool:
    """Return whether the target is positive and skewed, and is not learnt as a logarithm anyway."""
    assert profile.train is not None
    if profile.goal != "regression" or profile.metric in ("rmsle", "concordance") or len(profile.labels) > 1:
        return False
    label = profile.train[profile.labels[0]]
    return label.minimum is not None and label.minimum >= 0 and (label.maximum or 0) > 20 * (label.median or 1e9)


def body_with(model: str) -> Callable[[Profile, Settings], str]:
    """The body of a recipe that fits one model of the kit to the features of a table."""

    def body(profile: Profile, settings: Settings) -> str:
        parts = [table_source(profile), feature_source(profile, settings), learning_source(profile, settings, model)]
        return "\n".join([*parts, _quantiles(profile) + ending(profile, settings)])

    return body


def _is_log(profile: Profile) -> bool:
    return profile.metric == "rmsle"


def _quick(profile: Profile) -> Settings:
    rounds = 80 if len(profile.classes) <= MAX_BOOSTED_CLASSES or profile.goal == "multilabel" else 20
    model = {"learning_rate": 0.1, "max_iter": rounds, "max_leaf_nodes": 12, "min_samples_leaf": 20}
    return {"folds": 2, "log": _is_log(profile), "model": model}


def _ensemble(profile: Profile) -> Settings:
    assert profile.train is not None
    thorough = not is_wide(profile) and not is_large(profile)
    folds = 8 if profile.train.rows <= MAX_SMALL_ROWS and "lightgbm" in profile.packages else 5
    common = {"folds": folds, "log": _is_log(profile), "pairs": thorough, "relative": thorough}
    is_number = profile.goal == "regression" and len(profile.labels) == 1 and not profile.is_survival
    return {**common, **({"trim": True} if is_number else {}), "members": list(members(profile)), "search": True}


def _ensemble_improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    more = {"folds": 2 * settings["folds"]}
    relative = Improvement("leave out how a row compares with its group", {"relative": False})
    pairs = Improvement("leave out features selected by residuals", {"pairs": False})
    return [
        *([relative] if groups(profile) and settings.get("relative") else []),
        *([] if profile.time else [Improvement("use more folds, so that every model learns from more rows", more)]),
        *([pairs] if settings.get("pairs") else []),
    ]


def tree_improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    """Other settings of a model that boosts trees."""
    model = settings["model"]
    slower = {"learning_rate": model["learning_rate"] / 2, "max_iter": 2 * model["max_iter"]}
    return [
        Improvement("average every model over three seeds", {"seeds": 3}),
        Improvement("use a lower learning rate and more trees", {"model": {**model, **slower}}),
        Improvement("grow larger trees", {"model": {**model, "max_leaf_nodes": 2 * model["max_leaf_nodes"]}}),
        Improvement(
            "use larger leaves", {"model": {**model, "min_samples_leaf": 3 * model.get("min_samples_leaf", 20)}}
        ),
    ]


RECIPES = (
    Recipe(
        name="quick boosting",
        title="Gradient boosting on plain features, for a first submission.",
        suits=suits,
        body=body_with("boosting"),
        defaults=_quick,
        can_merge=False,
    ),
    Recipe(
        name="ensemble",
        title="Many models on plain features and on pairs of them selected by residuals, weighted by their scores.",
        suits=suits,
        body=ensemble_body,
        defaults=_ensemble,
        improvements=_ensemble_improvements,
        simpler=lambda profile, settings: {**settings, "pairs": False, "relative": False},
        time_share=0.45,
        min_time_s=60.0,
    ),
)
