"""Recipes for nodes of a graph: what a node is tied to says what it is."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.finishing import ending, forms
from podium.recipes.profile import Profile
from podium.recipes.recipe import Move, Recipe, Settings
from podium.recipes.scripts import assign
from podium.recipes.tabular import is_grouping, truth

GOALS = ("binary", "multiclass", "multilabel", "ordinal", "regression")
KINDS = 12
"""A column of ties with at most so many values says what kind of tie it is."""


def suits(profile: Profile) -> bool:
    """Whether train and test rows are nodes of one graph."""
    return profile.edges is not None and profile.test is not None and profile.goal in GOALS


def has_classes(profile: Profile) -> bool:
    """Whether nodes have one class each."""
    return suits(profile) and profile.goal in ("binary", "multiclass")


def nodes(profile: Profile, settings: Settings) -> str:
    """The start of a story: tables, ties, the truth, and features of all nodes."""
    assert profile.train is not None and profile.test is not None and profile.edges is not None
    numbers = [column.name for column in profile.features if column.kind == "number"]
    groups = [column.name for column in profile.features if column.kind == "category" or is_grouping(column)]
    given = assign(TRAIN=profile.train.file, TEST=profile.test.file, KEY=profile.key) + forms(profile)
    given += assign(EDGES=profile.edges[0], ENDS=profile.edges[1:], KINDS=kinds(profile))
    given += assign(NUMBERS=numbers, GROUPS=groups)
    relative = "numbers = numbers.join(relative_features(numbers, groups))\n" if settings["relative"] else ""
    return (
        given
        + f"""
train = read_table(TRAIN)
train = train[train[LABELS].notna().all(axis=1)].reset_index(drop=True)
test, sample = read_table(TEST), read_sample(SAMPLE)
keys = read_table(TEST, usecols=[KEY], dtype=str).set_axis(IDS, axis=1)
both = stacked(train, test)
{truth(profile)}
ties = read_ties(EDGES, ENDS, KINDS, as_names(both[KEY]))
print(len(ties.source), "ties between", ties.nodes, "nodes")
numbers = number_features(both, NUMBERS)
groups = group_features(both, GROUPS, [])
{relative}features = node_features(numbers, groups, ties, hops={settings["hops"]})
folds = make_folds(truth, {settings["folds"]})
"""
    )


def kinds(profile: Profile) -> list[str]:
    """The columns that say what kind of tie it is."""
    assert profile.edges is not None
    file, *ends = profile.edges
    table = next(table for table in profile.tables if table.file == file)
    return [column.name for column in table.columns if column.name not in ends and 1 < column.distinct <= KINDS][:1]


def beliefs_story(profile: Profile, settings: Settings) -> str:
    return f"""{nodes(profile, settings)}

def fit(features, aim, seed):
{fitting(settings["model"])}


oof, guess, rows = cross_believed(
    features, truth, folds, ties, fit, rows=len(both), rounds={settings["rounds"]}
)
{ending(profile, settings)}"""


def smoothing_story(profile: Profile, settings: Settings) -> str:
    aim = "truth.astype(int)" if profile.goal == "multilabel" else "truth"
    return f"""{nodes(profile, settings)}

def fit(features, aim, seed):
{fitting(settings["model"])}


oof, guess, rows = cross_smoothed(features, {aim}, folds, ties, fit, rows=len(both))
{ending(profile, settings)}"""


def fitting(model: str) -> str:
    """The body of a function that fits a model to nodes."""
    options = "learning_rate=0.1, max_iter=40, max_leaf_nodes=6, max_features=0.5"
    boosted = f"boosted_fit(features, aim, seed, {options})"
    if model == "both":
        return f"""    models = [
        linear_fit(features, aim, seed),
        {boosted},
    ]
    return lambda values: np.mean([model(values) for model in models], axis=0)"""
    return (
        "    return "
        + {
            "linear": "linear_fit(features, aim, seed)",
            "boosting": boosted,
            "trees": "trees_fit(features, aim, seed, count=300, leaf=3)",
        }[model]
    )


def _moves(profile: Profile, settings: Settings) -> Sequence[Move]:
    return [
        Move("judge nodes by boosting and a linear model together", {"model": "both"}),
        Move("take features of neighbours into account", {"hops": 0 if settings["hops"] else 1}),
        Move("leave out how a node compares with its group", {"relative": not settings["relative"]}),
        Move("count on beliefs for longer", {"rounds": settings.get("rounds", 1) + 2}),
        Move("look at neighbours of neighbours", {"hops": 2}),
        Move("judge nodes by extremely randomised trees", {"model": "trees"}),
    ]


RECIPES = (
    Recipe(
        name="quick beliefs",
        title="A linear model of nodes, and belief propagation along their ties.",
        suits=has_classes,
        story=beliefs_story,
        defaults=lambda profile: {"folds": 3, "hops": 0, "relative": True, "model": "linear", "rounds": 1},
    ),
    Recipe(
        name="beliefs",
        title="Models of nodes, and belief propagation along ties whose meaning is learnt on the way.",
        suits=has_classes,
        story=beliefs_story,
        defaults=lambda profile: {"folds": 5, "hops": 0, "relative": True, "model": "both", "rounds": 3},
        moves=_moves,
        simpler=lambda profile, settings: {**settings, "model": "linear", "rounds": 1, "hops": 0},
    ),
    Recipe(
        name="smoothed neighbours",
        title="Features and labels averaged over neighbours, and a model on top.",
        suits=suits,
        story=smoothing_story,
        defaults=lambda profile: {"folds": 5, "hops": 2, "relative": True, "model": "boosting"},
        moves=_moves,
        simpler=lambda profile, settings: {**settings, "model": "linear", "hops": 1},
    ),
)
