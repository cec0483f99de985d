"""Learning from vectors: rows of many numbers, such as what was measured on a picture, a sound or a node.

A model is made by `fit(features, aim, seed)` and predicts by being called with features. An `aim` is classes counted
from 0, numbers, or a column of either for each label.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.svm import SVC

from podium.recipes.kit.blending import blend_weights
from podium.recipes.kit.environment import CORES, SEED, time_used

VectorModel = Callable[[np.ndarray], np.ndarray]
VectorFit = Callable[[np.ndarray, np.ndarray, int], VectorModel]
VectorFolds = list[tuple[np.ndarray, np.ndarray]]


def as_names(values: pd.Series) -> pd.Series:
    """Ids as text, whole numbers without a point."""
    is_whole = pd.api.types.is_float_dtype(values) and bool((values.dropna() % 1 == 0).all())
    return (values.astype("Int64") if is_whole else values).astype(str)


def flags(groups: pd.DataFrame, most: int = 50) -> pd.DataFrame:
    """A column of 0 and 1 for each value of groups that have few."""
    few = [name for name in groups if groups[name].nunique() <= most]
    return pd.get_dummies(groups[few].astype(str), dtype=float) if few else pd.DataFrame(index=groups.index)


def cross_fitted(
    features: np.ndarray, aim: np.ndarray, folds: VectorFolds, fit: VectorFit, until: float = 0.9
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions of train rows by models that had not seen them, of test rows by all models, and which rows have one.

    Args:
        features: of all rows, those of train first.
        until: the part of the script's time after which no further fold is begun.
    """
    count, started = len(aim), time_used()
    oof: np.ndarray | None = None
    total: Any = 0.0
    done = np.zeros(len(aim), dtype=bool)
    for number, (learn, check) in enumerate(folds):
        if number and time_used() + (time_used() - started) / number > until:
            break
        model = fit(features[learn], aim[learn], SEED + number)
        predicted = in_all_classes(model(np.concatenate([features[check], features[count:]])), aim)
        oof = np.zeros((count, *predicted.shape[1:])) if oof is None else oof
        oof[check], done[check] = predicted[: len(check)], True
        total = total + predicted[len(check) :]
    assert oof is not None
    return oof, np.asarray(total / sum(done[check].all() for _, check in folds)), done


def in_all_classes(predicted: np.ndarray, aim: np.ndarray) -> np.ndarray:
    """Predictions with a column for every class of the aim, the last of which a fold may have missed."""
    if aim.dtype.kind != "i" or aim.ndim > 1 or aim.max() <= 1:
        return predicted
    columns = predicted if predicted.ndim == 2 else np.column_stack([1 - predicted, predicted])
    return np.pad(columns, ((0, 0), (0, int(aim.max()) + 1 - columns.shape[1])))


def best_blend(
    features: np.ndarray,
    aim: np.ndarray,
    folds: VectorFolds,
    fits: dict[str, VectorFit],
    loss: Callable[[Any, Any], float],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Like `cross_fitted` with several models, as many as there is time for, weighed so that the loss is least."""
    parts, names = [], []
    slowest = 0.0
    for number, (name, fit) in enumerate(fits.items()):
        started = time_used()
        if started + slowest > 0.9 and number:
            break
        parts.append(
            cross_fitted(features, aim, folds, fit, max(0.5, started + (0.9 - started) / (len(fits) - number)))
        )
        names.append(name)
        slowest = max(slowest, time_used() - started)
        print(name, "has a loss of", round(loss(aim[parts[-1][2]], parts[-1][0][parts[-1][2]]), 5), flush=True)
    rows = np.all([done for _, _, done in parts], axis=0)
    weights = blend_weights(aim[rows], [oof[rows] for oof, _, _ in parts], loss)
    print("weights", dict(zip(names, weights.round(3).tolist(), strict=True)))
    oof = sum(weight * part[0] for weight, part in zip(weights, parts, strict=True))
    guess = sum(weight * part[1] for weight, part in zip(weights, parts, strict=True))
    return np.asarray(oof), np.asarray(guess), rows


def linear_fit(features: np.ndarray, aim: np.ndarray, seed: int, *, strength: float = 2.0) -> VectorModel:
    """A weighed sum of the features: logistic regression of classes, ridge regression of numbers.

    Args:
        strength: how freely the weights for classes may grow.
    """
    size = float(features.var(axis=0).sum()) + 1e-9
    if aim.dtype.kind != "i":
        ridge = RidgeCV(alphas=size * np.logspace(-3, 3, 13)).fit(features, aim)
        return lambda values: np.asarray(ridge.predict(values))

    def one(column: np.ndarray) -> VectorModel:
        model = LogisticRegression(C=strength, max_iter=200, tol=1e-3).fit(features / np.sqrt(size), column)
        return lambda values: predicted_columns(model, values / np.sqrt(size), column)

    return for_each_label(one, aim)


def curved_fit(
    features: np.ndarray, aim: np.ndarray, seed: int, *, first: int = 150, penalty: float = 5.0, centres: int = 1500
) -> VectorModel:
    """A smooth function of features: support vectors for classes, Gaussian bumps and a ridge for numbers.

    Args:
        first: as many features are used; `condensed` puts the weightier first.
        centres: as many rows have bumps; with many more rows, classes are learnt with bumps too.
    """
    few = features[:, :first]
    if aim.dtype.kind == "i" and len(aim) <= 3 * centres:

        def one(column: np.ndarray) -> VectorModel:
            machine = SVC(C=penalty).fit(few, column)
            return lambda values: margin_chances(machine, values[:, :first], column)

        return for_each_label(one, aim)
    gamma = 1 / max(float(few.var(axis=0).sum()), 1e-9)
    bumps = Nystroem(gamma=gamma, n_components=min(centres, len(aim)), random_state=seed).fit(few)
    linear = linear_fit(bumps.transform(few), aim, seed, strength=20.0)
    return lambda values: linear(bumps.transform(values[:, :first]))


def for_each_label(one: Callable[[np.ndarray], VectorModel], aim: np.ndarray) -> VectorModel:
    """A model of the aim, made of one for each label where there are several. A label that never varies needs none."""
    if aim.ndim == 1:
        return one(aim)
    models = [one(column) if column.min() < column.max() else constant_model(column[0]) for column in aim.T]
    return lambda values: np.column_stack([model(values) for model in models])


def constant_model(value: float) -> VectorModel:
    """Predicts the same of every row."""
    return lambda values: np.full(len(values), float(value))


def margin_chances(machine: Any, values: np.ndarray, aim: np.ndarray) -> np.ndarray:
    """The chances that a support vector machine gives to classes, in the form of the aim."""
    chances = margins_as_chances(machine.decision_function(values))
    if aim.max() <= 1:
        return chances
    columns = np.zeros((len(values), int(aim.max()) + 1))
    columns[:, machine.classes_] = chances if chances.ndim == 2 else np.column_stack([1 - chances, chances])
    return columns


def margins_as_chances(margins: np.ndarray) -> np.ndarray:
    """Distances from the border between classes as rough probabilities."""
    if margins.ndim == 1:
        return np.asarray(1 / (1 + np.exp(-2 * margins)))
    raised = np.exp(2 * (margins - margins.max(axis=1, keepdims=True)))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def trees_fit(
    features: np.ndarray, aim: np.ndarray, seed: int, *, count: int = 200, leaf: int = 2, share: float | None = None
) -> VectorModel:
    """Extremely randomised trees."""
    options: dict[str, Any] = {"n_estimators": count, "min_samples_leaf": leaf, "n_jobs": CORES, "random_state": seed}
    options["max_features"] = share or "sqrt"
    kind = ExtraTreesClassifier if aim.dtype.kind == "i" else ExtraTreesRegressor
    model = kind(**options).fit(features, aim)
    return lambda values: predicted_columns(model, values, aim)


def boosted_fit(
    features: np.ndarray, aim: np.ndarray, seed: int, *, first: int = 10_000, **options: Any
) -> VectorModel:
    """Gradient boosting, on the first features only if asked for."""
    few = features[:, :first]
    kind = HistGradientBoostingClassifier if aim.dtype.kind == "i" else HistGradientBoostingRegressor

    def one(column: np.ndarray) -> VectorModel:
        model = kind(random_state=seed, early_stopping=False, **options).fit(few, column)
        return lambda values: predicted_columns(model, values[:, :first], column)

    return for_each_label(one, aim)


def predicted_columns(model: Any, values: np.ndarray, aim: np.ndarray) -> np.ndarray:
    """Predictions in the form of the aim: numbers, the chance of class 1 (of each label), or of each class."""
    if aim.dtype.kind != "i":
        return np.asarray(model.predict(values))
    found = model.predict_proba(values)
    if aim.ndim > 1:
        constant = np.ones(len(values))
        pairs = zip(found, aim.T, strict=True)
        return np.column_stack([part[:, 1] if part.shape[1] > 1 else one[0] * constant for part, one in pairs])
    if aim.max() <= 1:
        return np.asarray(found[:, -1])
    columns = np.zeros((len(values), int(aim.max()) + 1))
    columns[:, model.classes_] = found
    return columns


def scaled(features: np.ndarray) -> np.ndarray:
    """Every feature brought to mean 0 and spread 1, with gaps at the mean and outliers drawn in."""
    known = np.isfinite(features)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, features, 0).sum(axis=0) / count
    spread = np.sqrt((np.where(known, features - mean, 0) ** 2).sum(axis=0) / count)
    spread = np.where(spread > 1e-9, spread, 1.0)
    even: np.ndarray = np.nan_to_num((features - mean) / spread)
    return np.asarray(np.clip(even, -8, 8), dtype=np.float32)


def condensed(features: np.ndarray, parts: int) -> np.ndarray:
    """Scaled features as their first principal components, the weightiest first, of all rows together."""
    even = scaled(features)
    if parts >= min(even.shape):
        parts = min(even.shape) - 1
    return np.asarray(PCA(parts, svd_solver="randomized", random_state=SEED).fit_transform(even), dtype=np.float32)
