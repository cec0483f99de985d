"""Hands a table to a library that searches for models itself: AutoGluon. It is imported when used."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from podium.recipes.kit.learning.cross_validation import Predictions
from podium.tables.script_settings import CORES, TIME_S, time_used


def autogluon_predictions(
    table: pd.DataFrame, y: np.ndarray, metric: str | None, folder: str = "autogluon"
) -> Predictions:
    """Predictions by AutoGluon's bagged models, of train rows out of fold.

    Args:
        table: the columns of all rows as they are, train rows first.
    """
    from autogluon.tabular import TabularPredictor

    rows, classes = len(y), int(y.max()) + 1 if y.dtype.kind == "i" else 0
    problem = "regression" if not classes else "binary" if classes == 2 else "multiclass"
    learn = table[:rows].assign(**{"the target": y})
    search = TabularPredictor("the target", problem_type=problem, eval_metric=metric, path=folder, verbosity=0)
    budget = max(1.0, (0.7 - time_used()) * TIME_S)  # it exceeds its time limit
    search.fit(learn, time_limit=budget, presets="best_quality", dynamic_stacking=False, num_cpus=CORES, num_gpus=0)
    given: Callable[..., Any] = search.predict_proba if classes else search.predict
    known, asked = search.predict_proba_oof() if classes else search.predict_oof(), given(table[rows:])
    if classes:
        known, asked = (part.reindex(columns=range(classes), fill_value=0.0) for part in (known, asked))
    # It learns nothing from rows of classes that are very rare, so that they have no prediction.
    oof, prediction = known.reindex(learn.index).to_numpy(float), asked.to_numpy(float)
    if classes == 2:
        oof, prediction = oof[:, 1], prediction[:, 1]
    return oof, prediction, np.isfinite(oof if oof.ndim == 1 else oof[:, 0])
