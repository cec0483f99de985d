"""Ensembles: several models of the same table, weighted by how well they do together."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from podium.recipes.kit.blending import blend
from podium.recipes.kit.decisions import best_power, scale_probabilities
from podium.recipes.kit.environment import SEED, time_used
from podium.recipes.kit.validation import Fit, Folds, Predictions, PredictRows, cross_validate


def train_ensemble(
    numbers: pd.DataFrame,
    groups: pd.DataFrame,
    y: np.ndarray,
    folds: Folds,
    fits: dict[str, Fit],
    loss: Callable[[Any, Any], float],
    *,
    usable: np.ndarray | None = None,
    further: Iterable[tuple[str, Fit]] = (),
    until: float = 0.85,
) -> Predictions:
    """Like `cross_validate` with several models, as many as there is time for, weighted to minimise the loss.

    Args:
        fits: the models, the most promising first.
        further: more models to train in the time that is left.
    """
    trained: dict[str, Predictions] = {}
    started, most = time_used(), 0
    for name, fit in chain(fits.items(), further):
        if trained and time_used() + (time_used() - started) / len(trained) > until:
            break
        try:
            oof, prediction, rows = cross_validate(
                numbers, groups, y, folds, fit, usable=usable, until=until, refit=True
            )
        except TimeoutError:
            if not trained:
                raise
            break
        if trained and rows.sum() < most:
            break
        most = rows.sum()
        scored = rows if usable is None else rows & usable
        if y.dtype.kind == "i":  # overconfident and underconfident models do not average well
            power = best_power(y[scored], oof[scored])
            oof, prediction = scale_probabilities(oof, power), scale_probabilities(prediction, power)
        trained[name] = oof, prediction, rows
        if len(np.unique(y)) == 1:
            break
        print(f"{name}: loss {loss(y[scored], oof[scored]):.5f} after {time_used():.2f} of the time", flush=True)
    return blend(trained, y, loss, usable)


def random_boosting(*fits: Callable[..., PredictRows]) -> Iterator[tuple[str, Fit]]:
    """Many boosting models with random settings, alternating between kinds of models."""
    rng = np.random.default_rng(SEED)
    for number in range(2, 100):
        rate = float(np.exp(rng.uniform(np.log(0.02), np.log(0.1))))
        options = {
            "learning_rate": rate,
            "max_iter": int(rng.uniform(6, 14) / rate),
            "max_leaf_nodes": int(rng.choice([4, 6, 8, 12, 16, 24, 31, 47, 63])),
            "min_samples_leaf": int(rng.choice([5, 10, 20, 40])),
            "l2_regularization": float(rng.choice([0.1, 1, 5, 20])),
            "max_features": float(rng.choice([0.2, 0.4, 0.7, 1.0])),
        }
        fit = fits[number % len(fits)]
        yield f"{fit.__name__} {number}", with_options(fit, options)


def with_options(fit: Callable[..., PredictRows], options: dict[str, Any]) -> Fit:
    """A model with some of its options set."""
    return lambda features, groups, y, seed: fit(features, groups, y, seed, **options)


def on_log_scale(fit: Callable[..., PredictRows], **options: Any) -> Fit:
    """A model of the target's logarithm; its predictions are scaled back so that their sum is right."""

    def fit_logged(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int) -> PredictRows:
        predict = fit(features, groups, np.log1p(y), seed, **options)
        scale = y.sum() / max(np.expm1(predict(features, groups)).sum(), 1e-9)
        return lambda features, groups: scale * np.expm1(predict(features, groups))

    return fit_logged
