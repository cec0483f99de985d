"""Boosting by libraries that an interpreter may have: LightGBM, XGBoost and CatBoost. They are imported when used."""

from typing import Any

import numpy as np
import pandas as pd

from podium.recipes.kit.environment import CORES
from podium.recipes.kit.validation import LARGE_CELLS, PredictRows

OBJECTIVES = {
    "lightgbm": ("regression", "binary", "multiclass"),
    "xgboost": ("reg:squarederror", "binary:logistic", "multi:softprob"),
    "catboost": ("RMSE", "Logloss", "MultiClass"),
}


def objective(library: str, y: np.ndarray) -> tuple[str, int]:
    """What a library minimises for numbers, two classes or more, and the number of classes; 0 for numbers."""
    classes = int(y.max()) + 1 if y.dtype.kind == "i" else 0
    return OBJECTIVES[library][0 if not classes else 1 if classes <= 2 else 2], classes


def threads(features: np.ndarray) -> int:
    """Folds of small tables run side by side, with a core each."""
    return CORES if features.size > LARGE_CELLS else 1


def lightgbm_trees(
    features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, *, rounds: int = 300, **options: Any
) -> PredictRows:
    """Gradient boosting by LightGBM."""
    import lightgbm

    name, classes = objective("lightgbm", y)
    given = {"objective": name, "seed": seed, "num_threads": threads(features), "verbosity": -1, **options}
    given |= {"num_class": classes} if classes > 2 else {}
    booster = lightgbm.train(given, lightgbm.Dataset(features, y), num_boost_round=rounds)
    return lambda features, groups: np.asarray(booster.predict(features, num_threads=threads(features)))


def xgboost_trees(
    features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, *, rounds: int = 300, **options: Any
) -> PredictRows:
    """Gradient boosting by XGBoost."""
    import xgboost

    def matrix(features: np.ndarray, y: np.ndarray | None = None) -> Any:
        return xgboost.DMatrix(np.where(np.isfinite(features), features, np.nan), y, nthread=threads(features))

    name, classes = objective("xgboost", y)
    given = {"objective": name, "seed": seed, "nthread": threads(features), "verbosity": 0, **options}
    given |= {"num_class": classes} if classes > 2 else {}
    booster = xgboost.train(given, matrix(features, y), num_boost_round=rounds)
    return lambda features, groups: np.asarray(booster.predict(matrix(features)), dtype=float)


def catboost_trees(
    features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, *, rounds: int = 300, **options: Any
) -> PredictRows:
    """Gradient boosting by CatBoost, which encodes groups in its own way."""
    import catboost

    def pool(features: np.ndarray, groups: np.ndarray, y: np.ndarray | None = None) -> Any:
        codes = pd.DataFrame(groups).add_prefix("group ")
        return catboost.Pool(pd.DataFrame(features).add_prefix("number ").join(codes), y, cat_features=list(codes))

    name, classes = objective("catboost", y)
    given = {"loss_function": name, "random_seed": seed, "thread_count": threads(features), "iterations": rounds}
    given |= {"classes_count": classes} if classes > 2 else {}
    model = catboost.CatBoost({**given, "verbose": False, "allow_writing_files": False, **options})
    model.fit(pool(features, groups, y))
    kind = "Probability" if classes else "RawFormulaVal"

    def predict(features: np.ndarray, groups: np.ndarray) -> np.ndarray:
        found = np.asarray(model.predict(pool(features, groups), prediction_type=kind))
        return found[:, 1] if 0 < classes <= 2 else found

    return predict
