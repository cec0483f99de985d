"""Quantile regression: not one number but a range, for amounts that are surer for some rows than for others."""

from __future__ import annotations

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.generic_entrants import Goal, Learn
from podium.catalog.forge.world.assemble_family import row_family
from podium.catalog.forge.world.row_task import Form, Outcome, World, amounts
from podium.metrics import pinball
from podium.task import Columns

LEVELS = (0.1, 0.5, 0.9)
NORMAL_QUANTILES = np.array([-1.2816, 0.0, 1.2816])
COLUMNS = ("q10", "q50", "q90")
FORM = Form(
    metric="The mean pinball loss of three quantiles.\nLower is better.",
    submission="A CSV with `{id}`, `q10`, `q50` and `q90`.\nOne row per row of `test.csv`.\n"
    "`q10` is the 10 % quantile.",
)


def outcome(rng: np.random.Generator, world: World) -> Outcome:
    """Draw amounts, with one mechanism for their mean and another for their spread."""
    signal, scatter = world.draw_mechanism(rng).signal, world.draw_mechanism(rng).signal
    spread = world.noise * np.exp(0.6 * scatter)
    amount = world.story.domain.amount
    values = amounts(amount, signal + spread * rng.normal(size=world.rows)).round(3)
    return Outcome(
        target=values,
        ceiling=amounts(amount, signal[:, None] + spread[:, None] * NORMAL_QUANTILES),
        asked=f"between which bounds the {amount.name} lies",
        sample=dict(zip(COLUMNS, amounts(amount, np.array([-1.5, 0.0, 1.5])).round(3).tolist(), strict=True)),
        meaning=f"{amount.name} [{amount.unit}]",
        answers=pd.DataFrame(dict.fromkeys(COLUMNS, values)),
        order=values,
    )


def fit(learn: Learn, train: np.ndarray, target: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Fit two models on half of the rows each, and a third to their errors on the other half."""
    half = rng.random(len(train)) < 0.5
    missed, middles = np.empty(len(train)), []
    for part in (half, ~half):
        found = learn(train[~part], target[~part], np.concatenate([train[part], test]), rng)
        missed[part] = target[part] - found[: part.sum()]
        middles.append(found[part.sum() :])
    typical = np.abs(missed).mean()
    spread = np.clip(learn(train, np.abs(missed), test, rng), 0.3 * typical, 3 * typical)
    return np.asarray(np.mean(middles, axis=0)[:, None] + spread[:, None] * np.quantile(missed / typical, LEVELS))


def finish(prediction: np.ndarray, target: pd.Series) -> np.ndarray:
    """Convert one number to a range of the same width for all rows."""
    if prediction.ndim > 1:
        return prediction
    return np.asarray(prediction[:, None] + 0.8 * np.quantile(target - target.mean(), LEVELS))


family = row_family(
    "quantiles",
    "Between which bounds?",
    "quantile regression",
    metric=pinball.using(quantiles=LEVELS),
    submission=Columns(id="id", target=COLUMNS, values=float),
    form=FORM,
    make_outcome=outcome,
    goal=Goal(finish=finish, fit=fit),
)
