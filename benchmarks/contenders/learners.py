"""The learners that contend: each is fitted to a table and values, within some seconds, and gives a model.

A model has `predict` and, for labels, `predict_proba` and `classes_`, as in scikit-learn. `linear`, `forest`, `hgb` and
`lightgbm` have the default settings of their libraries; `flaml` and `autogluon-...` search for all the time they get.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

CORES = int(os.environ.get("OMP_NUM_THREADS", "1"))
AUTOGLUON_METRICS = {
    "roc_auc": "roc_auc",
    "log_loss": "log_loss",
    "macro_f1": "f1_macro",
    "accuracy": "accuracy",
    "mae": "mean_absolute_error",
    "rmse": "root_mean_squared_error",
}

Fit = Callable[[pd.DataFrame, pd.Series, bool, str | None, float], Any]
"""A fitted model of features, values, whether these are labels, the metric, and seconds."""
found_best: dict[str, dict[str, Any]] = {}
"""The settings that FLAML has found to be best, by target: a second search starts there."""


def fit_linear(features: pd.DataFrame, values: pd.Series, is_label: bool, metric: str | None, time_s: float) -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        remainder=make_pipeline(SimpleImputer(), StandardScaler()),
    )
    return make_pipeline(columns, LogisticRegression() if is_label else Ridge()).fit(features, values)


def fit_forest(features: pd.DataFrame, values: pd.Series, is_label: bool, metric: str | None, time_s: float) -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((codes, make_column_selector(dtype_include="category")), remainder="passthrough")
    return make_pipeline(columns, RandomForestClassifier() if is_label else RandomForestRegressor()).fit(
        features, values
    )


def fit_hgb(features: pd.DataFrame, values: pd.Series, is_label: bool, metric: str | None, time_s: float) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    return (HistGradientBoostingClassifier() if is_label else HistGradientBoostingRegressor()).fit(features, values)


def fit_lightgbm(features: pd.DataFrame, values: pd.Series, is_label: bool, metric: str | None, time_s: float) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = LGBMClassifier(n_jobs=CORES, verbose=-1) if is_label else LGBMRegressor(n_jobs=CORES, verbose=-1)
    return model.fit(features, values)


def fit_flaml(features: pd.DataFrame, values: pd.Series, is_label: bool, metric: str | None, time_s: float) -> Any:
    from flaml import AutoML

    known = ("roc_auc", "log_loss", "macro_f1", "accuracy") if is_label else ("mae", "rmse")
    model, name = AutoML(), str(values.name)
    model.fit(
        features,
        values,
        task="classification" if is_label else "regression",
        metric=metric if metric in known else "auto",
        time_budget=time_s,
        n_jobs=CORES,
        seed=0,
        verbose=0,
        starting_points=found_best.get(name, "static"),
    )
    found_best[name] = {kind: best for kind, best in model.best_config_per_estimator.items() if best}
    print(f"{name}: {model.best_estimator}", flush=True)
    return model


class AutoGluonModel:
    """AutoGluon's predictor, with a model's methods."""

    def __init__(self, features: pd.DataFrame, values: pd.Series, is_label: bool, metric: str | None) -> None:
        from autogluon.tabular import TabularPredictor

        self._table = features.assign(target=values.to_numpy())
        classes = ("multiclass", "binary")[values.nunique() == 2] if is_label else "regression"
        fits = AUTOGLUON_METRICS.get(metric or "") if (metric in ("mae", "rmse")) != is_label else None
        self._predictor = TabularPredictor(
            "target", problem_type=classes, eval_metric=fits, path=tempfile.mkdtemp(), verbosity=0
        )

    def fit(self, time_s: float, **options: Any) -> AutoGluonModel:
        self._predictor.fit(self._table, time_limit=time_s, num_cpus=CORES, num_gpus=0, **options)
        print(f"AutoGluon: {self._predictor.model_best}", flush=True)
        return self

    @property
    def classes_(self) -> np.ndarray:
        return np.asarray(self._predictor.class_labels)

    def predict(self, features: pd.DataFrame) -> np.ndarray:
        return np.asarray(self._predictor.predict(features))

    def predict_proba(self, features: pd.DataFrame) -> np.ndarray:
        return np.asarray(self._predictor.predict_proba(features)[list(self.classes_)])


def autogluon(**options: Any) -> Fit:
    """AutoGluon with some options of its `fit`.

    In a short time the trial by which it decides about stacking may end without a model, and the whole fit with it. It
    gets the rest of the time without that trial then, as anybody would do who sees it fail.
    """

    def fit(features: pd.DataFrame, values: pd.Series, is_label: bool, metric: str | None, time_s: float) -> Any:
        deadline = time.monotonic() + time_s  # importing it takes seconds
        model = AutoGluonModel(features, values, is_label, metric)
        try:
            return model.fit(max(1.0, deadline - time.monotonic()), **options)
        except (AssertionError, RuntimeError) as error:
            print(f"AutoGluon failed: {error}", flush=True)
        model = AutoGluonModel(features, values, is_label, metric)
        return model.fit(max(1.0, deadline - time.monotonic()), **options, dynamic_stacking=False)

    return fit


LEARNERS: dict[str, tuple[tuple[float, Fit], ...]] = {
    "linear": ((1.0, fit_linear),),
    "forest": ((1.0, fit_forest),),
    "hgb": ((1.0, fit_hgb),),
    "lightgbm": ((1.0, fit_lightgbm),),
    "flaml": ((0.2, fit_flaml), (0.88, fit_flaml)),
    "autogluon-medium": ((0.2, fit_lightgbm), (0.8, autogluon(presets="medium_quality"))),
    "autogluon-best": ((0.2, fit_lightgbm), (0.8, autogluon(presets="best_quality"))),
}
"""By contender what is fitted, and by which share of the time it should be; the rest is for those that take longer than
they were given, as AutoGluon does, and for predicting. AutoGluon's first is LightGBM alone, which takes a second."""
