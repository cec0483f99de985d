"""Regression on tables with keys: how much will it be? Domain, structure and damage all come from the seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.world.assemble_family import row_family
from podium.catalog.forge.world.brief import ID_AND_TARGET
from podium.catalog.forge.world.row_task import Form, Outcome, World, amounts
from podium.metrics import rmse
from podium.task import Columns

FORM = Form(
    metric="The root mean squared error. Lower is better.",
    submission=ID_AND_TARGET,
)


def outcome(rng: np.random.Generator, world: World, *, hidden: Sequence[str] = ()) -> Outcome:
    """Draw an amount that follows the signal, with noise of equal size for all rows.

    Args:
        hidden: what matters for sure of what no column holds.
    """
    signal = world.draw_mechanism(rng, hidden=hidden).signal
    amount = world.story.domain.amount
    noisy = signal + world.noise * rng.normal(size=world.rows)
    return Outcome(
        target=amounts(amount, noisy).round(3),
        ceiling=amounts(amount, signal),
        asked=f"the {amount.name} in {amount.unit}",
        sample=round((amount.low + amount.high) / 2, 3),
        meaning=f"{amount.name} [{amount.unit}]",
        order=noisy,
    )


family = row_family(
    "tables-regression",
    "How much will it be?",
    "tabular regression",
    metric=rmse,
    submission=Columns(id="id", target="target", values=float),
    form=FORM,
    make_outcome=outcome,
    goal=Goal(),
)
