"""Quantiles, from estimates and how far these are off."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from podium.recipes.kit.learning.cross_validation import cross_validate
from podium.recipes.kit.learning.fit_models import boosting
from podium.tables.script_settings import LATEST, SEED

MAX_SPREAD = 5.0
"""Largest ratio of a row's expected error to the usual one; its inverse is the smallest."""


def pinball(truth: np.ndarray, prediction: np.ndarray, levels: list[float]) -> float:
    """The mean pinball loss of quantiles in the columns of a prediction."""
    difference = truth[:, None] - (prediction[:, None] if prediction.ndim == 1 else prediction)
    return float(np.mean(np.maximum(np.array(levels) * difference, (np.array(levels) - 1) * difference)))


def shifted_by_errors(
    truth: np.ndarray, oof: np.ndarray, prediction: np.ndarray, rows: np.ndarray, levels: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles that lie equally far from the estimates of all rows."""
    shifts = np.quantile((truth - oof)[rows], levels)
    return oof[:, None] + shifts, prediction[:, None] + shifts


def quantiles_of_estimates(
    numbers: pd.DataFrame,
    groups: pd.DataFrame,
    truth: np.ndarray,
    estimates: tuple[np.ndarray, np.ndarray],
    rows: np.ndarray,
    levels: list[float],
) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles that lie further from the estimates of train and test rows where these are further off.

    Either as far as a model of the error's size says, or where models of the error's quantiles say; or both averaged,
    or all equally far: what fits the rows best that none of the models was fitted on.
    """
    oof, prediction = estimates
    error = np.where(rows, truth - oof, 0.0)
    usual = float(np.mean(np.abs(error[rows]))) or 1.0
    features = numbers.assign(**{"the estimate": np.r_[oof, prediction]})
    known = np.flatnonzero(rows)  # where test comes later, only the last rows of train have estimates
    folds = [(known[learn], known[check]) for learn, check in KFold(5, shuffle=True, random_state=SEED).split(known)]

    def learnt(y: np.ndarray, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        fit = partial(boosting, learning_rate=0.05, max_iter=80, max_leaf_nodes=8, min_samples_leaf=20, **options)
        return cross_validate(features, groups, y, folds, fit, until=LATEST)[:2]

    sizes = learnt(np.log(np.clip(np.abs(error) / usual, 0.01, 100)))
    spreads = [usual * np.clip(np.exp(size), 1 / MAX_SPREAD, MAX_SPREAD) for size in sizes]
    shifts = np.quantile(error[rows] / spreads[0][rows], levels)
    columns = [learnt(error, loss="quantile", quantile=level) for level in levels]
    scaled = [one[:, None] + spread[:, None] * shifts for one, spread in zip(estimates, spreads, strict=True)]
    direct = [
        one[:, None] + np.sort(np.column_stack(found), axis=1)
        for one, found in zip(estimates, zip(*columns, strict=True), strict=True)
    ]
    ways = {
        "equally far": shifted_by_errors(truth, oof, prediction, rows, levels),
        "scaled": (scaled[0], scaled[1]),
        "learnt": (direct[0], direct[1]),
        "both": ((scaled[0] + direct[0]) / 2, (scaled[1] + direct[1]) / 2),
    }
    losses = {name: pinball(truth[rows], one[0][rows], levels) for name, one in ways.items()}
    print("loss of quantiles:", {name: round(one, 5) for name, one in losses.items()}, flush=True)
    return ways[min(losses, key=lambda name: losses[name])]
