"""What pipelines of several families share: encodings of columns and models with settings drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


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


def rank_average(*predictions: np.ndarray) -> np.ndarray:
    """The mean of the predictions' ranks, between 0 and 1: blends scores of different scale."""
    from scipy.stats import rankdata

    return np.mean([rankdata(prediction) / len(prediction) for prediction in predictions], axis=0)


def subsample(rows: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """The sorted positions of a random share of the rows, for entrants who look at part of the data."""
    return np.sort(rng.choice(rows, size=max(1, int(rows * share)), replace=False))
