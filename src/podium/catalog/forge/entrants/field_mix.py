"""Composition of generic fields: the approaches, and the number of entrants for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from podium.catalog.forge.entrants.calibration import Probes
from podium.catalog.forge.entrants.closed_form import Matrices, ReadColumns, linear, read_once, smooth
from podium.catalog.forge.entrants.generic_entrants import (
    BOOSTED,
    CAREFUL,
    DECISION_TREE,
    EXTRA_TREES,
    LINEAR,
    NEIGHBOURS,
    QUICK_BOOSTING,
    RANDOM_FOREST,
    ROUGH_LINEAR,
    Features,
    Goal,
    Learn,
    blend,
    each_column,
    encoded,
    entrant,
    learner,
    one_column,
    one_hot,
    reading,
)
from podium.catalog.forge.entrants.learners import default_model
from podium.catalog.forge.entrants.table_readings import (
    Read,
    as_is,
    dated,
    joined,
    only_numbers,
    read,
    summed_up,
    target_of,
    with_history,
)
from podium.catalog.forge.family import Pipeline, Predict, PublicData, Skill

DEFAULTS = ("ensemble.HistGradientBoostingRegressor", "ensemble.RandomForestRegressor", "linear_model.Ridge")
Way = tuple[str, Skill, Features, Learn, int]
"""Name, skill, what is read, what learns, and how many entrants do it."""


@dataclass(frozen=True)
class Entrants:
    """Entrants for the tasks of a family."""

    field: tuple[Pipeline, ...]
    defaults: tuple[Pipeline, ...]
    tiny: tuple[Pipeline, ...]
    probes: Probes


def table_entrants(goal: Goal, summaries: Read = summed_up) -> Entrants:
    """Return the entrants for tables with keys.

    26 of 67 entrants boost trees on the features of all tables, enough to win every medal: an entrant that reads the
    rows alone, as the defaults do, gets none.

    Args:
        summaries: the reading with all features but those of history.
    """
    rich = encoded(summaries)
    ways: list[Way] = [
        ("one column", "naive", reading(as_is), one_column, 4),
        ("nearest neighbours on numbers", "naive", reading(only_numbers), NEIGHBOURS, 4),
        ("decision tree as is", "naive", reading(as_is), DECISION_TREE, 4),
        ("linear on numbers", "plain", reading(only_numbers), ROUGH_LINEAR, 5),
        ("random forest as is", "plain", reading(as_is), RANDOM_FOREST, 5),
        ("boosting as is", "plain", reading(as_is), BOOSTED, 5),
        ("boosting on dates", "plain", reading(dated), BOOSTED, 4),
        ("extra trees on joined tables", "good", reading(joined), EXTRA_TREES, 3),
        ("boosting on joined tables", "good", reading(joined), BOOSTED, 4),
        ("boosting on summaries", "good", reading(summaries), BOOSTED, 11),
        ("linear on summaries", "good", one_hot(summaries), LINEAR, 3),
        ("boosting on encodings", "expert", rich, CAREFUL, 8),
        ("boosting on history", "expert", encoded(with_history), CAREFUL, 2),
    ]
    return _entrants(
        goal,
        ways,
        blend(goal, (rich, CAREFUL), (one_hot(summaries), LINEAR), (reading(summaries), CAREFUL)),
        blends=5,
        rungs=(("numbers", only_numbers), ("joined tables", joined), ("summaries", summaries)),
        raw=as_is,
        careful=rich,
    )


def ladder_entrants(goal: Goal, *, raw: Read, plain: Read, good: Read, expert: Read) -> Entrants:
    """Return the entrants for other data, which a family reads in four ways, each richer than the one before."""
    ways: list[Way] = [
        ("one column", "naive", reading(raw), one_column, 4),
        ("nearest neighbours at first sight", "naive", reading(raw), NEIGHBOURS, 4),
        ("decision tree at first sight", "naive", reading(raw), DECISION_TREE, 4),
        ("linear at first sight", "plain", reading(raw), ROUGH_LINEAR, 5),
        ("boosting at first sight", "plain", reading(raw), BOOSTED, 5),
        ("linear on plain features", "plain", reading(plain), ROUGH_LINEAR, 5),
        ("random forest on plain features", "plain", reading(plain), RANDOM_FOREST, 6),
        ("boosting on plain features", "plain", reading(plain), BOOSTED, 6),
        ("linear on good features", "good", reading(good), LINEAR, 4),
        ("extra trees on good features", "good", reading(good), EXTRA_TREES, 5),
        ("boosting on good features", "good", reading(good), BOOSTED, 6),
        ("extra trees on an expert's features", "expert", reading(expert), EXTRA_TREES, 4),
        ("boosting on an expert's features", "expert", reading(expert), CAREFUL, 5),
    ]
    best = reading(expert)
    return _entrants(
        goal,
        ways,
        blend(goal, (best, CAREFUL), (best, EXTRA_TREES), (best, LINEAR)),
        blends=4,
        rungs=(("plain features", plain), ("good features", good), ("an expert's features", expert)),
        raw=raw,
        careful=reading(expert),
    )


def _entrants(
    goal: Goal,
    ways: Sequence[Way],
    blended: Predict,
    *,
    blends: int,
    rungs: Sequence[tuple[str, Read]],
    raw: Read,
    careful: Features,
) -> Entrants:
    field = [Pipeline(name, skill, entrant(goal, features, learn), n) for name, skill, features, learn, n in ways]
    bare = replace(goal, usual=None)
    learners = {f"{name.split('.')[1]}()": each_column(learner(default_model(name))) for name in DEFAULTS}
    defaults = [Pipeline(name, "plain", entrant(bare, reading(raw), learn), 0) for name, learn in learners.items()]
    first = Pipeline("one column", "naive", entrant(goal, reading(raw), one_column), 4)
    return Entrants(
        field=(*field, Pipeline("blend", "expert", blended, blends)),
        defaults=tuple(defaults),
        tiny=(first, *_tiny_pipelines(goal, rungs)),
        probes=Probes(
            careless=Pipeline("quick boosting at first sight", "plain", entrant(bare, reading(raw), QUICK_BOOSTING), 0),
            careful=Pipeline("quick boosting with care", "good", entrant(goal, careful, QUICK_BOOSTING), 0),
        ),
    )


def _tiny_pipelines(goal: Goal, rungs: Sequence[tuple[str, Read]]) -> list[Pipeline]:
    """Return linear and kernel models, which train in milliseconds."""
    pipelines = []
    skills: tuple[Skill, ...] = ("plain", "good", "expert")
    for skill, (name, how) in zip(skills, rungs, strict=True):
        columns = _columns(goal, how)
        models = (("linear", linear(columns, (1, 3)), 4), ("kernel", smooth(columns, (-1, 1)), 3))
        pipelines += [Pipeline(f"{kind} on {name}", skill, _finished(goal, model), n) for kind, model, n in models]
    return pipelines


def _columns(goal: Goal, how: Read) -> ReadColumns:
    def columns(data: PublicData) -> Matrices:
        train, test = read(data, how).numbers()
        return train, goal.to_learn(data), test

    return read_once(columns)


def _finished(goal: Goal, predict: Predict) -> Predict:
    return lambda data, rng: goal.finish(predict(data, rng) + goal.usual_of_test(data), target_of(data))
