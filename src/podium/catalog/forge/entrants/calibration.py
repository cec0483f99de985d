"""Difficulty by what entrants reach: structures are drawn until one is as hard as it should be.

What an entrant reaches is its share of the way from a submission that knows nothing to the ceiling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from podium.catalog.forge.family import ForgedData, Pipeline
from podium.catalog.forge.field import run_pipeline
from podium.catalog.forge.forge_ids import Difficulty

ATTEMPTS = 4
GOOD_REACH: Mapping[str, tuple[float, float]] = {"easy": (0.55, 0.90), "medium": (0.40, 0.80), "hard": (0.25, 0.65)}
"""What careful work reaches. Tiny tasks are drawn once: there is no time for a second one."""
LEAST_ADVANTAGE = 0.08
"""How much further that is than what a model on unprocessed columns reaches."""

ScoreForged = Callable[[ForgedData, np.ndarray], float]


@dataclass(frozen=True)
class Probes:
    """Two quick entrants that stand for the field."""

    careless: Pipeline
    careful: Pipeline


def draw_calibrated(
    draw: Callable[[], ForgedData], difficulty: Difficulty, probes: Probes, score: ScoreForged
) -> ForgedData:
    """The first of some draws that is as hard as it should be, or the nearest to it."""
    best, least = _gradable(draw, score), np.inf
    for attempt in range(ATTEMPTS if difficulty in GOOD_REACH else 0):
        forged = _gradable(draw, score) if attempt else best
        distance = _distance(forged, difficulty, probes, score)
        if distance < least:
            best, least = forged, distance
        if least == 0:
            break
    return best


def _gradable(draw: Callable[[], ForgedData], score: ScoreForged) -> ForgedData:
    """A task whose metric is defined: the few answers of a tiny one may all be the same."""
    forged = draw()
    while not np.isfinite(score(forged, forged.ceiling)):
        forged = draw()
    return forged


def _distance(forged: ForgedData, difficulty: Difficulty, probes: Probes, score: ScoreForged) -> float:
    """How far a task is from what its difficulty promises."""
    columns = list(forged.sample)[1:]
    nothing = score(forged, forged.sample[columns if len(columns) > 1 else columns[0]].to_numpy())
    ceiling = score(forged, forged.ceiling)
    careless, careful = (
        (score(forged, run_pipeline(probe, forged, np.random.default_rng(0))) - nothing) / (ceiling - nothing)
        for probe in (probes.careless, probes.careful)
    )
    low, high = GOOD_REACH[difficulty]
    outside = max(low - careful, careful - high, 0.0)
    return round(outside + max(LEAST_ADVANTAGE - (careful - careless), 0.0), 2)
