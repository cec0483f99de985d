"""Recipes for texts: words, characters and word pairs with linear models, a small neural network, boosting."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from podium.recipes.recipe import Improvement, Recipe, Settings
from podium.recipes.script_ending import ending
from podium.recipes.script_writer import keywords
from podium.recipes.shared_source import fold_source, further_source, read_tables_source, target_source, truth_source
from podium.tables.profile import LEARNABLE, Profile

MAX_CLASSES = 20
"""With more classes, no model is made for each."""
MATRICES = {
    "words": "word_matrix(texts, longest=2)",
    "characters": "character_matrix(texts)",
    "word pairs": "word_pair_matrix(texts)",
}
SPEEDS = {"words": 300_000, "characters": 120_000, "word pairs": 100_000, "network": 150_000, "boosting": 200_000}
"""Characters to read per second that a script has, so that at least one fold can be learnt."""


def suits(profile: Profile) -> bool:
    """Return whether rows of train and test have texts, and the target is a class or a number."""
    has_tables = profile.train is not None and profile.test is not None
    return has_tables and bool(profile.of_kind("text")) and profile.goal in LEARNABLE


def has_few_classes(profile: Profile) -> bool:
    """Return whether a model per class is possible."""
    return (
        suits(profile)
        and profile.goal in ("binary", "multiclass", "multilabel")
        and len(profile.classes) <= MAX_CLASSES
    )


def text_source(profile: Profile, settings: Settings, speed: int) -> str:
    """Return the start of a body: tables, the truth, texts, and features of the other columns."""
    numbers = [column.name for column in profile.features if column.kind == "number" and not column.is_code]
    constants = {"TEXTS": profile.of_kind("text"), "NUMBERS": numbers, "GROUPS": profile.group_names()}
    constants["DATES"] = profile.of_kind("date")
    groups = "group_features(both, GROUPS, DATES)"
    groups = f"drop_unseen({groups}, len(train))" if profile.group or profile.time else groups
    return f"""{read_tables_source(profile, constants)}both = stack_rows(train, test)
{further_source(profile)}{truth_source(profile)}
y = {target_source(profile)}
texts = read_texts(both, TEXTS, drop_quotes={not settings["quotes"]})
kept = affordable_rows(texts, len(train), {speed})
texts = blank_unused(texts, kept)
folds = restrict_folds({fold_source(profile, settings["folds"])}, kept)
numbers = number_features(both, NUMBERS).join(yearly_season_features(both, DATES)).join(text_statistics(texts))
groups = {groups}
"""


def linear_body(profile: Profile, settings: Settings) -> str:
    """Texts as weighted terms, and a linear model."""
    matrices = "".join(f"    {MATRICES[name]},\n" for name in settings["terms"])
    speed = min(SPEEDS[name] for name in settings["terms"])
    ratios = ", ratios=True" if settings.get("ratios") else ""
    return f"""{text_source(profile, settings, speed)}
matrices = [
{matrices}    column_matrix(numbers, groups),
]
table = sparse.hstack(matrices, format="csr")
print("texts and columns", table.shape, "after", round(time_used(), 2), "of the time", flush=True)


def make(inverse_penalty):
    return linear_fit(table, inverse_penalty{ratios})


inverse_penalty = best_inverse_penalty(make, y, folds, {settings["inverse_penalties"]!r})
oof, prediction, rows = cross_validate_rows(make(inverse_penalty), y, folds, len(both))
{ending(profile, settings)}"""


def network_body(profile: Profile, settings: Settings) -> str:
    """A small neural network over sentences."""
    return f"""{text_source(profile, settings, SPEEDS["network"])}
sentences = read_sentences(texts, column_matrix(numbers, groups, weight=1.0))
print(sentences.words.shape[0], "sentences after", round(time_used(), 2), "of the time", flush=True)
fit = network_fit(sentences{keywords(settings["network"])})
oof, prediction, rows = cross_validate_rows(fit, y, folds, len(both))
{ending(profile, settings)}"""


def boosting_body(profile: Profile, settings: Settings) -> str:
    """Topics of texts, joined with the other columns, and boosting."""
    call = "cross_validate(numbers, groups, {}, folds, fit)"
    several = profile.has_several_targets
    learning = f"each_column(lambda column: {call.format('column')}, y)" if several else call.format("y")
    return f"""{text_source(profile, settings, SPEEDS["boosting"])}
table = word_matrix(texts, longest=1, most=20_000)
numbers = numbers.join(topic_features(table, {settings["topics"]}))
print("topics after", round(time_used(), 2), "of the time", flush=True)


def fit(features, groups, y, seed):
    return boosting(features, groups, y, seed{keywords(settings["model"])})


oof, prediction, rows = {learning}
{ending(profile, settings)}"""


def _linear(*terms: str, penalties: Sequence[float], folds: int = 5) -> Callable[[Profile], Settings]:
    settings = {"terms": list(terms), "folds": folds, "quotes": False, "inverse_penalties": list(penalties)}
    return lambda profile: settings


def _linear_improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    terms = list(settings["terms"])
    missing = [name for name in MATRICES if name not in terms]
    return [
        Improvement("read quoted lines too", {"quotes": not settings["quotes"]}),
        *(Improvement(f"add {name}", {"terms": [*terms, name]}) for name in missing),
    ]


def _network_improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    network = settings["network"]
    return [
        Improvement("average more networks", {"network": {**network, "nets": 3 * network["nets"]}}),
        Improvement("use fewer hidden units", {"network": {**network, "hidden": network["hidden"] // 2}}),
        Improvement("train for more epochs", {"network": {**network, "epochs": network["epochs"] * 3 // 2}}),
        Improvement("use more weight decay", {"network": {**network, "decay": 2 * network["decay"]}}),
        Improvement("use more hidden units", {"network": {**network, "hidden": 2 * network["hidden"]}}),
        Improvement("read quoted lines too", {"quotes": not settings["quotes"]}),
    ]


RECIPES = (
    Recipe(
        name="quick words",
        title="Weighted words and a linear model, for a first submission.",
        suits=suits,
        body=linear_body,
        defaults=_linear("words", penalties=[2.0], folds=3),
    ),
    Recipe(
        name="sentence network",
        title="A small neural network that scores every sentence, and a text by their sum.",
        suits=suits,
        body=network_body,
        defaults=lambda profile: {
            "folds": 5,
            "quotes": False,
            "network": {"hidden": 24, "epochs": 16, "decay": 0.3, "drop": 0.2, "nets": 1},
        },
        improvements=_network_improvements,
        simpler=lambda profile, settings: {**settings, "folds": 2},
        time_share=0.4,
    ),
    Recipe(
        name="words and characters",
        title="Weighted words and character sequences, and a linear model.",
        suits=suits,
        body=linear_body,
        defaults=_linear("words", "characters", penalties=[2.0, 6.0, 0.7], folds=4),
        improvements=_linear_improvements,
        simpler=lambda profile, settings: {**settings, "terms": ["words"]},
        time_share=0.4,
    ),
    Recipe(
        name="word pairs",
        title="Pairs of words and of their ends in one sentence, and a linear model.",
        suits=suits,
        body=linear_body,
        defaults=_linear("word pairs", penalties=[2.0, 6.0, 0.7], folds=4),
        improvements=_linear_improvements,
        simpler=lambda profile, settings: {**settings, "terms": ["words"]},
    ),
    Recipe(
        name="word count ratios",
        title="Words and character sequences weighted by how much more common they are in a class; linear models.",
        suits=has_few_classes,
        body=linear_body,
        defaults=lambda profile: {**_linear("words", "characters", penalties=[1.0, 0.3])(profile), "ratios": True},
    ),
    Recipe(
        name="text boosting",
        title="Topics of texts, all other columns, and gradient boosting.",
        suits=suits,
        body=boosting_body,
        defaults=lambda profile: {
            "folds": 4,
            "quotes": False,
            "topics": 40,
            "model": {"learning_rate": 0.08, "max_iter": 100, "max_leaf_nodes": 8, "max_features": 0.3},
        },
        simpler=lambda profile, settings: {**settings, "topics": 10, "folds": 2},
    ),
)
