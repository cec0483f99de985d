"""Ordinal classification: which of five grades does each row get? Some grades are rare."""

from __future__ import annotations

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.world.assemble_family import row_family
from podium.catalog.forge.world.brief import ID_AND_TARGET
from podium.catalog.forge.world.row_task import Form, Outcome, World
from podium.metrics import quadratic_kappa
from podium.task import Columns, Integer

GRADES = np.arange(1, 6)
FORM = Form(
    metric="The quadratic weighted kappa. Higher is better.",
    submission=f"{ID_AND_TARGET}\nGrades go from 1 to 5.",
)


def outcome(rng: np.random.Generator, world: World) -> Outcome:
    """Draw grades as intervals of the signal with its noise."""
    signal = world.draw_mechanism(rng).signal
    shares = rng.dirichlet(np.full(len(GRADES), 4.0))
    judged = signal + world.noise * rng.normal(size=world.rows)
    grade = grades_in_order(judged, shares)
    return Outcome(
        target=grade,
        ceiling=grades_in_order(signal, shares),
        asked=f"the {world.story.domain.grade}",
        sample=int(GRADES[np.argmax(shares)]),
        meaning=f"{world.story.domain.grade}, 1 (low) to 5",
        order=judged,
    )


def grades_in_order(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return grades that rise with the values, each with its share of the rows."""
    edges = np.quantile(values, np.clip(np.cumsum(shares)[:-1], 0, 1))
    return np.asarray(GRADES[np.searchsorted(edges, values)])


def finish(prediction: np.ndarray, target: pd.Series) -> np.ndarray:
    """Predict grades with the same frequencies as in train."""
    return grades_in_order(prediction, np.bincount(target, minlength=6)[1:] / len(target))


family = row_family(
    "ordinal",
    "Which grade is it?",
    "ordinal classification",
    metric=quadratic_kappa,
    submission=Columns(id="id", target="target", values=Integer(1, 5)),
    form=FORM,
    make_outcome=outcome,
    goal=Goal(finish=finish),
)
