"""Finds rows that do not fit, where all rows of train do."""

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor, IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from podium.recipes.kit.outputs.script_scores import average_ranks
from podium.tables.script_settings import CORES, SEED, time_used

MAX_DETECTOR_ROWS = 20_000
"""Largest number of train rows for a detector."""


def filled_values(numbers: pd.DataFrame, groups: pd.DataFrame, rows: int) -> np.ndarray:
    """Numbers in units of their spread in train, then groups as 0 and 1; a gap has the median."""
    known = numbers[:rows]
    scaled = (numbers.fillna(known.median()).fillna(0) - known.mean()) / known.std().replace(0, 1)
    return np.column_stack([scaled.clip(-5, 5).fillna(0).to_numpy(float), groups.to_numpy(float)])


def with_exchanged_numbers(values: np.ndarray, count: int) -> np.ndarray:
    """Rows in which up to a third of the first columns are those of other rows: all are usual, but not together."""
    rng = np.random.default_rng(SEED)
    order = rng.random((len(values), count)).argsort(axis=1)
    taken = order < rng.integers(1, max(2, count // 3 + 1), (len(values), 1))
    others = values[rng.integers(0, len(values), (len(values), count)), np.arange(count)]
    return np.column_stack([np.where(taken, others, values[:, :count]), values[:, count:]])


def oddness(train: np.ndarray, test: np.ndarray, count: int, detectors: list[str], until: float) -> np.ndarray:
    """Return outlier scores of test rows compared with train rows: the mean of their ranks, from 0 to 1.

    Args:
        count: how many of the columns are numbers; the others are groups.
        until: the share of the script's time by which it is to be known.
    """
    train = train[np.random.default_rng(SEED).permutation(len(train))[:MAX_DETECTOR_ROWS]]
    ranks = [average_ranks(one_oddness(name, train, test, count, until)) for name in detectors]
    return np.asarray(np.mean(ranks, axis=0) / len(test))


def one_oddness(detector: str, train: np.ndarray, test: np.ndarray, count: int, until: float) -> np.ndarray:
    """Return outlier scores of test rows by one detector."""
    if detector == "surprise":
        return surprise(train, test, count, until)
    is_density = detector == "density"
    model = LocalOutlierFactor(20, novelty=True) if is_density else IsolationForest(n_estimators=200, random_state=SEED)
    return np.asarray(-model.fit(train).score_samples(test))


def surprise(train: np.ndarray, test: np.ndarray, count: int, until: float) -> np.ndarray:
    """Return the distance of each number from its prediction by the other columns, in units of the usual error."""
    total = np.zeros(len(test))
    for column in np.random.default_rng(SEED).permutation(count):
        model = ExtraTreesRegressor(100, min_samples_leaf=2, bootstrap=True, oob_score=True, n_jobs=CORES)
        model.set_params(random_state=SEED).fit(np.delete(train, column, axis=1), train[:, column])
        usual = np.mean((train[:, column] - model.oob_prediction_) ** 2) + 1e-9
        total += (test[:, column] - model.predict(np.delete(test, column, axis=1))) ** 2 / usual
        if time_used() > until:
            break
    return total
