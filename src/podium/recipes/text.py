"""Recipes for texts: weighted words, pieces and pairs of words with linear models, a small network, boosting."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from podium.recipes.finishing import ending, forms
from podium.recipes.profile import Profile
from podium.recipes.recipe import Move, Recipe, Settings
from podium.recipes.scripts import assign
from podium.recipes.tabular import is_grouping, truth

GOALS = ("binary", "multiclass", "multilabel", "ordinal", "regression")
MANY = 20
"""With more classes than these, no model is made for each."""
TABLES = {
    "words": "word_table(texts, longest=2)",
    "letters": "letter_table(texts)",
    "pairs": "pair_table(texts)",
}
SPEEDS = {"words": 300_000, "letters": 120_000, "pairs": 100_000, "network": 150_000, "boosting": 200_000}
"""Characters worth reading for each second that a script has: so many that one fold at least can be learnt."""


def suits(profile: Profile) -> bool:
    """Whether rows of train and test have texts, and the target is a class or a number."""
    has_tables = profile.train is not None and profile.test is not None
    return has_tables and bool(profile.of_kind("text")) and profile.goal in GOALS


def has_few_classes(profile: Profile) -> bool:
    """Whether a model may be made for each class."""
    return suits(profile) and profile.goal in ("binary", "multiclass", "multilabel") and len(profile.classes) <= MANY


def start(profile: Profile, settings: Settings, speed: int) -> str:
    """The start of a story: tables, the truth, texts, and features that lie beside these."""
    assert profile.train is not None and profile.test is not None
    numbers = [column.name for column in profile.features if column.kind == "number" and not column.is_code]
    groups = [column.name for column in profile.features if column.kind == "category" or is_grouping(column)]
    given = assign(TRAIN=profile.train.file, TEST=profile.test.file, KEY=profile.key) + forms(profile)
    given += assign(TEXTS=profile.of_kind("text"), NUMBERS=numbers, GROUPS=groups, DATES=profile.of_kind("date"))
    group = "" if profile.group is None else f", train[{profile.group!r}]"
    return (
        given
        + f"""
train = read_table(TRAIN)
train = train[train[LABELS].notna().all(axis=1)].reset_index(drop=True)
test, sample = read_table(TEST), read_sample(SAMPLE)
keys = read_table(TEST, usecols=[KEY], dtype=str).set_axis(IDS, axis=1)
both = stacked(train, test)
{truth(profile)}
aim = {"truth.astype(int)" if profile.goal == "multilabel" else "truth"}
texts = read_texts(both, TEXTS, drop_quotes={not settings["quotes"]})
kept = affordable(texts, len(train), {speed})
texts = blanked(texts, kept)
folds = kept_folds(make_folds(truth, {settings["folds"]}{group}), kept)
numbers = number_features(both, NUMBERS).join(yearly_waves(both, DATES)).join(text_facts(texts))
groups = group_features(both, GROUPS, DATES)
"""
    )


def linear_story(profile: Profile, settings: Settings) -> str:
    """Texts as weighted words or parts of them, and a linear model."""
    tables = "".join(f"    {TABLES[name]},\n" for name in settings["tables"])
    speed = min(SPEEDS[name] for name in settings["tables"])
    ratios = ", ratios=True" if settings.get("ratios") else ""
    return f"""{start(profile, settings, speed)}
tables = [
{tables}    side_table(numbers, groups),
]
table = sparse.hstack(tables, format="csr")
print("texts and columns", table.shape, "after", round(time_used(), 2), "of the time", flush=True)


def make(free):
    return linear_rows(table, free{ratios})


freedom = best_freedom(make, aim, folds, {settings["freedoms"]!r})
oof, guess, rows = cross_predicted(make(freedom), aim, folds, len(both))
{ending(profile, settings)}"""


def network_story(profile: Profile, settings: Settings) -> str:
    """A small network over sentences."""
    options = ", ".join(f"{name}={value!r}" for name, value in settings["network"].items())
    return f"""{start(profile, settings, SPEEDS["network"])}
sentences = read_sentences(texts, side_table(numbers, groups, weight=1.0))
print(sentences.words.shape[0], "sentences after", round(time_used(), 2), "of the time", flush=True)
fit = network_rows(sentences, {options})
oof, guess, rows = cross_predicted(fit, aim, folds, len(both))
{ending(profile, settings)}"""


def boosting_story(profile: Profile, settings: Settings) -> str:
    """Texts condensed to a few numbers, joined with the other columns, and boosting."""
    several = profile.goal == "multilabel" or (profile.goal == "regression" and len(profile.labels) > 1)
    options = "".join(f", {name}={value!r}" for name, value in settings["model"].items())
    call = "cross_validated(numbers, groups, {}, folds, fit)"
    learning = f"by_column(lambda column: {call.format('column')}, aim)" if several else call.format("aim")
    return f"""{start(profile, settings, SPEEDS["boosting"])}
table = word_table(texts, longest=1, most=20_000)
numbers = numbers.join(topics(table, {settings["topics"]}))
print("condensed after", round(time_used(), 2), "of the time", flush=True)


def fit(features, groups, aim, seed):
    return boosting(features, groups, aim, seed{options})


oof, guess, rows = {learning}
{ending(profile, settings)}"""


def _linear(*tables: str, freedoms: Sequence[float], folds: int = 5) -> Callable[[Profile], Settings]:
    return lambda profile: {"tables": list(tables), "folds": folds, "quotes": False, "freedoms": list(freedoms)}


def _linear_moves(profile: Profile, settings: Settings) -> Sequence[Move]:
    tables = list(settings["tables"])
    missing = [name for name in TABLES if name not in tables]
    return [
        Move("read lines too that quote others", {"quotes": not settings["quotes"]}),
        *(Move(f"join in {name}", {"tables": [*tables, name]}) for name in missing),
    ]


def _network_moves(profile: Profile, settings: Settings) -> Sequence[Move]:
    network = settings["network"]
    return [
        Move("average more networks", {"network": {**network, "nets": 3 * network["nets"]}}),
        Move("ask less of each sentence", {"network": {**network, "hidden": network["hidden"] // 2}}),
        Move("read more often", {"network": {**network, "epochs": network["epochs"] * 3 // 2}}),
        Move("let weights shrink faster", {"network": {**network, "decay": 2 * network["decay"]}}),
        Move("ask more of each sentence", {"network": {**network, "hidden": 2 * network["hidden"]}}),
        Move("read lines too that quote others", {"quotes": not settings["quotes"]}),
    ]


RECIPES = (
    Recipe(
        name="quick words",
        title="Weighted words and a linear model, for a first submission.",
        suits=suits,
        story=linear_story,
        defaults=_linear("words", freedoms=[2.0], folds=3),
    ),
    Recipe(
        name="sentence network",
        title="A small network that judges every sentence, and a text by their sum.",
        suits=suits,
        story=network_story,
        defaults=lambda profile: {
            "folds": 5,
            "quotes": False,
            "network": {"hidden": 24, "epochs": 16, "decay": 0.3, "drop": 0.2, "nets": 1},
        },
        moves=_network_moves,
        simpler=lambda profile, settings: {**settings, "folds": 2},
        share=0.4,
    ),
    Recipe(
        name="words and letters",
        title="Weighted words and pieces of words, and a linear model.",
        suits=suits,
        story=linear_story,
        defaults=_linear("words", "letters", freedoms=[2.0, 6.0, 0.7], folds=4),
        moves=_linear_moves,
        simpler=lambda profile, settings: {**settings, "tables": ["words"]},
        share=0.4,
    ),
    Recipe(
        name="pairs of words",
        title="Pairs of words and of their ends in one sentence, and a linear model.",
        suits=suits,
        story=linear_story,
        defaults=_linear("pairs", freedoms=[2.0, 6.0, 0.7], folds=4),
        moves=_linear_moves,
        simpler=lambda profile, settings: {**settings, "tables": ["words"]},
    ),
    Recipe(
        name="ratios of words",
        title="Words and pieces of words, weighed by how much more common they are in a class; linear models.",
        suits=has_few_classes,
        story=linear_story,
        defaults=lambda profile: {**_linear("words", "letters", freedoms=[1.0, 0.3])(profile), "ratios": True},
    ),
    Recipe(
        name="text boosting",
        title="Texts condensed to topics, beside all other columns, and gradient boosting.",
        suits=suits,
        story=boosting_story,
        defaults=lambda profile: {
            "folds": 4,
            "quotes": False,
            "topics": 40,
            "model": {"learning_rate": 0.08, "max_iter": 100, "max_leaf_nodes": 8, "max_features": 0.3},
        },
        simpler=lambda profile, settings: {**settings, "topics": 10, "folds": 2},
    ),
)
