"""What several families share: encodings of columns, models with settings drawn at random, stacks of pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.family import Pipeline, Predict

Model = Callable[[np.random.Generator], Any]
"""Makes a model of scikit-learn."""
DEFAULT_CLASSIFIERS = (
    "ensemble.HistGradientBoostingClassifier",
    "ensemble.RandomForestClassifier",
    "linear_model.LogisticRegression",
)


def target_encoding(
    train: pd.Series, target: np.ndarray, test: pd.Series, *, smoothing: float, rng: np.random.Generator, folds: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """Mean target per category, shrunk towards the overall mean; for train rows taken from the other folds."""
    fold = rng.integers(0, folds, len(train))
    inside = np.empty(len(train))
    for number in range(folds):
        held = fold == number
        inside[held] = _shrunk_means(train[~held], target[~held], train[held], smoothing)
    return inside, _shrunk_means(train, target, test, smoothing)


def _shrunk_means(known: pd.Series, target: np.ndarray, wanted: pd.Series, smoothing: float) -> np.ndarray:
    overall = float(np.mean(target))
    sums = pd.Series(target, index=known.index).groupby(known.to_numpy()).agg(["sum", "count"])
    means = (sums["sum"] + smoothing * overall) / (sums["count"] + smoothing)
    return wanted.map(means).fillna(overall).to_numpy(float)


def frequency_encoding(train: pd.Series, test: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """How often each category occurs in train and test together."""
    counts = pd.concat([train, test]).value_counts()
    return train.map(counts).to_numpy(float), test.map(counts).to_numpy(float)


def ordinal_encoding(train: pd.DataFrame, test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Every text column as the number of its category in alphabetical order; numbers stay, blanks become NaN."""
    both = pd.concat([train, test])
    for column in both.columns:
        if not pd.api.types.is_numeric_dtype(both[column]):
            codes = both[column].astype("category").cat.codes.astype(float)
            both[column] = codes.where(codes >= 0)
    values = both.to_numpy(float)
    return values[: len(train)], values[len(train) :]


def boosting(rng: np.random.Generator, *, classify: bool, **settings: Any) -> Any:
    """Gradient-boosted trees with settings a careful person might end up with."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    drawn = {
        "learning_rate": rng.choice([0.04, 0.06, 0.08]),
        "max_iter": int(rng.integers(90, 180)),
        "max_leaf_nodes": int(rng.choice([8, 12, 16, 24])),
        "min_samples_leaf": int(rng.integers(15, 50)),
        "l2_regularization": float(rng.choice([0.0, 1.0, 5.0])),
        "max_features": float(rng.choice([0.4, 0.7, 1.0])),
        "early_stopping": False,
        "random_state": int(rng.integers(2**31)),
    }
    kind = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
    return kind(**(drawn | settings))


def forest(kind: str = "RandomForestClassifier", *, trees: tuple[int, int], leaf: tuple[int, int] = (1, 6)) -> Model:
    """A forest of one of scikit-learn's kinds, with a number of trees and a size of leaves within bounds."""

    def model(rng: np.random.Generator) -> Any:
        count, smallest, seed = (int(rng.integers(*span)) for span in (trees, leaf, (0, 2**31)))
        maker = getattr(import_module("sklearn.ensemble"), kind)
        return maker(count, min_samples_leaf=smallest, random_state=seed)

    return model


def scaled(model: Any) -> Any:
    """The model on columns of equal spread."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


def default_model(name: str) -> Model:
    """A model of scikit-learn as it comes, such as `linear_model.Ridge`."""
    module, kind = name.split(".")
    return lambda rng: getattr(import_module(f"sklearn.{module}"), kind)().set_params(random_state=0)


def default_pipelines(
    models: Iterable[str],
    learn: Callable[[Model], Predict],
    *,
    title: str = "{}()",
) -> tuple[Pipeline, ...]:
    """A pipeline for each of some models of scikit-learn as they come."""
    return tuple(Pipeline(title.format(name.split(".")[1]), "plain", learn(default_model(name)), 0) for name in models)


def rank_average(*predictions: np.ndarray) -> np.ndarray:
    """The mean of the predictions' ranks (in each column), between 0 and 1: blends scores of different scale."""
    from scipy.stats import rankdata

    return np.asarray(np.mean([rankdata(prediction, axis=0) / len(prediction) for prediction in predictions], axis=0))


def subsample(rows: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """The sorted positions of a random share of the rows, for entrants who look at part of the data."""
    return np.sort(rng.choice(rows, size=max(1, int(rows * share)), replace=False))


def per_picture(values: np.ndarray) -> np.ndarray:
    """One value per picture, to be combined with stacks of pictures."""
    return values[:, None, None]


def grid(side: int) -> tuple[np.ndarray, np.ndarray]:
    """How far each pixel lies right of and below the middle of a square picture."""
    axis = np.arange(side) - (side - 1) / 2
    return axis[None, None, :], axis[None, :, None]


def blurred(pictures: np.ndarray, reach: float) -> np.ndarray:
    """Each picture blurred by itself."""
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(pictures, (0, reach, reach))


def evened(pictures: np.ndarray, reach: float) -> np.ndarray:
    """Without uneven light: local brightness taken off, contrast made equal."""
    detail = pictures - blurred(pictures, reach)
    return np.asarray(detail / detail.std((1, 2), keepdims=True))
