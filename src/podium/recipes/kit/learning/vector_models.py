"""Learning from vectors: rows of many numbers, such as features of an image, a clip or a node.

A model is made by `fit(features, y, seed)` and predicts by being called with features. `y` holds indices of classes,
numbers, or a column of either for each label.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeCV
from sklearn.svm import SVC

from podium.recipes.kit.learning.blend_weights import blend
from podium.recipes.kit.learning.cross_validation import Folds, Predictions, cross_predict, numeric_target, pad_classes
from podium.recipes.kit.learning.fit_models import logistic_regression
from podium.tables.script_settings import CORES, SEED, time_used

VectorModel = Callable[[np.ndarray], np.ndarray]
VectorFit = Callable[[np.ndarray, np.ndarray, int], VectorModel]


def one_hot_groups(groups: pd.DataFrame, most: int = 50) -> pd.DataFrame:
    """A column of 0 and 1 for each value of groups that have few values."""
    few = [name for name in groups if groups[name].nunique() <= most]
    return pd.get_dummies(groups[few].astype(str), dtype=float) if few else pd.DataFrame(index=groups.index)


def cross_validate_vectors(
    features: np.ndarray, y: np.ndarray, folds: Folds, fit: VectorFit, until: float = 0.9
) -> Predictions:
    """Predictions for train rows by models that were not fitted on them, and for test rows by all models.

    Args:
        features: of all rows, train rows first.
        until: the share of the script's time after which no further fold is started.
    """
    tests = features[len(y) :]

    def predict_fold(number: int, learn: np.ndarray, check: np.ndarray) -> np.ndarray:
        model = fit(features[learn], y[learn], SEED + number)
        return pad_classes(model(np.concatenate([features[check], tests])), y)

    return cross_predict(predict_fold, folds, len(y), until=until)


def fit_blend(
    features: np.ndarray,
    y: np.ndarray,
    folds: Folds,
    fits: dict[str, VectorFit],
    loss: Callable[[Any, Any], float],
) -> Predictions:
    """Like `cross_validate_vectors` with as many models as there is time for, weighted to minimise the loss."""
    trained: dict[str, Predictions] = {}
    slowest = 0.0
    for number, (name, fit) in enumerate(fits.items()):
        started = time_used()
        if started + slowest > 0.9 and number:
            break
        until = max(0.5, started + (0.9 - started) / (len(fits) - number))
        try:
            oof, _, rows = trained[name] = cross_validate_vectors(features, y, folds, fit, until)
        except TimeoutError:
            if not trained:
                raise
            break
        slowest = max(slowest, time_used() - started)
        print(name, "has a loss of", round(loss(y[rows], oof[rows]), 5), flush=True)
    return blend(trained, y, loss)


def fit_linear(features: np.ndarray, y: np.ndarray, seed: int, *, inverse_penalty: float = 2.0) -> VectorModel:
    """Logistic regression of classes, ridge regression of numbers.

    Args:
        inverse_penalty: for classes; numbers are cross-validated.
    """
    total_variance = float(features.var(axis=0).sum()) + 1e-9
    if y.dtype.kind != "i":
        ridge = RidgeCV(alphas=total_variance * np.logspace(-3, 3, 13)).fit(features, y)
        return lambda values: np.asarray(ridge.predict(values))

    def one(column: np.ndarray) -> VectorModel:
        model = logistic_regression(inverse_penalty, steps=200, tolerance=1e-3).fit(
            features / np.sqrt(total_variance), column
        )
        return lambda values: predict_columns(model, values / np.sqrt(total_variance), column)

    return fit_each_label(one, y)


def fit_kernel(
    features: np.ndarray, y: np.ndarray, seed: int, *, first: int = 150, penalty: float = 5.0, centres: int = 1500
) -> VectorModel:
    """A Gaussian kernel model: a support vector machine for classes, kernel ridge regression for numbers.

    Args:
        first: how many features are used; `principal_components` sorts them by importance.
        centres: how many rows the kernel is approximated on; with many more rows, classes use the approximation too.
    """
    used = features[:, :first]
    if y.dtype.kind == "i" and len(y) <= 3 * centres:

        def one(column: np.ndarray) -> VectorModel:
            model = SVC(C=penalty).fit(used, column)
            return lambda values: svm_probabilities(model, values[:, :first], column)

        return fit_each_label(one, y)
    gamma = 1 / max(float(used.var(axis=0).sum()), 1e-9)
    kernel_features = Nystroem(gamma=gamma, n_components=min(centres, len(y)), random_state=seed).fit(used)
    linear = fit_linear(kernel_features.transform(used), y, seed, inverse_penalty=20.0)
    return lambda values: linear(kernel_features.transform(values[:, :first]))


def fit_each_label(one: Callable[[np.ndarray], VectorModel], y: np.ndarray) -> VectorModel:
    """A model of `y`, one for each label where there are several; what never varies needs none."""
    if y.ndim > 1:
        models = [fit_each_label(one, column) for column in y.T]
        return lambda values: np.column_stack([model(values) for model in models])
    return one(y) if y.min() < y.max() else constant_model(y)


def constant_model(y: np.ndarray) -> VectorModel:
    """Predicts for every row what all rows of `y` are."""
    return lambda values: np.repeat(numeric_target(y)[:1], len(values), axis=0)


def svm_probabilities(model: Any, values: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Class probabilities by a support vector machine, in the form of `y`."""
    probabilities = margin_probabilities(model.decision_function(values))
    if y.max() <= 1:
        return probabilities
    columns = np.zeros((len(values), int(y.max()) + 1))
    if probabilities.ndim == 1:
        probabilities = np.column_stack([1 - probabilities, probabilities])
    columns[:, model.classes_] = probabilities
    return columns


def margin_probabilities(margins: np.ndarray) -> np.ndarray:
    """Distances from the decision boundaries as rough probabilities."""
    if margins.ndim == 1:
        return np.asarray(1 / (1 + np.exp(-2 * margins)))
    return np.asarray(softmax(2 * margins, axis=1))


def fit_trees(features: np.ndarray, y: np.ndarray, seed: int, *, count: int = 200, leaf: int = 2) -> VectorModel:
    """Extremely randomised trees."""
    options: dict[str, Any] = {"n_estimators": count, "min_samples_leaf": leaf, "n_jobs": CORES, "random_state": seed}
    options["max_features"] = "sqrt"
    kind = ExtraTreesClassifier if y.dtype.kind == "i" else ExtraTreesRegressor
    model = kind(**options).fit(features, y)
    return lambda values: predict_columns(model, values, y)


def fit_boosting(features: np.ndarray, y: np.ndarray, seed: int, *, first: int = 10_000, **options: Any) -> VectorModel:
    """Gradient boosting, optionally on the first features only."""
    used = features[:, :first]
    kind = HistGradientBoostingClassifier if y.dtype.kind == "i" else HistGradientBoostingRegressor

    def one(column: np.ndarray) -> VectorModel:
        model = kind(random_state=seed, early_stopping=False, **options).fit(used, column)
        return lambda values: predict_columns(model, values[:, :first], column)

    return fit_each_label(one, y)


def predict_columns(model: Any, values: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Predictions in the form of `y`: numbers, the probability of class 1 (of each label), or of each class."""
    if y.dtype.kind != "i":
        return np.asarray(model.predict(values))
    probabilities = model.predict_proba(values)
    if y.ndim > 1:
        constant = np.ones(len(values))
        pairs = zip(probabilities, y.T, strict=True)
        return np.column_stack([part[:, 1] if part.shape[1] > 1 else one[0] * constant for part, one in pairs])
    if y.max() <= 1:
        return np.asarray(probabilities @ model.classes_)
    columns = np.zeros((len(values), int(y.max()) + 1))
    columns[:, model.classes_] = probabilities
    return columns


def standardise(features: np.ndarray) -> np.ndarray:
    """Features with mean 0 and standard deviation 1; missing values become 0 and outliers are clipped."""
    known = np.isfinite(features)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, features, 0).sum(axis=0) / count
    spread = np.sqrt((np.where(known, features - mean, 0) ** 2).sum(axis=0) / count)
    spread = np.where(spread > 1e-9, spread, 1.0)
    standardised: np.ndarray = np.nan_to_num((features - mean) / spread)
    return np.asarray(np.clip(standardised, -8, 8), dtype=np.float32)


def principal_components(features: np.ndarray, parts: int) -> np.ndarray:
    """The first principal components of standardised features, sorted by importance."""
    standardised = standardise(features)
    if parts >= min(standardised.shape):
        parts = min(standardised.shape) - 1
    return np.asarray(
        PCA(parts, svd_solver="randomized", random_state=SEED).fit_transform(standardised), dtype=np.float32
    )
