"""FLAML (third-party AutoML, optional) as an entrant of a new task's field."""

from __future__ import annotations

from typing import Any

from podium.errors import MissingExtraError

TRIALS = 30
"""Number of configurations tried; not a time limit, so that scores do not depend on the machine's speed."""
LEARNERS = ("lgbm", "rf", "extra_tree")


def flaml_model(*, classify: bool) -> Any:
    """Return FLAML's search as a scikit-learn estimator."""
    try:
        from flaml.automl import AutoML
    except ImportError:
        raise MissingExtraError("--automl", "automl") from None
    return AutoML(
        task="classification" if classify else "regression",
        estimator_list=list(LEARNERS),
        max_iter=TRIALS,
        time_budget=-1,
        n_jobs=1,
        seed=0,
        verbose=0,
    )
