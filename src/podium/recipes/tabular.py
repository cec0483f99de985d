"""Recipes for tables: boosting, forests, additive models, kernels and neighbours on engineered features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from podium.recipes.blending import loss_source
from podium.recipes.finishing import ending, forms
from podium.recipes.profile import Profile
from podium.recipes.recipe import Move, Recipe, Settings
from podium.recipes.scripts import assign

LARGE_BYTES = 300_000_000
ROWS_OF_LARGE = 400_000
"""As many rows of train are read where it is large."""
MANY = 10
"""So many columns are worth models of their own beside pictures or sounds, and are too many to be groups."""
FEW = 4
"""With more classes than this, boosting takes long."""
WIDE = 150
"""With more numbers than this in a row, none are made of pairs of them, and no curves are drawn for each."""
LARGE_CELLS = 5_000_000
"""With more cells than this in train, only models that make short work of them are used."""


def suits(profile: Profile) -> bool:
    """Whether there are train and test tables with features, and a target that is a class or a number."""
    goals = ("binary", "multiclass", "multilabel", "ordinal", "regression")
    usable = [column for column in profile.features if column.kind in ("number", "category", "date", "text")]
    if profile.shape in ("pictures", "audio") and len(usable) < MANY:
        return False  # what a few columns say beside a picture or a sound, recipes for these take into account
    return profile.train is not None and profile.test is not None and bool(usable) and profile.goal in goals


def tables(profile: Profile) -> str:
    """The start of a story: tables, keys and the truth."""
    assert profile.train is not None and profile.test is not None
    numbers = profile.of_kind("number")
    groups = grouping(profile)
    rows = f", nrows={ROWS_OF_LARGE}" if profile.size_bytes > LARGE_BYTES else ""
    given = assign(TRAIN=profile.train.file, TEST=profile.test.file, KEY=profile.key)
    given += forms(profile) + assign(NUMBERS=numbers, GROUPS=groups, DATES=profile.of_kind("date"))
    return (
        given
        + f"""
train = read_table(TRAIN{rows})
train = train[train[LABELS].notna().all(axis=1)].reset_index(drop=True)
test, sample = read_table(TEST), read_sample(SAMPLE)
keys = read_table(TEST, usecols=[KEY], dtype=str).set_axis(IDS, axis=1)
both = stacked(train, test)
{truth(profile)}
"""
    )


def grouping(profile: Profile) -> list[str]:
    """The columns that put rows into groups. Many columns of small numbers are counts or pixels, and do not."""
    numbers = [column.name for column in profile.features if is_grouping(column)]
    return [*profile.of_kind("category"), *(numbers if len(numbers) <= MANY else [])]


def is_grouping(column: Any) -> bool:
    """Whether numbers of a column may stand for groups, because they are names or few."""
    return bool(column.kind == "number" and (column.is_code or (column.is_whole and 2 < column.distinct <= 30)))


def truth(profile: Profile) -> str:
    """Source that makes `truth`."""
    if profile.separator is not None:
        return f"truth = listed_flags(train[LABELS[0]], TARGETS, {profile.separator!r})"
    if profile.classes:
        return "truth = class_places(train[LABELS[0]], CLASSES)"
    one = "LABELS[0]" if len(profile.labels) == 1 else "LABELS"
    source = f"truth = train[{one}].to_numpy(float)"
    if profile.is_distribution and profile.goal == "regression":
        source += "\ntruth = truth / np.maximum(truth.sum(axis=1, keepdims=True), 1e-9)"
    return source


def features(profile: Profile, settings: Settings) -> str:
    """Source that makes `numbers` and `groups` from `both`."""
    lines = ["numbers = number_features(both, NUMBERS)"]
    if profile.of_kind("date"):
        lines[0] += ".join(date_features(both, DATES))"
    lines.append("groups = group_features(both, GROUPS, DATES)")
    lines.append("numbers = numbers.join(family_features(numbers))")
    if profile.of_kind("date"):
        lines.append("numbers = numbers.join(gap_features(both, groups, DATES))")
    if settings.get("relative"):
        lines.append("numbers = numbers.join(relative_features(numbers, groups))")
    lines.append("measured, numbers = numbers, numbers.join(frequencies(groups))")
    return "\n".join(lines) + "\n"


def learning(profile: Profile, settings: Settings, model: str) -> str:
    """Source that makes `oof`, `guess` and `rows` with a model of the kit; `numbers` and `groups` may grow before."""
    several = profile.goal == "multilabel" or (profile.goal == "regression" and len(profile.labels) > 1)
    log = bool(settings.get("log"))
    lines = [f"folds = make_folds(truth, {settings['folds']}{_grouped(profile)})", f"aim = {_aim(profile, log)}"]
    lines += _found(profile, settings) if settings.get("pairs") else []
    lines += ["", *_fit(model, settings["model"]), ""]
    call = f"cross_validated(numbers, groups, {{}}, folds, fit{_extras(settings)})"
    if several:
        lines.append(f"oof, guess, rows = by_column(lambda column: {call.format('column')}, aim)")
    else:
        lines.append(f"oof, guess, rows = {call.format('aim')}")
    if log:
        lines.append("oof, guess = np.expm1(oof), np.expm1(guess)")
    return "\n".join(lines) + "\n"


def _grouped(profile: Profile) -> str:
    return "" if profile.group is None else f", train[{profile.group!r}]"


def _aim(profile: Profile, log: bool) -> str:
    if profile.goal == "multilabel":
        return "truth.astype(int)"
    return "np.log1p(truth)" if log else "truth"


def _found(profile: Profile, settings: Settings) -> list[str]:
    """Lines that add what first models, made for their errors alone, miss, and that find rows that must be wrong."""
    is_single = profile.goal in ("binary", "ordinal", "regression") and len(profile.labels) == 1
    firsts = "(additive, shallow_boosting)" if is_single else "(additive,)"
    clear = "winsorised(residual)" if profile.goal == "regression" else "residual"
    return [
        "",
        "# First models are made for their errors: these say which features are missing.",
        f"apart = make_folds(truth, 3{_grouped(profile)})",
        f"residual = clearest([residuals(numbers, groups, aim, apart, first) for first in {firsts}])",
        *(_trimmed() if settings.get("trim") else []),
        f"clear = {clear}",
        "pairs, crosses = best_pairs(measured, clear), best_crosses(groups, measured, clear)",
        "numbers, groups = with_new(numbers, pairs), with_new(groups, crosses)",
        'print("found", [*pairs, *crosses], "after", round(time_used(), 2), "of the time", flush=True)',
        "",
    ]


def _trimmed() -> list[str]:
    """Lines that find rows that must be wrong. They mislead first models too, so that it is done again without them."""
    return [
        "usable = ~outliers(residual)",
        "if not usable.all():",
        "    residual = residuals(numbers, groups, aim, apart, additive, usable)",
        "    usable = ~outliers(residual)",
        '    print(int((~usable).sum()), "rows are left out: they are far from what all others say")',
    ]


def _fit(model: str, options: Settings) -> list[str]:
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    return ["", "def fit(features, groups, aim, seed):", f"    return {model}(features, groups, aim, seed{given})", ""]


def _extras(settings: Settings) -> str:
    extras = f", weight={settings['weight']}" if "weight" in settings else ""
    extras += ", usable=usable" if settings.get("pairs") and settings.get("trim") else ""
    return extras + (f", seeds={settings['seeds']}" if settings.get("seeds", 1) > 1 else "")


def committee_story(profile: Profile, settings: Settings) -> str:
    """Several models on the same features, weighed."""
    log = bool(settings.get("log"))
    several = profile.goal == "multilabel" or (profile.goal == "regression" and len(profile.labels) > 1)
    usable = ", usable=usable" if settings.get("pairs") and settings.get("trim") else ""
    fits = "".join(f"    {name!r}: {source},\n" for name, source in settings["members"].items())
    kinds = "boosting" if is_wide(profile) else "boosting, hybrid"
    further = f", further=variants({kinds})" if settings["search"] and len(profile.classes) <= FEW else ""
    call = f"committee(numbers, groups, {{}}, folds, fits, loss{further}{usable}{{}})"
    if several:
        made = f"by_column_until(lambda column, until: {call.format('column', ', until=until')}, aim, 0.85)"
    else:
        made = call.format("aim", "")
    lines = [
        f"folds = make_folds(truth, {settings['folds']}{_grouped(profile)})",
        f"aim = {_aim(profile, log)}",
        *(_found(profile, settings) if settings.get("pairs") else []),
        f"fits = {{\n{fits}}}",
        "",
        "",
        "def loss(truth, oof):",
        f"    return {'rmse(truth, oof)' if log else column_loss(profile)}",
        "",
        "",
        f"oof, guess, rows = {made}",
        *(["oof, guess = np.expm1(oof), np.expm1(guess)"] if log else []),
    ]
    return "\n".join([tables(profile), features(profile, settings), *lines, ending(profile, settings)])


def column_loss(profile: Profile) -> str:
    """The loss of one column, where there are several that are learnt one after the other."""
    if profile.goal == "multilabel":
        return "-roc_auc(truth, oof)" if profile.metric == "roc_auc" else "log_loss(truth, oof)"
    shares = profile.goal == "regression" and profile.is_distribution
    return "rmse(truth, oof)" if shares else loss_source(profile)


def is_wide(profile: Profile) -> bool:
    """Whether there are too many numbers in a row for what is made of pairs of them or of curves."""
    return len(profile.of_kind("number")) > WIDE


def members(profile: Profile) -> dict[str, str]:
    """The members of a committee, the more promising first, as source."""
    assert profile.train is not None
    is_large = profile.train.rows * max(1, len(profile.features)) > LARGE_CELLS or profile.train.is_cut
    boosted = "with_options(boosting, dict(learning_rate=0.05, max_iter=250, max_leaf_nodes=8, min_samples_leaf=20, "
    boosted += "l2_regularization=5.0, max_features=0.5))"
    found = {"boosting": boosted}
    if is_large:
        return found
    if not is_wide(profile):
        mixed = "with_options(hybrid, dict(learning_rate=0.05, max_iter=120, max_leaf_nodes=6, min_samples_leaf=20, "
        mixed += "l2_regularization=5.0, max_features=0.5))"
        found = {"additive": "additive", "hybrid": mixed, **found}
    if _may_be_logged(profile):
        found |= {"logged boosting": f"logged({boosted})"}
        found |= {} if is_wide(profile) else {"logged additive": "logged(additive)"}
    if profile.goal == "regression" and profile.metric in ("mae", "smape"):
        found["median boosting"] = (
            "with_options(boosting, dict(loss='absolute_error', max_iter=200, max_leaf_nodes=12))"
        )
    found["network"] = "network"
    if profile.train.rows <= 6000:
        found["machine"] = "machine"
    found = {**found, "forest": "with_options(forest, dict(n_estimators=100, min_samples_leaf=2, max_features=0.4))"}
    if len(profile.classes) > FEW:
        # Boosting grows trees for each class: it comes last, and the others may be enough.
        found["boosting"] = "with_options(boosting, dict(learning_rate=0.15, max_iter=60, max_leaf_nodes=8))"
        order = ("machine", "additive", "forest", "network", "boosting")
        return {name: found[name] for name in order if name in found}
    return found


def _may_be_logged(profile: Profile) -> bool:
    """Whether the target is positive and spans orders of magnitude, and is not learnt as a logarithm anyway."""
    assert profile.train is not None
    if profile.goal != "regression" or profile.metric == "rmsle" or len(profile.labels) > 1:
        return False
    label = profile.train[profile.labels[0]]
    return label.low is not None and label.low >= 0 and (label.high or 0) > 20 * (label.middle or 1e9)


def story_with(model: str) -> Callable[[Profile, Settings], str]:
    """The story of a recipe that puts one model of the kit on the features of a table."""

    def story(profile: Profile, settings: Settings) -> str:
        parts = [tables(profile), features(profile, settings), learning(profile, settings, model)]
        return "\n".join([*parts, ending(profile, settings)])

    return story


def _log(profile: Profile) -> bool:
    return profile.metric == "rmsle"


def _quick(profile: Profile) -> Settings:
    model = {"learning_rate": 0.1, "max_iter": 80, "max_leaf_nodes": 12, "min_samples_leaf": 20}
    return {"folds": 2, "log": _log(profile), "model": model}


def _boosting(profile: Profile) -> Settings:
    model = {
        "learning_rate": 0.05,
        "max_iter": 250,
        "max_leaf_nodes": 8,
        "min_samples_leaf": 20,
        "l2_regularization": 5.0,
        "max_features": 0.5,
    }
    thorough = not is_wide(profile)
    common = {"folds": 4, "log": _log(profile), "pairs": thorough, "relative": thorough, "model": model}
    return {**common, "trim": True} if profile.goal == "regression" and len(profile.labels) == 1 else common


def _committee(profile: Profile) -> Settings:
    settings = {name: value for name, value in _boosting(profile).items() if name != "model"}
    return {**settings, "folds": 5, "members": members(profile), "search": True}


def _committee_moves(profile: Profile, settings: Settings) -> Sequence[Move]:
    return [
        Move("leave out what compares a row with its group", {"relative": not settings.get("relative")}),
        Move("make more folds, so that every model learns from more rows", {"folds": 2 * settings["folds"]}),
        Move("leave out the features that first models ask for", {"pairs": not settings.get("pairs")}),
    ]


def _hybrid(profile: Profile) -> Settings:
    model = {"knots": 4, "learning_rate": 0.05, "max_iter": 120, "max_leaf_nodes": 6, "min_samples_leaf": 20}
    return {**_boosting(profile), "model": {**model, "l2_regularization": 5.0, "max_features": 0.5}}


def _with_model(**model: Any) -> Callable[[Profile], Settings]:
    return lambda profile: {**_boosting(profile), "model": model}


def boosting_moves(profile: Profile, settings: Settings) -> Sequence[Move]:
    model = settings["model"]
    return [
        Move("fit every model three times with other chances and average them", {"seeds": 3}),
        Move(
            "learn more slowly, for longer",
            {"model": {**model, "learning_rate": model["learning_rate"] / 2, "max_iter": 2 * model["max_iter"]}},
        ),
        Move("grow larger trees", {"model": {**model, "max_leaf_nodes": 2 * model["max_leaf_nodes"]}}),
        Move("leave out what compares a row with its group", {"relative": not settings.get("relative")}),
        Move("stop growing trees earlier", {"model": {**model, "min_samples_leaf": 3 * model["min_samples_leaf"]}}),
        Move("trust small groups less", {"weight": 3 * settings.get("weight", 10.0)}),
    ]


RECIPES = (
    Recipe(
        name="quick boosting",
        title="Gradient boosting on plain features, for a first submission.",
        suits=suits,
        story=story_with("boosting"),
        defaults=_quick,
    ),
    Recipe(
        name="committee",
        title="Many models on plain features and on pairs of them that first models missed, weighed by their merits.",
        suits=suits,
        story=committee_story,
        defaults=_committee,
        moves=_committee_moves,
        simpler=lambda profile, settings: {**settings, "pairs": False, "relative": False},
        share=0.3,
        least_s=45.0,
    ),
    Recipe(
        name="boosting",
        title="Gradient boosting on plain features and on pairs of them that a first model missed.",
        suits=suits,
        story=story_with("boosting"),
        defaults=_boosting,
        moves=boosting_moves,
    ),
    Recipe(
        name="additive",
        title="Smooth curves for each feature, added up.",
        suits=suits,
        story=story_with("additive"),
        defaults=_with_model(knots=4),
    ),
    Recipe(
        name="hybrid",
        title="Smooth curves for each feature, added up; boosting on what they leave over.",
        suits=suits,
        story=story_with("hybrid"),
        defaults=_hybrid,
        moves=boosting_moves,
    ),
    Recipe(
        name="forest",
        title="Extremely randomised trees.",
        suits=suits,
        story=story_with("forest"),
        defaults=_with_model(n_estimators=200, min_samples_leaf=3, max_features=0.4),
    ),
    Recipe(
        name="kernel",
        title="A smooth function of all features together.",
        suits=suits,
        story=story_with("kernel"),
        defaults=_with_model(parts=400),
    ),
)
