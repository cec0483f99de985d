"""Boosting by libraries that an interpreter may have: LightGBM, XGBoost and CatBoost. They are imported when used.

Each adds `rounds` trees, or where rows are held out as many as help there and its share of the time allows; or as many
as helped where rows were held out before.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from podium.recipes.kit.learning.cross_validation import LARGE_CELLS, PredictRows, Stopping
from podium.recipes.kit.learning.fit_models import MAX_ROUNDS, PATIENCE
from podium.tables.script_settings import CORES, time_used

OBJECTIVES = {
    "lightgbm": ("regression", "binary", "multiclass"),
    "xgboost": ("reg:squarederror", "binary:logistic", "multi:softprob"),
    "catboost": ("RMSE", "Logloss", "MultiClass"),
}
FIT_SHARE = 0.04
"""The share of the script's time after which a model that stops by held-out rows gets no further trees."""


def objective(library: str, y: np.ndarray) -> tuple[str, int]:
    """Objectives of a library for numbers, two classes or more, and the number of classes; 0 for numbers."""
    classes = int(y.max()) + 1 if y.dtype.kind == "i" else 0
    return OBJECTIVES[library][0 if not classes else 1 if classes <= 2 else 2], classes


def threads(features: np.ndarray) -> int:
    """Folds of small tables run side by side, with a core each."""
    return CORES if features.size > LARGE_CELLS else 1


def most_rounds(held: Stopping | None, usual: int) -> int:
    """Return the maximum number of trees, which is high with rows held out for early stopping."""
    if held is None:
        return usual
    return held.rounds(usual) if held.rows is None else MAX_ROUNDS


def lightgbm_trees(
    features: np.ndarray,
    groups: np.ndarray,
    y: np.ndarray,
    seed: int,
    held: Stopping | None = None,
    *,
    rounds: int = 300,
    categories: Sequence[int] = (),
    **options: Any,
) -> PredictRows:
    """Gradient boosting by LightGBM, with given columns as categorical features."""
    import lightgbm

    latest = time_used() + FIT_SHARE

    def stop_late(state: Any) -> None:
        if time_used() > latest:
            raise lightgbm.callback.EarlyStopException(state.iteration, state.evaluation_result_list)

    name, classes = objective("lightgbm", y)
    given = {"objective": name, "seed": seed, "num_threads": threads(features), "verbosity": -1, **options}
    given |= {"num_class": classes} if classes > 2 else {}
    rows, stopping = lightgbm.Dataset(features, y, categorical_feature=list(categories)), {}
    if held is not None and held.rows is not None:
        valid = rows.create_valid(held.rows[0], held.rows[2])
        stopping = {"valid_sets": [valid], "callbacks": [lightgbm.early_stopping(PATIENCE, verbose=False), stop_late]}
    booster = lightgbm.train(given, rows, num_boost_round=most_rounds(held, rounds), **stopping)
    if held is not None and stopping:
        held.best.append(booster.best_iteration)
    return lambda features, groups: np.asarray(booster.predict(features, num_threads=threads(features)))


def plain_trees(
    features: np.ndarray,
    groups: np.ndarray,
    y: np.ndarray,
    seed: int,
    held: Stopping | None = None,
    *,
    columns: int,
    **options: Any,
) -> PredictRows:
    """Gradient boosting by LightGBM on the first columns of the features, and on groups, which it encodes itself.

    What is computed of columns helps with most tables, but may be mere noise where rows are few.
    """

    def plain(features: np.ndarray, groups: np.ndarray) -> np.ndarray:
        return np.hstack([features[:, :columns], groups])

    if held is not None and held.rows is not None:
        held = replace(held, rows=(plain(*held.rows[:2]), *held.rows[1:]))
    categories = range(columns, columns + groups.shape[1])
    predict = lightgbm_trees(plain(features, groups), groups, y, seed, held, categories=categories, **options)
    return lambda features, groups: predict(plain(features, groups), groups)


def xgboost_trees(
    features: np.ndarray,
    groups: np.ndarray,
    y: np.ndarray,
    seed: int,
    held: Stopping | None = None,
    *,
    rounds: int = 300,
    **options: Any,
) -> PredictRows:
    """Gradient boosting by XGBoost."""
    import xgboost

    def matrix(features: np.ndarray, y: np.ndarray | None = None) -> Any:
        return xgboost.DMatrix(np.where(np.isfinite(features), features, np.nan), y, nthread=threads(features))

    latest = time_used() + FIT_SHARE

    class StopLate(xgboost.callback.TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return time_used() > latest

    name, classes = objective("xgboost", y)
    given = {"objective": name, "seed": seed, "nthread": threads(features), "verbosity": 0, **options}
    given |= {"num_class": classes} if classes > 2 else {}
    stopping: dict[str, Any] = {}
    if held is not None and held.rows is not None:
        stopping = {"evals": [(matrix(held.rows[0], held.rows[2]), "held")], "early_stopping_rounds": PATIENCE}
        stopping |= {"callbacks": [StopLate()]}
    rounds = most_rounds(held, rounds)
    booster = xgboost.train(given, matrix(features, y), num_boost_round=rounds, verbose_eval=False, **stopping)
    used = (0, booster.best_iteration + 1 if stopping else 0)
    if held is not None and stopping:
        held.best.append(used[1])
    return lambda features, groups: np.asarray(booster.predict(matrix(features), iteration_range=used), dtype=float)


def catboost_trees(
    features: np.ndarray,
    groups: np.ndarray,
    y: np.ndarray,
    seed: int,
    held: Stopping | None = None,
    *,
    rounds: int = 300,
    **options: Any,
) -> PredictRows:
    """Gradient boosting by CatBoost, which encodes groups in its own way."""
    import catboost

    latest = time_used() + FIT_SHARE

    class StopLate:
        def after_iteration(self, state: Any) -> bool:
            return time_used() < latest

    def pool(features: np.ndarray, groups: np.ndarray, y: np.ndarray | None = None) -> Any:
        codes = pd.DataFrame(groups).add_prefix("group ")
        return catboost.Pool(pd.DataFrame(features).add_prefix("number ").join(codes), y, cat_features=list(codes))

    name, classes = objective("catboost", y)
    given = {"loss_function": name, "random_seed": seed, "thread_count": threads(features)}
    given |= {"iterations": most_rounds(held, rounds)} | ({"classes_count": classes} if classes > 2 else {})
    stopping: dict[str, Any] = {}
    if held is not None and held.rows is not None:
        stopping = {"eval_set": pool(*held.rows), "early_stopping_rounds": PATIENCE, "callbacks": [StopLate()]}
    model = catboost.CatBoost({**given, "verbose": False, "allow_writing_files": False, **options})
    model.fit(pool(features, groups, y), **stopping)
    if held is not None and stopping:
        held.best.append(model.get_best_iteration() + 1)
    kind = "Probability" if classes else "RawFormulaVal"

    def predict(features: np.ndarray, groups: np.ndarray) -> np.ndarray:
        found = np.asarray(model.predict(pool(features, groups), prediction_type=kind))
        return found[:, 1] if 0 < classes <= 2 else found

    return predict
