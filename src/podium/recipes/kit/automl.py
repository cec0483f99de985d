"""Hands a table to libraries that search for models themselves: FLAML and AutoGluon. They are imported when used."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from podium.recipes.kit.environment import CORES, SEED, TIME_S, time_used
from podium.recipes.kit.models import predictor
from podium.recipes.kit.validation import Fit, Folds, Predictions, PredictRows, encode_targets, numeric_target

SEARCH_SHARE = 0.45
"""The share of the time for FLAML's search; what it finds is then fitted on each fold."""


def flaml_fit(
    numbers: pd.DataFrame, groups: pd.DataFrame, y: np.ndarray, folds: Folds, metric: str, weight: float = 10.0
) -> Fit:
    """The model that FLAML finds on the train rows of the first fold, as what fits the same model to others."""
    from flaml import AutoML

    learn, _ = folds[0]
    features, codes = numbers.to_numpy(float)[learn], groups.to_numpy(int)[learn]
    if codes.shape[1]:
        own, _ = encode_targets(codes, numeric_target(y)[learn], codes[:1], weight)
        features = np.hstack([features, own])
    search = AutoML()
    search.fit(
        pd.DataFrame(features).add_prefix("f"),
        y[learn],
        task="classification" if y.dtype.kind == "i" else "regression",
        metric=metric,
        time_budget=max(1.0, (SEARCH_SHARE - time_used()) * TIME_S),
        n_jobs=CORES,
        seed=SEED + 1,
        verbose=0,
        early_stop=True,
    )
    found = search.model.estimator
    print("FLAML found", search.best_estimator, search.best_config, flush=True)

    def fit(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int) -> PredictRows:
        model = clone(found).fit(pd.DataFrame(features).add_prefix("f"), y)
        predict = predictor(model, y)
        return lambda features, groups: predict(pd.DataFrame(features).add_prefix("f"))

    return fit


def autogluon_predictions(
    table: pd.DataFrame, y: np.ndarray, metric: str | None, folder: str = "autogluon"
) -> Predictions:
    """Predictions by AutoGluon's bagged models, of train rows out of fold.

    Args:
        table: the columns of all rows as they are, train rows first.
    """
    from autogluon.tabular import TabularPredictor

    rows, classes = len(y), int(y.max()) + 1 if y.dtype.kind == "i" else 0
    problem = "regression" if not classes else "binary" if classes == 2 else "multiclass"
    learn = table[:rows].assign(**{"the target": y})
    search = TabularPredictor("the target", problem_type=problem, eval_metric=metric, path=folder, verbosity=0)
    budget = max(1.0, (0.7 - time_used()) * TIME_S)  # it takes longer than it is told
    search.fit(learn, time_limit=budget, presets="best_quality", dynamic_stacking=False, num_cpus=CORES, num_gpus=0)
    given: Callable[..., Any] = search.predict_proba if classes else search.predict
    known = search.predict_proba_oof() if classes else search.predict_oof()
    oof, prediction = np.asarray(known, dtype=float), np.asarray(given(table[rows:]), dtype=float)
    if classes == 2:
        oof, prediction = oof[:, 1], prediction[:, 1]
    return oof, prediction, np.isfinite(oof if oof.ndim == 1 else oof[:, 0])
