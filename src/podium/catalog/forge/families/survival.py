"""Survival: how long until it happens, where for many rows nothing had happened when the records ended?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.world.assemble_family import row_family
from podium.catalog.forge.world.brief import ID_AND_TARGET
from podium.catalog.forge.world.row_task import Form, Outcome, World
from podium.metrics import concordance
from podium.task import Columns

FORM = Form(
    metric="The concordance index. Higher is better.\nPairs count if the earlier time is known.",
    submission=f"{ID_AND_TARGET}\nThere `{{target}}` is a risk: larger means sooner.",
)


def outcome(rng: np.random.Generator, world: World) -> Outcome:
    """Draw Weibull times whose scale follows the signal, with independent censoring."""
    signal = world.draw_mechanism(rng).signal
    typical, shape = 10 ** rng.uniform(1, 2), rng.uniform(0.9, 2.2)
    speed = np.exp(1.6 * signal / (0.5 + world.noise))
    time = typical * (rng.exponential(size=world.rows) / speed) ** (1 / shape)
    watched = rng.exponential(np.quantile(time, rng.uniform(0.6, 0.85)) * 1.5, world.rows)
    shown = np.maximum(np.minimum(time, watched).round(2), 0.01)
    return Outcome(
        target=np.where(time <= watched, shown, -shown),
        ceiling=signal,
        asked=f"how soon the {world.story.domain.wait} comes",
        sample=0.0,
        meaning="days; negative: nothing until then",
        order=time,
    )


def excess_events(target: pd.Series) -> np.ndarray:
    """Return the martingale residual of each row: its event minus the expected number by then, a risk that any model
    can learn.
    """
    shown = target.to_numpy(float)
    time, happened = np.abs(shown), shown > 0
    order = np.argsort(time, kind="stable")
    due = np.empty(len(time))
    due[order] = np.cumsum(happened[order] / np.arange(len(time), 0, -1))
    return np.asarray(happened - due)


family = row_family(
    "survival",
    "How soon will it come?",
    "survival analysis",
    metric=concordance,
    submission=Columns(id="id", target="target", values=float),
    form=FORM,
    make_outcome=outcome,
    goal=Goal(learned=excess_events),
)
