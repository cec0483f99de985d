"""Generic entrants, which know nothing of the family: any reading of the tables with any model.

All learn numbers by least squares; a family's `Goal` converts its target to numbers and predictions to a submission.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import Matrices
from podium.catalog.forge.entrants.learners import (
    Model,
    boosting,
    forest,
    scaled,
    subsample,
    target_encoding,
)
from podium.catalog.forge.entrants.table_readings import Read, Reading, read, target_of
from podium.catalog.forge.family import Predict, PublicData

Learn = Callable[[np.ndarray, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""`learn(train, target, test, rng)` predicts for each test row one number, or several where the target has columns."""
Features = Callable[[PublicData, np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]
"""Function that returns train and test features; it receives the target as numbers."""


@dataclass(frozen=True)
class Goal:
    """Conversion of a family's target to numbers to learn, and of predictions to a submission."""

    learned: Callable[[pd.Series], np.ndarray] = lambda target: target.to_numpy(float)
    """Conversion of the target of train rows to numbers: one per row, or several in columns."""
    finish: Callable[[np.ndarray, pd.Series], np.ndarray] = lambda prediction, target: prediction
    """Conversion of the predictions for test rows to a submission, given the target of train rows."""
    fit: Callable[[Learn, np.ndarray, np.ndarray, np.ndarray, np.random.Generator], np.ndarray] | None = None
    """Replacement for fitting a learner once and predicting with it."""
    usual: Callable[[PublicData], np.ndarray] | None = None
    """Baseline for each row of train and test; models learn the residuals."""

    def to_learn(self, data: PublicData) -> np.ndarray:
        """Return the numbers to learn: the target minus the baseline."""
        target = self.learned(target_of(data))
        return target if self.usual is None else target - read(data, self.usual)[: len(target)]

    def usual_of_test(self, data: PublicData) -> np.ndarray | float:
        """Return the baseline to add to the predictions for test rows."""
        return 0.0 if self.usual is None else read(data, self.usual)[len(data.train) :]


def entrant(goal: Goal, features: Features, learn: Learn) -> Predict:
    """Return a pipeline of one feature set and one learner."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        target = goal.to_learn(data)
        train, test = features(data, target, rng)
        found = _fit(goal, learn, train, target, test, rng)
        return goal.finish(found + goal.usual_of_test(data), target_of(data))

    return predict


def _fit(
    goal: Goal, learn: Learn, train: np.ndarray, target: np.ndarray, test: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    return goal.fit(learn, train, target, test, rng) if goal.fit else learn(train, target, test, rng)


def blend(goal: Goal, *parts: tuple[Features, Learn]) -> Predict:
    """Return a pipeline that averages the predictions of several entrants."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        target = goal.to_learn(data)
        found = [_fit(goal, learn, *_split(features(data, target, rng), target), rng) for features, learn in parts]
        return goal.finish(np.asarray(np.mean(found, axis=0)) + goal.usual_of_test(data), target_of(data))

    return predict


def _split(features: tuple[np.ndarray, np.ndarray], target: np.ndarray) -> Matrices:
    return features[0], target, features[1]


def reading(how: Read) -> Features:
    """Return the features of a reading as numbers."""
    return lambda data, target, rng: read(data, how).numbers()


def encoded(how: Read) -> Features:
    """Return the features of a reading with a target encoding of each category."""

    def features(data: PublicData, target: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        found = read(data, how)
        columns = target if target.ndim > 1 else target[:, None]
        means = [_encode(found, text, column, rng) for text in found.texts() for column in columns.T]
        sides = found.numbers()
        return tuple(
            np.column_stack([side, *added]) for side, added in zip(sides, zip(*means, strict=True), strict=True)
        )  # type: ignore[return-value]

    return features


def _encode(found: Reading, text: str, target: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    column = found.both[text].fillna("")
    train, test = column[: found.train_rows], column[found.train_rows :]
    return target_encoding(train, target, test, smoothing=float(rng.choice([5, 10, 20])), rng=rng)


def one_hot(how: Read) -> Features:
    """Return one-hot columns for categories and splines for numbers, for linear models."""

    def features(data: PublicData, target: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        from sklearn.preprocessing import SplineTransformer

        found = read(data, how)
        numbers = found.both.select_dtypes("number")
        numbers = numbers.fillna(numbers.median()).loc[:, numbers.nunique() > 1]
        few = [column for column in numbers if numbers[column].nunique() <= 4]
        curves = SplineTransformer(n_knots=5, degree=2, extrapolation="constant", knots="quantile")
        bent = curves.fit_transform(numbers.drop(columns=few))
        dummies = pd.get_dummies(found.both[found.texts()].fillna(""), dtype=float).to_numpy()
        matrix = np.column_stack([bent, numbers[few], dummies])
        train, test = matrix[: found.train_rows], matrix[found.train_rows :]
        # A curve that train rows hardly touch has a tiny spread there; later rows far out on it would spoil everything.
        return train, np.clip(test, train.min(axis=0), train.max(axis=0))

    return features


def learner(model: Model, *, least_share: float = 1.0) -> Learn:
    """Return a learner that fits a model to all rows, or to a random share of at least this size, and fills blanks if
    needed.
    """

    def learn(train: np.ndarray, target: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        made = model(rng)
        if not _takes_blanks(made):
            middle = np.nan_to_num(np.nanmedian(train, axis=0))
            train, test = (np.where(np.isnan(rows), middle, rows) for rows in (train, test))
        rows = subsample(len(train), rng.uniform(least_share, 1), rng) if least_share < 1 else slice(None)
        return np.asarray(made.fit(train[rows], target[rows]).predict(test))

    return learn


def each_column(learn: Learn) -> Learn:
    """Fit the columns of a target separately, as boosting must; other models learn them together in less time."""

    def learn_each(train: np.ndarray, target: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if target.ndim == 1:
            return learn(train, target, test, rng)
        return np.column_stack([learn(train, column, test, rng) for column in target.T])

    return learn_each


def _takes_blanks(model: Any) -> bool:
    return type(model).__name__.startswith("HistGradientBoosting")


def one_column(train: np.ndarray, target: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Predict the mean target in four bins of one column."""
    column = int(rng.integers(train.shape[1]))
    edges = np.nanquantile(train[:, column], [0.25, 0.5, 0.75])
    parts = np.searchsorted(edges, train[:, column])
    members = [target[parts == part] for part in range(4)]
    means = np.array([(part if len(part) else target).mean(axis=0) for part in members])
    return np.asarray(means[np.searchsorted(edges, test[:, column])])


def _ridge(low: float, high: float) -> Model:
    def model(rng: np.random.Generator) -> Any:
        from sklearn.linear_model import Ridge

        return scaled(Ridge(10 ** rng.uniform(low, high)))

    return model


def _neighbours(rng: np.random.Generator) -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return scaled(KNeighborsRegressor(int(rng.integers(4, 40))))


def _tree(rng: np.random.Generator) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=int(rng.integers(3, 8)), random_state=int(rng.integers(2**31)))


def _boosting(rng: np.random.Generator) -> Any:
    return boosting(rng, classify=False)


def _careful_boosting(rng: np.random.Generator) -> Any:
    """Return boosting with small trees and column sampling; twice the trees at half the rate are no better."""
    settings = {"max_leaf_nodes": int(rng.integers(6, 14)), "max_features": 0.4, "min_samples_leaf": 12}
    return boosting(rng, classify=False, learning_rate=0.08, max_iter=int(rng.integers(110, 160)), **settings)


def _trees(kind: str, share: float) -> Model:
    def model(rng: np.random.Generator) -> Any:
        return forest(kind, trees=(40, 80), leaf=(2, 6))(rng).set_params(max_features=share)

    return model


NEIGHBOURS = learner(_neighbours, least_share=0.5)
DECISION_TREE = learner(_tree, least_share=0.5)
ROUGH_LINEAR = learner(_ridge(0, 3), least_share=0.5)
LINEAR = learner(_ridge(1.5, 3))
RANDOM_FOREST = learner(_trees("RandomForestRegressor", 0.4), least_share=0.6)
EXTRA_TREES = learner(_trees("ExtraTreesRegressor", 0.5))
BOOSTED = each_column(learner(_boosting, least_share=0.7))
CAREFUL = each_column(learner(_careful_boosting))
QUICK_BOOSTING = each_column(
    learner(lambda rng: boosting(rng, classify=False, learning_rate=0.1, max_iter=60, max_leaf_nodes=12))
)
