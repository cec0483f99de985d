"""Classes that are rare, unusual or unknown to some models do not end a script."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from podium.recipes.kit.inputs.graph_neighbours import Edges, cross_validate_beliefs, cross_validate_neighbours
from podium.recipes.kit.inputs.text_terms import best_inverse_penalty, cross_validate_rows, linear_fit
from podium.recipes.kit.learning.cross_validation import Folds, Predictions, cross_validate
from podium.recipes.kit.learning.fit_models import boosting
from podium.recipes.kit.learning.vector_models import (
    VectorFit,
    cross_validate_vectors,
    fit_boosting,
    fit_kernel,
    fit_linear,
    fit_trees,
)

ROWS = 40
Y = np.r_[np.arange(ROWS - 1) % 2, 2]
"""The last row alone has the last class."""
FEATURES = np.random.default_rng(0).normal(size=(ROWS + 6, 3))
FOLDS: Folds = [(np.arange(20), np.arange(20, ROWS)), (np.arange(20, ROWS), np.arange(20))]


def tables() -> Predictions:
    numbers = pd.DataFrame(FEATURES)
    return cross_validate(numbers, pd.DataFrame(index=numbers.index), Y, FOLDS, boosting)


def texts() -> Predictions:
    table = sparse.csr_matrix(FEATURES)
    penalty = best_inverse_penalty(lambda one: linear_fit(table, one), Y, FOLDS, [1.0, 0.1])
    return cross_validate_rows(linear_fit(table, penalty), Y, FOLDS, len(FEATURES))


def beliefs() -> Predictions:
    return cross_validate_beliefs(FEATURES, Y, FOLDS, ring(), fit_linear, rows=len(FEATURES), rounds=1)


def neighbours() -> Predictions:
    return cross_validate_neighbours(FEATURES, Y, FOLDS, ring(), fit_linear, rows=len(FEATURES))


def vectors() -> Predictions:
    return cross_validate_vectors(FEATURES, Y, FOLDS, fit_linear)


def ring() -> Edges:
    """Every node is linked to the next."""
    nodes = np.arange(len(FEATURES))
    return Edges(nodes, np.roll(nodes, -1), np.zeros(len(nodes), dtype=int), len(nodes))


@pytest.mark.parametrize("predict", [tables, texts, beliefs, neighbours, vectors])
def test_a_fold_may_lack_the_last_class(predict: Callable[[], Predictions]) -> None:
    oof, prediction, rows = predict()
    assert oof.shape == (ROWS, 3) and prediction.shape == (6, 3) and rows.all()
    assert (oof[20:, 2] < 0.01).all() and (oof[:20].sum(axis=1) > 0.99).all()


@pytest.mark.parametrize("fit", [fit_linear, fit_kernel, fit_trees, fit_boosting])
@pytest.mark.parametrize(("only", "classes"), [(0, 2), (1, 2), (0, 3), (2, 3)])
def test_models_may_learn_from_rows_of_one_class(fit: VectorFit, only: int, classes: int) -> None:
    y = np.r_[np.full(20, only), np.arange(20) % classes]
    oof, prediction, rows = cross_validate_vectors(FEATURES, y, FOLDS, fit)
    chance = oof[20:, only] if classes > 2 else oof[20:] if only else 1 - oof[20:]
    assert (chance == 1).all() and rows.all() and np.isfinite(prediction).all()
