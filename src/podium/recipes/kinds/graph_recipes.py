"""Recipes for nodes of a graph: neighbours predict a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podium.recipes.recipe import Improvement, Recipe, Settings
from podium.recipes.script_ending import ending
from podium.recipes.shared_source import read_tables_source, target_source, truth_source
from podium.tables.profile import LEARNABLE, Profile

MAX_KINDS = 12
"""Largest number of values of an edge column that is used as the kind of edge."""


def suits(profile: Profile) -> bool:
    """Return whether train and test rows are nodes of one graph."""
    return profile.edges is not None and profile.test is not None and profile.goal in LEARNABLE


def has_classes(profile: Profile) -> bool:
    """Return whether nodes have one class each."""
    return suits(profile) and profile.goal in ("binary", "multiclass")


def node_source(profile: Profile, settings: Settings) -> str:
    """The start of a body: tables, edges, the truth, features of all nodes, and what fits a model to them."""
    assert profile.edges is not None
    constants: dict[str, Any] = {"EDGES": profile.edges[0], "ENDS": profile.edges[1:], "KINDS": kinds(profile)}
    constants |= {"NUMBERS": profile.of_kind("number"), "GROUPS": profile.group_names()}
    relative = "numbers = numbers.join(relative_features(numbers, groups))\n" if settings["relative"] else ""
    return f"""{read_tables_source(profile, constants)}both = stack_rows(train, test)
{truth_source(profile)}
edges = read_edges(EDGES, ENDS, KINDS, ids_as_text(both[KEY]))
print(len(edges.source), "edges between", edges.nodes, "nodes")
numbers = number_features(both, NUMBERS)
groups = group_features(both, GROUPS, [])
{relative}features = node_features(numbers, groups, edges, hops={settings["hops"]})
folds = make_folds(truth, {settings["folds"]})


def fit(features, y, seed):
{fit_source(settings["model"])}


"""


def kinds(profile: Profile) -> list[str]:
    """The column that gives the kind of an edge, if there is one."""
    assert profile.edges is not None
    file, *ends = profile.edges
    table = next(table for table in profile.tables if table.file == file)
    return [column.name for column in table.columns if column.name not in ends and 1 < column.distinct <= MAX_KINDS][:1]


def belief_body(profile: Profile, settings: Settings) -> str:
    return f"""{node_source(profile, settings)}oof, prediction, rows = cross_validate_beliefs(
    features, truth, folds, edges, fit, rows=len(both), rounds={settings["rounds"]}
)
{ending(profile, settings)}"""


def neighbour_body(profile: Profile, settings: Settings) -> str:
    call = f"cross_validate_neighbours(features, {target_source(profile)}, folds, edges, fit, rows=len(both))"
    return f"""{node_source(profile, settings)}oof, prediction, rows = {call}
{ending(profile, settings)}"""


def fit_source(model: str) -> str:
    """The body of a function that fits a model to nodes."""
    linear = "fit_linear(features, y, seed)"
    options = "learning_rate=0.1, max_iter=40, max_leaf_nodes=6, max_features=0.5"
    boosting = f"fit_boosting(features, y, seed, {options})"
    if model == "both":
        return f"""    models = [
        {linear},
        {boosting},
    ]
    return lambda values: np.mean([model(values) for model in models], axis=0)"""
    trees = "fit_trees(features, y, seed, count=300, leaf=3)"
    return f"    return {({'linear': linear, 'boosting': boosting, 'trees': trees})[model]}"


def _improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    return [
        Improvement("average boosting and a linear model", {"model": "both"}),
        Improvement("use features of neighbours", {"hops": 0 if settings["hops"] else 1}),
        Improvement("leave out how a node compares with its group", {"relative": not settings["relative"]}),
        Improvement("propagate beliefs for more rounds", {"rounds": settings.get("rounds", 1) + 2}),
        Improvement("use neighbours of neighbours", {"hops": 2}),
        Improvement("use extremely randomised trees", {"model": "trees"}),
    ]


RECIPES = (
    Recipe(
        name="quick belief propagation",
        title="A linear model of nodes, and belief propagation along their edges.",
        suits=has_classes,
        body=belief_body,
        defaults=lambda profile: {"folds": 3, "hops": 0, "relative": True, "model": "linear", "rounds": 1},
    ),
    Recipe(
        name="belief propagation",
        title="Models of nodes, and belief propagation along edges whose meaning is learnt round by round.",
        suits=has_classes,
        body=belief_body,
        defaults=lambda profile: {"folds": 5, "hops": 0, "relative": True, "model": "both", "rounds": 3},
        improvements=_improvements,
        simpler=lambda profile, settings: {**settings, "model": "linear", "rounds": 1, "hops": 0},
    ),
    Recipe(
        name="neighbour means",
        title="Features and labels averaged over neighbours, and a model on top.",
        suits=suits,
        body=neighbour_body,
        defaults=lambda profile: {"folds": 5, "hops": 2, "relative": True, "model": "boosting"},
        improvements=_improvements,
        simpler=lambda profile, settings: {**settings, "model": "linear", "hops": 1},
    ),
)
