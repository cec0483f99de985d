"""Ensembles: several models of the same table, weighted by how well they do together."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from inspect import signature
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from podium.recipes.kit.learning.blend_weights import blend
from podium.recipes.kit.learning.cross_validation import Fit, Folds, Predictions, PredictRows, Stopping, cross_validate
from podium.recipes.kit.outputs.decisions import best_power, scale_probabilities
from podium.tables.script_settings import SEED, time_used

SCIKIT_SETTINGS: dict[str, list[Any]] = {
    "max_leaf_nodes": [4, 6, 8, 12, 16, 24, 31, 47, 63],
    "min_samples_leaf": [5, 10, 20, 40],
    "l2_regularization": [0.1, 1, 5, 20],
    "max_features": [0.2, 0.4, 0.7, 1.0],
}
LIGHTGBM_SETTINGS: dict[str, list[Any]] = {
    "num_leaves": [4, 8, 16, 31, 63],
    "min_data_in_leaf": [3, 10, 20, 40],
    "lambda_l2": [0.1, 1, 5, 20],
    "feature_fraction": [0.3, 0.5, 0.7, 1.0],
    "extra_trees": [False, True],
}
RANDOM_SETTINGS: dict[str, dict[str, list[Any]]] = {
    "boosting": SCIKIT_SETTINGS,
    "hybrid": SCIKIT_SETTINGS,
    "lightgbm": LIGHTGBM_SETTINGS,
    "plain": {**LIGHTGBM_SETTINGS, "bagging_fraction": [0.7, 0.9], "bagging_freq": [1]},
    "catboost": {
        "depth": [4, 5, 6, 7],
        "l2_leaf_reg": [1, 3, 10],
        "max_ctr_complexity": [1, 2],
        "boosting_type": ["Plain"],
    },
}
"""By kind of boosting the settings to draw from."""


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
    until: float = 0.9,
    refit: bool = False,
) -> Predictions:
    """Run `cross_validate` with several models, as far as time allows, and weight them to minimise the loss.

    Args:
        fits: the models, the most promising first.
        further: more models to train in the time that is left.
        refit: whether models of all train rows predict the test rows, not those of all folds together.
    """
    trained: dict[str, Predictions] = {}
    taken: dict[str, float] = {}
    failures: dict[str, Exception] = {}
    for name, fit in chain(fits.items(), further):
        started, kind = time_used(), name.rstrip(" 0123456789")  # those with random settings are numbered
        if started + min(taken.values(), default=0.0) > until:
            break
        if kind in failures or started + taken.get(kind, 0.0) > until:
            continue
        try:
            oof, prediction, rows = cross_validate(
                numbers, groups, y, folds, fit, usable=usable, until=until, refit=refit, whole=bool(trained)
            )
        except Exception as error:  # noqa: BLE001, one model that does not suit the data must not end the others
            failures[kind] = error
            print(f"{name}: {error!r} after {time_used():.2f} of the time", flush=True)
            continue
        taken[kind] = time_used() - started
        scored = rows if usable is None else rows & usable
        if y.dtype.kind == "i":  # overconfident and underconfident models do not average well
            power = best_power(y[scored], oof[scored])
            oof, prediction = scale_probabilities(oof, power), scale_probabilities(prediction, power)
        trained[name] = oof, prediction, rows
        if len(np.unique(y)) == 1:
            break
        print(f"{name}: loss {loss(y[scored], oof[scored]):.5f} after {time_used():.2f} of the time", flush=True)
    if not trained:
        raise next(iter(failures.values()), TimeoutError("there was no time for a single model"))
    return blend(trained, y, loss, usable)


def random_boosting(**fits: Fit) -> Iterator[tuple[str, Fit]]:
    """Many boosting models with random settings, alternating between kinds of models."""
    rng, kinds = np.random.default_rng(SEED), list(fits)
    for number in range(2, 100):
        kind = kinds[number % len(kinds)]
        rate = float(np.exp(rng.uniform(np.log(0.02), np.log(0.1))))
        options = {name: values[rng.integers(len(values))] for name, values in RANDOM_SETTINGS[kind].items()}
        options |= {"max_iter" if RANDOM_SETTINGS[kind] is SCIKIT_SETTINGS else "rounds": int(12 / rate)}
        yield f"{kind} {number}", partial(fits[kind], learning_rate=rate, **options)


def on_log_scale(fit: Fit, **options: Any) -> Fit:
    """A model of the target's logarithm; its predictions are scaled back so that their sum is right."""

    takes_held = "held" in signature(fit).parameters

    def fit_logged(
        features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, held: Stopping | None = None
    ) -> PredictRows:
        if held is not None and held.rows is not None:
            held = replace(held, rows=(*held.rows[:2], np.log1p(held.rows[2])))
        given = {"held": held} if takes_held else {}
        predict = fit(features, groups, np.log1p(y), seed, **given, **options)
        scale = y.sum() / max(np.expm1(predict(features, groups)).sum(), 1e-9)
        return lambda features, groups: scale * np.expm1(predict(features, groups))

    return fit_logged
