"""Quantiles, from estimates and how far these are off."""

from functools import partial

import numpy as np
import pandas as pd

from podium.recipes.kit.models import boosting
from podium.recipes.kit.validation import Folds, cross_validate

MOST_SPREAD = 5.0
"""So much further off than usual is a row expected to be at most, and so much less at least."""


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


def scaled_quantiles(
    numbers: pd.DataFrame,
    groups: pd.DataFrame,
    truth: np.ndarray,
    oof: np.ndarray,
    prediction: np.ndarray,
    rows: np.ndarray,
    folds: Folds,
    levels: list[float],
) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles that lie further from the estimates where another model expects these to be further off.

    Equally far, if that fits the rows better that neither model was fitted on.
    """
    error = np.where(rows, truth - oof, 0.0)
    usual = float(np.mean(np.abs(error[rows]))) or 1.0
    size = np.log(np.clip(np.abs(error) / usual, 0.01, 100))
    fit = partial(boosting, learning_rate=0.05, max_iter=80, max_leaf_nodes=8, min_samples_leaf=20)
    spreads = cross_validate(numbers, groups, size, folds, fit, usable=rows)[:2]
    known, asked = (usual * np.clip(np.exp(spread), 1 / MOST_SPREAD, MOST_SPREAD) for spread in spreads)
    shifts = np.quantile(error[rows] / known[rows], levels)
    found = oof[:, None] + known[:, None] * shifts, prediction[:, None] + asked[:, None] * shifts
    plain = shifted_by_errors(truth, oof, prediction, rows, levels)
    losses = [pinball(truth[rows], one[0][rows], levels) for one in (found, plain)]
    print("loss of quantiles that vary in width, and of equally wide ones:", *np.round(losses, 5), flush=True)
    return found if losses[0] < losses[1] else plain
