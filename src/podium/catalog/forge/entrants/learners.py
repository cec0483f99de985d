"""Helpers that several families share: column encodings, models with random settings, stacks of pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.family import Pipeline, Predict

Model = Callable[[np.random.Generator], Any]
"""Function that makes a scikit-learn model."""
DEFAULT_CLASSIFIERS = (
    "ensemble.HistGradientBoostingClassifier",
    "ensemble.RandomForestClassifier",
    "linear_model.LogisticRegression",
)


def target_encoding(
    train: pd.Series, target: np.ndarray, test: pd.Series, *, smoothing: float, rng: np.random.Generator, folds: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean target per category, shrunk towards the overall mean; train rows get out-of-fold values."""
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
    """Return the frequency of each category in train and test together."""
    counts = pd.concat([train, test]).value_counts()
    return train.map(counts).to_numpy(float), test.map(counts).to_numpy(float)


def ordinal_encoding(train: pd.DataFrame, test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Replace texts by the alphabetical number of their category; numbers stay, blanks become NaN."""
    both = pd.concat([train, test])
    for column in both.columns:
        if not pd.api.types.is_numeric_dtype(both[column]):
            codes = both[column].astype("category").cat.codes.astype(float)
            both[column] = codes.where(codes >= 0)
    values = both.to_numpy(float)
    return values[: len(train)], values[len(train) :]


def boosting(rng: np.random.Generator, *, classify: bool, **settings: Any) -> Any:
    """Return gradient-boosted trees with settings that a careful person might choose."""
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
    """Return a forest of one of scikit-learn's kinds, with the number of trees and the leaf size drawn within
    bounds.
    """

    def model(rng: np.random.Generator) -> Any:
        count, smallest, seed = (int(rng.integers(*span)) for span in (trees, leaf, (0, 2**31)))
        maker = getattr(import_module("sklearn.ensemble"), kind)
        return maker(count, min_samples_leaf=smallest, random_state=seed)

    return model


def scaled(model: Any) -> Any:
    """Return the model on columns scaled to equal spread."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


def default_model(name: str) -> Model:
    """Return a model of scikit-learn with its defaults, such as `linear_model.Ridge`."""
    module, kind = name.split(".")
    return lambda rng: getattr(import_module(f"sklearn.{module}"), kind)().set_params(random_state=0)


def default_pipelines(
    models: Iterable[str],
    learn: Callable[[Model], Predict],
    *,
    title: str = "{}()",
) -> tuple[Pipeline, ...]:
    """Return a pipeline for each of some scikit-learn models with their defaults."""
    return tuple(Pipeline(title.format(name.split(".")[1]), "plain", learn(default_model(name)), 0) for name in models)


def rank_average(*predictions: np.ndarray) -> np.ndarray:
    """Return the mean of the predictions' ranks in each column, from 0 to 1, to blend scores of different scale."""
    from scipy.stats import rankdata

    return np.asarray(np.mean([rankdata(prediction, axis=0) / len(prediction) for prediction in predictions], axis=0))


def subsample(rows: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the sorted positions of a random share of the rows, for entrants that use part of the data."""
    return np.sort(rng.choice(rows, size=max(1, int(rows * share)), replace=False))


def per_picture(values: np.ndarray) -> np.ndarray:
    """Reshape one value per picture so that it broadcasts over stacks of pictures."""
    return values[:, None, None]


def grid(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the offset of each pixel from the centre of a square picture, to the right and downwards."""
    axis = np.arange(side) - (side - 1) / 2
    return axis[None, None, :], axis[None, :, None]


def blurred(pictures: np.ndarray, reach: float) -> np.ndarray:
    """Blur each picture separately."""
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(pictures, (0, reach, reach))


def evened(pictures: np.ndarray, reach: float) -> np.ndarray:
    """Remove uneven light: subtract the local brightness and equalise the contrast."""
    detail = pictures - blurred(pictures, reach)
    return np.asarray(detail / detail.std((1, 2), keepdims=True))
