"""Models that need features on one scale: support vector machines and neural networks."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from podium.recipes.kit.learning.cross_validation import PredictRows
from podium.recipes.kit.learning.fit_models import linear, median_imputer, one_hot_encoder, predictor
from podium.recipes.kit.learning.vector_models import svm_probabilities


def fit_standardisation(
    features: np.ndarray, groups: np.ndarray, *, logs: bool = True, most: float = 4.0
) -> tuple[Callable[..., np.ndarray], np.ndarray]:
    """Fit a transformation to one scale: logs of positive numbers, z-scores, and one-hot columns of groups.

    Returns the fitted transformation and the transformed features.

    Args:
        most: the largest z-score; greater ones are cut.
    """
    is_positive = logs & (np.nanmin(np.where(np.isfinite(features), features, np.inf), axis=0) > 0)
    impute, scale = median_imputer(), StandardScaler()
    one_hot = one_hot_encoder(groups, 200)

    def transform(features: np.ndarray, groups: np.ndarray, *, learn: bool = False) -> np.ndarray:
        values = np.where(is_positive, np.log(np.where(features > 0, features, np.nan)), features)
        standardised = (
            scale.fit_transform(impute.fit_transform(values)) if learn else scale.transform(impute.transform(values))
        )
        standardised = np.clip(standardised, -most, most)
        if not groups.shape[1]:
            return np.asarray(standardised)
        return np.hstack([standardised, one_hot.fit_transform(groups) if learn else one_hot.transform(groups)])

    return transform, transform(features, groups, learn=True)


def linear_effects(
    features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, *, logs: bool = False
) -> PredictRows:
    """A linear model, whose effects go on beyond the range of the rows it was fitted on."""
    transform, standardised = fit_standardisation(features, groups, logs=logs, most=12.0)
    predict = linear(standardised, y, seed)
    return lambda features, groups: predict(transform(features, groups))


def svm(features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, *, penalty: float = 3.0) -> PredictRows:
    """A support vector machine with a Gaussian kernel."""
    transform, standardised = fit_standardisation(features, groups)
    width = 1 / max(float(standardised.var(axis=0).sum()), 1e-9)
    if y.dtype.kind == "i":
        classifier = SVC(C=penalty, gamma=width).fit(standardised, y)
        return lambda features, groups: svm_probabilities(classifier, transform(features, groups), y)
    centre, spread = y.mean(), y.std() or 1.0
    regressor = SVR(C=penalty, gamma=width).fit(standardised, (y - centre) / spread)
    return lambda features, groups: centre + spread * regressor.predict(transform(features, groups))


def neural_network(
    features: np.ndarray, groups: np.ndarray, y: np.ndarray, seed: int, *, rounds: int = 30
) -> PredictRows:
    """A small neural network, stopped before it overfits."""
    transform, standardised = fit_standardisation(features, groups)
    options: dict[str, Any] = {"hidden_layer_sizes": (64,), "alpha": 1.0, "learning_rate_init": 0.002}
    options |= {"batch_size": min(64, len(features)), "random_state": seed}
    if y.dtype.kind == "i":
        classifier, classes = MLPClassifier(**options), np.unique(y)
        for _ in range(rounds):
            classifier.partial_fit(standardised, y, classes=classes)
        predict = predictor(classifier, y)
        return lambda features, groups: predict(transform(features, groups))
    centre, spread = y.mean(), y.std() or 1.0
    regressor = MLPRegressor(**options)
    for _ in range(rounds):
        regressor.partial_fit(standardised, (y - centre) / spread)
    return lambda features, groups: centre + spread * regressor.predict(transform(features, groups))
