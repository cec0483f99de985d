"""Classification on tables with keys: will it happen? Domain, structure and damage all come from the seed."""

from __future__ import annotations

import numpy as np

from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.world.assemble_family import row_family
from podium.catalog.forge.world.brief import ID_AND_TARGET
from podium.catalog.forge.world.row_task import Form, Outcome, World
from podium.metrics import roc_auc
from podium.task import Columns, Number

FORM = Form(
    metric="The area under the ROC curve. Higher is better.",
    submission=f"{ID_AND_TARGET}\nValues lie between 0 and 1.",
)


def outcome(rng: np.random.Generator, world: World) -> Outcome:
    """Draw an event that happens where the signal plus noise is high; it may be rare."""
    signal = world.draw_mechanism(rng).signal
    rate = rng.uniform(0.08, 0.5)
    steepness = 2.2 / (0.3 + world.noise)
    chance = 1 / (1 + np.exp(-steepness * (signal - np.quantile(signal, 1 - rate))))
    happened = (rng.random(world.rows) < chance) * 1
    return Outcome(
        target=happened,
        ceiling=chance,
        asked=f"the probability that {world.story.domain.event}",
        sample=0.5,
        meaning=f"1: {world.story.domain.event}",
        order=happened + rng.random(world.rows),
    )


family = row_family(
    "tables-classification",
    "Will it happen?",
    "tabular classification",
    metric=roc_auc,
    submission=Columns(id="id", target="target", values=Number(0, 1)),
    form=FORM,
    make_outcome=outcome,
    goal=Goal(finish=lambda prediction, target: np.clip(prediction, 0, 1)),
)
