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
"""Range of the share of the ceiling that careful work reaches. A tiny task is drawn once, as there is no time to redraw
it.
"""
MIN_ADVANTAGE = 0.08
"""Smallest lead of careful work over a model on unprocessed columns."""

ScoreForged = Callable[[ForgedData, np.ndarray], float]


@dataclass(frozen=True)
class Probes:
    """Two quick entrants that represent the field."""

    careless: Pipeline
    careful: Pipeline


def draw_calibrated(
    draw: Callable[[], ForgedData], difficulty: Difficulty, probes: Probes, score: ScoreForged
) -> ForgedData:
    """Return the first of some draws with the promised difficulty, or the one nearest to it."""
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
    """Draw a task whose metric is defined: all answers of a tiny task may be the same."""
    forged = draw()
    while not np.isfinite(score(forged, forged.ceiling)):
        forged = draw()
    return forged


def _distance(forged: ForgedData, difficulty: Difficulty, probes: Probes, score: ScoreForged) -> float:
    """Return the distance of a task from the scores that its difficulty promises."""
    columns = list(forged.sample)[1:]
    nothing = score(forged, forged.sample[columns if len(columns) > 1 else columns[0]].to_numpy())
    ceiling = score(forged, forged.ceiling)
    careless, careful = (
        (score(forged, run_pipeline(probe, forged, np.random.default_rng(0))) - nothing) / (ceiling - nothing)
        for probe in (probes.careless, probes.careful)
    )
    low, high = GOOD_REACH[difficulty]
    outside = max(low - careful, careful - high, 0.0)
    return round(outside + max(MIN_ADVANTAGE - (careful - careless), 0.0), 2)
