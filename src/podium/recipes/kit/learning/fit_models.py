"""Models: each is fitted to features and a target and returns a function that predicts."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, SplineTransformer, StandardScaler

from podium.recipes.kit.learning.cross_validation import Fit, PredictRows, Stopping, numeric_target
from podium.tables.script_settings import CORES

MAX_ROUNDS = 3000
PATIENCE = 40
"""Number of rounds without improvement on held-out rows after which boosting stops."""
MAX_ONE_HOT_COLUMNS = 1000
"""Largest number of one-hot columns; solving for more takes too long."""
ONE_HOT_WORK = 2e10
"""The number of rows times the square of that of one-hot columns is at most this, some seconds of one core."""
LARGE_LOGISTIC = 30_000_000
"""With more weights times rows, a logistic regression is fitted once and not to the end."""


def predictor(model: Any, y: np.ndarray) -> Callable[..., np.ndarray]:
    """Return the prediction function of a model: numbers, the probability of class 1, or probabilities per class."""
    if not hasattr(model, "predict_proba"):
        return lambda features, groups=None: np.asarray(model.predict(features), dtype=float)
    if y.max() <= 1:
        return lambda features, groups=None: np.asarray(model.predict_proba(features)[:, -1])
    classes = np.asarray(model.classes_, dtype=int)

    def predict(features: Any, groups: Any = None) -> np.ndarray:
        columns = np.zeros((features.shape[0], int(y.max()) + 1))
        columns[:, classes] = model.predict_proba(features)
        return columns

    return predict


def boosting(
    features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, held: Stopping | None = None, **options: Any
) -> PredictRows:
    """Histogram gradient boosting; whole numbers are classes."""
    kind = HistGradientBoostingClassifier if y.dtype.kind == "i" else HistGradientBoostingRegressor
    stopping = {}
    if held is not None and held.rows is not None and "X_val" in signature(kind.fit).parameters:
        stopping = {"X_val": held.rows[0], "y_val": held.rows[2]}
        options |= {"max_iter": MAX_ROUNDS, "n_iter_no_change": PATIENCE // 4}  # trees after the best round stay
    elif held is not None:
        options |= {"max_iter": held.rounds(options.get("max_iter", 100))}
    model = kind(random_state=seed, early_stopping=bool(stopping), **options).fit(features, y, **stopping)
    if held is not None and stopping:
        held.best.append(model.n_iter_)
    return predictor(model, y)


def shallow_boosting(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int) -> PredictRows:
    """Boosting that is quick to fit."""
    return boosting(features, groups, y, seed, learning_rate=0.1, max_iter=60, max_leaf_nodes=8)


def forest(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, **options: Any) -> PredictRows:
    """Extremely randomised trees."""
    kind = ExtraTreesClassifier if y.dtype.kind == "i" else ExtraTreesRegressor
    model = make_pipeline(median_imputer(), kind(random_state=seed, n_jobs=CORES, **options))
    return predictor(model.fit(features, y), y)


def fit_splines(
    features: np.ndarray, groups: np.ndarray, seed: int, knots: int
) -> tuple[Callable[..., np.ndarray], np.ndarray]:
    """The features of an additive model: splines of each number, its logarithm, and one-hot columns of groups.

    Returns the fitted transformation and the transformed features.
    """
    splines = make_pipeline(
        median_imputer(),
        QuantileTransformer(n_quantiles=min(200, len(features)), random_state=seed),
        SplineTransformer(n_knots=knots, degree=3, include_bias=False),
        StandardScaler(),
    )
    scale = make_pipeline(median_imputer(), StandardScaler())
    one_hot = one_hot_encoder(groups, 800)
    known = np.isfinite(features)
    least, most = np.min(features, 0, initial=np.inf, where=known), np.max(features, 0, initial=-np.inf, where=known)

    def transform(features: np.ndarray, groups: np.ndarray, *, learn: bool = False) -> np.ndarray:
        features = np.clip(features, least, most)  # later times, say, are not taken further than anybody has seen
        logs = np.log(np.where(features > 0, features, np.nan))
        parts = [(splines, features), (scale, logs), (one_hot, groups)][: 3 if groups.shape[1] else 2]
        transformed = [part.fit_transform(given) if learn else part.transform(given) for part, given in parts]
        return np.hstack([part.astype(np.float32) for part in transformed])

    return transform, transform(features, groups, learn=True)


def one_hot_encoder(groups: np.ndarray, most: int) -> OneHotEncoder:
    """Makes a column for each group that is not rare; for fewer where it would take long."""
    sizes = groups.max(axis=0, initial=0) + 1
    columns = min(MAX_ONE_HOT_COLUMNS, (ONE_HOT_WORK / max(1, len(groups))) ** 0.5)
    while most > 2 and np.minimum(sizes, most).sum() > columns:
        most = max(2, most * 2 // 3)
    options = {"min_frequency": 3, "max_categories": most, "handle_unknown": "ignore"}
    return OneHotEncoder(**options, sparse_output=False, dtype=np.float32)


def additive(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, *, knots: int = 4) -> PredictRows:
    """A sum of smooth functions, one per feature, and of an effect of each group."""
    transform, transformed = fit_splines(features, groups, seed, knots)
    predict = linear(transformed, y, seed)
    return lambda features, groups: predict(transform(features, groups))


def hybrid(
    features: np.ndarray,
    groups: np.ndarray,
    y: np.ndarray,
    seed: int,
    held: Stopping | None = None,
    *,
    knots: int = 4,
    trees: Fit = boosting,
    **options: Any,
) -> PredictRows:
    """An additive model first; boosting then learns its residuals, or with classes also uses its predictions."""
    is_number = y.dtype.kind != "i"
    transform, transformed = fit_splines(features, groups, seed, knots)
    base, first = ridge(transformed, numeric_target(y))
    if held is not None and held.rows is not None:
        of_held, groups_of_held, truth = held.rows
        base_of_held = base(transform(of_held, groups_of_held))
        left = truth - base_of_held if is_number else truth
        held = replace(held, rows=(np.column_stack([of_held, base_of_held]), groups_of_held, left))
    target = y - first if is_number else y
    boosted = trees(np.column_stack([features, first]), groups, target, seed, held, **options)

    def predict(features: np.ndarray, groups: np.ndarray) -> np.ndarray:
        base_prediction = base(transform(features, groups))
        boosted_prediction = boosted(np.column_stack([features, base_prediction]), groups)
        return np.asarray(base_prediction + boosted_prediction if is_number else boosted_prediction)

    return predict


def linear(features: np.ndarray, y: np.ndarray, seed: int) -> Callable[..., np.ndarray]:
    """A linear model of numbers or classes, with the penalty that suits rows it was not fitted on."""
    return ridge(features, y)[0] if y.dtype.kind != "i" else logistic(features, y, seed)


def ridge(features: np.ndarray, y: np.ndarray) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
    """A ridge regression, and its prediction of each row when that row is left out.

    These leave-one-out errors choose the penalty. With many rows, all are assumed to have the same leverage.
    """
    centre, level = features.mean(axis=0), y.mean(axis=0)
    centred_y, centred = y - level, features - centre
    eigenvalues, eigenvectors = np.linalg.eigh((centred.T @ centred).astype(float))
    eigenvalues, projected = np.maximum(eigenvalues, 0), eigenvectors.T @ (centred.T @ centred_y)
    rotated = centred @ eigenvectors if features.size < 5_000_000 else None
    best, chosen, left_out = np.inf, np.zeros(0), y
    for penalty in (1.0, 10.0, 100.0, 1000.0, 10000.0):
        inverse = 1 / (eigenvalues + penalty)
        weights = eigenvectors @ (inverse * projected.T).T
        leverage = (eigenvalues * inverse).sum() / len(y) if rotated is None else (rotated**2) @ inverse
        errors = ((centred_y - centred @ weights).T / np.maximum(1 - leverage, 1e-2)).T
        if np.mean(errors**2) < best:
            best, chosen, left_out = float(np.mean(errors**2)), weights, y - errors
    return (lambda features: np.asarray((features - centre) @ chosen + level)), left_out


def logistic_regression(inverse_penalty: float, *, steps: int, tolerance: float = 1e-4) -> LogisticRegression:
    """Logistic regression with a limit on its iterations: the last ones are slow and gain little, so convergence
    warnings are suppressed."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    return LogisticRegression(C=inverse_penalty, max_iter=steps, tol=tolerance)


def logistic(features: np.ndarray, y: np.ndarray, seed: int) -> Callable[..., np.ndarray]:
    """Logistic regression; rows held back choose the penalty, unless that takes long."""
    if features.size * (y.max() + 1) > LARGE_LOGISTIC:
        return predictor(logistic_regression(0.03, steps=25).fit(features, y), y)
    learn, check = train_test_split(np.arange(len(y)), test_size=0.25, random_state=seed)
    best, chosen = np.inf, 0.01
    for inverse in (0.003, 0.03, 0.3):
        model = logistic_regression(inverse, steps=100).fit(features[learn], y[learn])
        probability = predictor(model, y)(features[check])
        probability = probability if probability.ndim == 2 else np.column_stack([1 - probability, probability])
        loss = -np.mean(np.log(probability[np.arange(len(check)), y[check]] + 1e-6))
        if loss < best:
            best, chosen = float(loss), inverse
    return predictor(logistic_regression(chosen, steps=200).fit(features, y), y)


def median_imputer() -> Any:
    """Replaces missing numbers by medians."""
    return SimpleImputer(strategy="median", keep_empty_features=True)
