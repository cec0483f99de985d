"""Models: each learns from features and a target and gives a function that predicts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, SplineTransformer, StandardScaler

from podium.recipes.kit.environment import CORES
from podium.recipes.kit.learning import as_numbers


def predictor(model: Any, aim: np.ndarray) -> Callable[..., np.ndarray]:
    """How a fitted model predicts: numbers, the probability of class 1, or a column of probabilities per class."""
    if not hasattr(model, "predict_proba"):
        return lambda features, groups=None: np.asarray(model.predict(features), dtype=float)
    if aim.max() <= 1:
        return lambda features, groups=None: np.asarray(model.predict_proba(features)[:, -1])
    classes = np.asarray(model.classes_, dtype=int)

    def predict(features: Any, groups: Any = None) -> np.ndarray:
        found = np.zeros((features.shape[0], int(aim.max()) + 1))
        found[:, classes] = model.predict_proba(features)
        return found

    return predict


def boosting(features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int, **options: Any) -> Any:
    """Gradient boosting on histograms; whole numbers are classes."""
    kind = HistGradientBoostingClassifier if aim.dtype.kind == "i" else HistGradientBoostingRegressor
    model = kind(random_state=seed, early_stopping=False, **options)
    return predictor(model.fit(features, aim), aim)


def shallow_boosting(features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int) -> Any:
    """Boosting that is done soon."""
    return boosting(features, groups, aim, seed, learning_rate=0.1, max_iter=60, max_leaf_nodes=8)


def forest(features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int, **options: Any) -> Any:
    """Extremely randomised trees."""
    kind = ExtraTreesClassifier if aim.dtype.kind == "i" else ExtraTreesRegressor
    model = make_pipeline(filled(), kind(random_state=seed, n_jobs=CORES, **options))
    return predictor(model.fit(features, aim), aim)


def neighbours(features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int, *, count: int = 15) -> Any:
    """The nearest rows decide, the nearer the more."""
    kind = KNeighborsClassifier if aim.dtype.kind == "i" else KNeighborsRegressor
    nearest = kind(n_neighbors=min(count, len(features)), weights="distance", n_jobs=CORES)
    model = make_pipeline(filled(), StandardScaler(), nearest)
    return predictor(model.fit(features, aim), aim)


def kernel(features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int, *, parts: int = 400) -> Any:
    """A smooth function of all features: a Gaussian kernel at some of the rows, and a penalised linear model."""
    near = Nystroem(gamma=0.3 / features.shape[1], n_components=min(parts, len(features)), random_state=seed)
    shaping = make_pipeline(filled(), StandardScaler(), near)
    predict = linear(shaping.fit_transform(features), aim, seed)
    return lambda features, groups: predict(shaping.transform(features))


def curves(features: np.ndarray, groups: np.ndarray, seed: int, knots: int) -> Callable[..., np.ndarray]:
    """What makes a linear model additive, as `fitted_curves` has it."""
    return fitted_curves(features, groups, seed, knots)[0]


def fitted_curves(
    features: np.ndarray, groups: np.ndarray, seed: int, knots: int
) -> tuple[Callable[..., np.ndarray], np.ndarray]:
    """What makes a linear model additive: splines of each feature, its logarithm, and the members of each group.

    It is given as a function, and already applied to the features.
    """
    smooth = make_pipeline(
        filled(),
        QuantileTransformer(n_quantiles=min(200, len(features)), random_state=seed),
        SplineTransformer(n_knots=knots, degree=3, include_bias=False),
        StandardScaler(),
    )
    straight = make_pipeline(filled(), StandardScaler())
    members = OneHotEncoder(handle_unknown="ignore", min_frequency=3, max_categories=800, sparse_output=False)

    def shape(features: np.ndarray, groups: np.ndarray, *, learn: bool = False) -> np.ndarray:
        logs = np.log(np.where(features > 0, features, np.nan))
        parts = [(smooth, features), (straight, logs), (members, groups)][: 3 if groups.shape[1] else 2]
        made = [part.fit_transform(given) if learn else part.transform(given) for part, given in parts]
        return np.hstack([part.astype(np.float32) for part in made])

    return shape, shape(features, groups, learn=True)


def additive(features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int, *, knots: int = 4) -> Any:
    """A sum of smooth curves, one for each feature, and of an effect of each group."""
    shape, shaped = fitted_curves(features, groups, seed, knots)
    predict = linear(shaped, aim, seed)
    return lambda features, groups: predict(shape(features, groups))


def hybrid(
    features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int, *, knots: int = 4, **options: Any
) -> Any:
    """An additive model first; boosting then learns what that leaves over, or where it is to be trusted."""
    is_number = aim.dtype.kind != "i"
    shape, shaped = fitted_curves(features, groups, seed, knots)
    base, first = ridge(shaped, as_numbers(aim))
    rest = boosting(np.column_stack([features, first]), groups, aim - first if is_number else aim, seed, **options)

    def predict(features: np.ndarray, groups: np.ndarray) -> np.ndarray:
        early = base(shape(features, groups))
        late = rest(np.column_stack([features, early]), groups)
        return np.asarray(early + late if is_number else late)

    return predict


def linear(features: np.ndarray, aim: np.ndarray, seed: int) -> Any:
    """A linear model for numbers or classes that predicts, penalised as much as serves rows it has not seen."""
    return ridge(features, aim)[0] if aim.dtype.kind != "i" else logistic(features, aim, seed)


def ridge(features: np.ndarray, aim: np.ndarray) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
    """A penalised linear model, and what it says of each row when that row is left out.

    That also judges the penalties. Of many rows, each is taken to have the same influence on its own prediction.
    """
    centre, level = features.mean(axis=0), aim.mean(axis=0)
    rest, centred = aim - level, features - centre
    spread, axes = np.linalg.eigh((centred.T @ centred).astype(float))
    spread, pulled = np.maximum(spread, 0), axes.T @ (centred.T @ rest)
    turned = centred @ axes if features.size < 5_000_000 else None
    best, chosen, left_out = np.inf, np.zeros(0), aim
    for penalty in (1.0, 10.0, 100.0, 1000.0, 10000.0):
        shrunk = 1 / (spread + penalty)
        weights = axes @ (shrunk * pulled.T).T
        own = (spread * shrunk).sum() / len(aim) if turned is None else (turned**2) @ shrunk
        errors = ((rest - centred @ weights).T / np.maximum(1 - own, 1e-2)).T
        if np.mean(errors**2) < best:
            best, chosen, left_out = float(np.mean(errors**2)), weights, aim - errors
    return (lambda features: np.asarray((features - centre) @ chosen + level)), left_out


def logistic(features: np.ndarray, aim: np.ndarray, seed: int) -> Callable[..., np.ndarray]:
    """Logistic regression; every penalty is judged by rows held back."""
    learn, check = train_test_split(np.arange(len(aim)), test_size=0.25, random_state=seed)
    best, chosen = np.inf, 0.01
    for inverse in (0.003, 0.03, 0.3):
        model = LogisticRegression(C=inverse, max_iter=100).fit(features[learn], aim[learn])
        chance = predictor(model, aim)(features[check])
        chance = chance if chance.ndim == 2 else np.column_stack([1 - chance, chance])
        loss = -np.mean(np.log(chance[np.arange(len(check)), aim[check]] + 1e-6))
        if loss < best:
            best, chosen = float(loss), inverse
    return predictor(LogisticRegression(C=chosen, max_iter=200).fit(features, aim), aim)


def filled() -> Any:
    """Puts medians where numbers are missing."""
    return SimpleImputer(strategy="median", keep_empty_features=True)
