"""A family from its outcome and its goal: the generator, its calibration and a field of strangers."""

from __future__ import annotations

import numpy as np

from podium.catalog.forge.family import Difficulty, Family, ForgedData
from podium.catalog.forge.world.calibration import draw_calibrated
from podium.catalog.forge.world.entrants import Goal, generic_defaults, generic_field, generic_tiny, probes
from podium.catalog.forge.world.row_task import Form, MakeOutcome, draw_row_task
from podium.task import Columns, Metric


def row_family(
    name: str,
    title: str,
    kind: str,
    *,
    metric: Metric,
    submission: Columns,
    form: Form,
    make_outcome: MakeOutcome,
    goal: Goal,
) -> Family:
    """A family of tasks whose answers belong to rows of a table."""

    def draw(rng: np.random.Generator, difficulty: Difficulty) -> ForgedData:
        return draw_calibrated(
            lambda: draw_row_task(rng, difficulty, make_outcome, form),
            difficulty,
            probes(goal),
            lambda forged, prediction: family.score(forged, prediction),
        )

    family = Family(
        name=name,
        title=title,
        kind=kind,
        metric=metric,
        submission=submission,
        draw=draw,
        pipelines=generic_field(goal),
        defaults=generic_defaults(goal),
        tiny=generic_tiny(goal),
    )
    return family
