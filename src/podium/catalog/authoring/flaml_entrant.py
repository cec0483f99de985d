"""FLAML as an entrant of a new task's field: generic AutoML that nobody here wrote, as an extra."""

from __future__ import annotations

from typing import Any

from podium.errors import MissingExtraError

TRIALS = 30
"""Settings that it tries; counted, not timed, so that a score does not depend on the machine's speed."""
LEARNERS = ("lgbm", "rf", "extra_tree")


def flaml_model(*, classify: bool) -> Any:
    """FLAML's search, which is used as a model of scikit-learn is."""
    try:
        from flaml.automl import AutoML
    except ImportError:
        raise MissingExtraError("--automl, which lets FLAML compete,", "automl") from None
    return AutoML(
        task="classification" if classify else "regression",
        estimator_list=list(LEARNERS),
        max_iter=TRIALS,
        time_budget=-1,
        n_jobs=1,
        seed=0,
        verbose=0,
    )
