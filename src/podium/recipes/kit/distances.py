"""Models that measure distances, and therefore want features of one spread."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from podium.recipes.kit.models import filled, predictor
from podium.recipes.kit.vectors import margin_chances


def evened(features: np.ndarray, groups: np.ndarray) -> tuple[Callable[..., np.ndarray], np.ndarray]:
    """What brings features to one spread: logarithms of what is positive, and a column for each member of a group.

    It is given as a function, and already applied to the features.
    """
    is_positive = np.nanmin(np.where(np.isfinite(features), features, np.inf), axis=0) > 0
    fill, spread = filled(), StandardScaler()
    members = OneHotEncoder(handle_unknown="ignore", min_frequency=3, max_categories=200, sparse_output=False)

    def shape(features: np.ndarray, groups: np.ndarray, *, learn: bool = False) -> np.ndarray:
        values = np.where(is_positive, np.log(np.where(features > 0, features, np.nan)), features)
        even = spread.fit_transform(fill.fit_transform(values)) if learn else spread.transform(fill.transform(values))
        even = np.clip(even, -4, 4)
        if not groups.shape[1]:
            return np.asarray(even)
        return np.hstack([even, members.fit_transform(groups) if learn else members.transform(groups)])

    return shape, shape(features, groups, learn=True)


def machine(features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int, *, penalty: float = 3.0) -> Any:
    """A support vector machine with Gaussian bumps."""
    shape, even = evened(features, groups)
    width = 1 / max(float(even.var(axis=0).sum()), 1e-9)
    if aim.dtype.kind == "i":
        chooser = SVC(C=penalty, gamma=width).fit(even, aim)
        return lambda features, groups: margin_chances(chooser, shape(features, groups), aim)
    centre, size = aim.mean(), aim.std() or 1.0
    estimator = SVR(C=penalty, gamma=width).fit(even, (aim - centre) / size)
    return lambda features, groups: centre + size * estimator.predict(shape(features, groups))


def network(features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int, *, rounds: int = 30) -> Any:
    """A small neural network, stopped before it learns by heart."""
    shape, even = evened(features, groups)
    options: dict[str, Any] = {"hidden_layer_sizes": (64,), "alpha": 1.0, "learning_rate_init": 0.002}
    options |= {"batch_size": min(64, len(features)), "random_state": seed}
    if aim.dtype.kind == "i":
        chooser, classes = MLPClassifier(**options), np.unique(aim)
        for _ in range(rounds):
            chooser.partial_fit(even, aim, classes=classes)
        predict = predictor(chooser, aim)
        return lambda features, groups: predict(shape(features, groups))
    centre, size = aim.mean(), aim.std() or 1.0
    estimator = MLPRegressor(**options)
    for _ in range(rounds):
        estimator.partial_fit(even, (aim - centre) / size)
    return lambda features, groups: centre + size * estimator.predict(shape(features, groups))
