"""Entity matching: do two records of two registers, each with habits and errors of its own, mean the same thing?"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.field_mix import ladder_entrants
from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.entrants.table_readings import Reading, read, target_of
from podium.catalog.forge.families.entity_matching_data import draw_once
from podium.catalog.forge.family import PublicData
from podium.catalog.forge.world.assemble_family import world_family
from podium.metrics import f1
from podium.task import Columns, Integer


def side_by_side(data: PublicData) -> Reading:
    """Return both records of each pair side by side."""
    both = pd.concat([data.train, data.test], ignore_index=True)
    for key, table in zip(both.columns[1:3], data.tables.values(), strict=True):
        both = both.merge(table, on=key, how="left")
    return Reading(both.drop(columns=[both.columns[0], target_of(data).name]), len(data.train))


def _fields(data: PublicData) -> list[tuple[pd.Series, pd.Series]]:
    """Yield the corresponding fields of both records."""
    found = read(data, side_by_side).both.iloc[:, 2:]
    width = found.shape[1] // 2
    return [(found.iloc[:, column], found.iloc[:, width + column]) for column in range(width)]


def _compared(data: PublicData, similarity: dict[str, np.ndarray]) -> Reading:
    return Reading(pd.DataFrame(similarity), len(data.train))


def differences(data: PublicData) -> Reading:
    """Return features for equal beginnings of texts and for the differences of numbers."""
    facts: dict[str, np.ndarray] = {}
    for number, (one, other) in enumerate(_fields(data)):
        if pd.api.types.is_numeric_dtype(one):
            facts[f"difference {number}"] = (one - other).abs().to_numpy()
        else:
            facts[f"beginning {number}"] = (one.str[:2].str.lower() == other.str[:2].str.lower()).to_numpy(float)
            facts[f"length {number}"] = (one.str.len() - other.str.len()).abs().to_numpy(float)
    return _compared(data, facts)


def _bigrams(text: str) -> frozenset[str]:
    return frozenset(a + b for a, b in pairwise(f" {text.lower()} "))


def _alike(one: str, other: str) -> float:
    left, right = _bigrams(one), _bigrams(other)
    return len(left & right) / max(1, len(left | right))


def similarities(data: PublicData) -> Reading:
    """Return features for the pairs of letters that texts share and for the ratios of numbers."""
    facts: dict[str, np.ndarray] = {}
    for number, (one, other) in enumerate(_fields(data)):
        if pd.api.types.is_numeric_dtype(one):
            ratio = np.log(((one.abs() + 1e-3) / (other.abs() + 1e-3)).to_numpy())
            facts[f"ratio {number}"] = np.abs(ratio - np.nanmedian(ratio))
        else:
            facts[f"alike {number}"] = np.array([_alike(a, b) for a, b in zip(one, other, strict=True)])
    return _compared(data, facts | {str(name): cells.to_numpy() for name, cells in differences(data).both.items()})


def rivals(data: PublicData) -> Reading:
    """Add the rank of a pair among the other pairs of its two records."""
    found = read(data, similarities)
    keys = read(data, side_by_side).both.iloc[:, :2]
    both = found.both.copy()
    filled = both.fillna(both.median())
    score = filled.filter(like="alike").sum(axis=1) - filled.filter(like="ratio").sum(axis=1)
    for position, key in enumerate(keys):
        best = score.groupby(keys[key]).transform("max")
        both[f"behind {position}"] = best - score
        both[f"rank {position}"] = score.groupby(keys[key]).rank(ascending=False)
        both[f"pairs {position}"] = score.groupby(keys[key]).transform("size")
    return Reading(both.assign(score=score), found.train_rows)


def finish(prediction: np.ndarray, target: pd.Series) -> np.ndarray:
    """Predict the same share of matches as in train."""
    return np.asarray(prediction >= np.quantile(prediction, 1 - target.mean()), dtype=int)


family = world_family(
    "entity-matching",
    "Do both mean the same?",
    "entity matching",
    metric=f1,
    submission=Columns(id="id", target="target", values=Integer(0, 1)),
    draw_once=draw_once,
    entrants=ladder_entrants(
        Goal(finish=finish), raw=side_by_side, plain=differences, good=similarities, expert=rivals
    ),
    row="{parent} match",
)
