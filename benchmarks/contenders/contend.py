"""A contender of benchmarks/agents.py, run inside the sandbox by the agent `command`: python contend.py hgb | flaml

The sample submission is handed in first and stays where a task is no table. `hgb` is scikit-learn's gradient boosting
with its default settings; `flaml` searches models and their settings for all the time there is, and hands in what it
has after a fifth of it, in case its last fit comes too late.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from reading import NotATable, Problem, Target, read_problem

STARTED = time.monotonic()
DATA = Path("/home/data")
SUBMISSION = Path(os.environ.get("SUBMISSION_DIR", "/home/submission"), "submission.csv")
ROUNDS = {"hgb": (1.0,), "flaml": (0.2, 0.88)}
"""The shares of the time after which something is handed in; the rest is for FLAML's last fit."""

Fit = Callable[[Problem, Target, pd.Series, float], Any]
"""A fitted model for a target's values, within some seconds."""
found_best: dict[str, dict[str, Any]] = {}
"""The settings that FLAML has found to be best, by target: a second search starts there."""


def fit_hgb(problem: Problem, target: Target, values: pd.Series, time_s: float) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor() if target.kind == "number" else HistGradientBoostingClassifier()
    return model.fit(problem.train, values)


def fit_flaml(problem: Problem, target: Target, values: pd.Series, time_s: float) -> Any:
    from flaml import AutoML

    known = "rmse" if problem.metric == "rmsle" else problem.metric  # the values are logarithms then
    has_metric = known in (
        ("mae", "rmse") if target.kind == "number" else ("roc_auc", "log_loss", "macro_f1", "accuracy")
    )
    model, name = AutoML(), target.names[0]
    model.fit(
        problem.train,
        values,
        task="regression" if target.kind == "number" else "classification",
        metric=known if has_metric else "auto",
        time_budget=time_s,
        n_jobs=int(os.environ.get("OMP_NUM_THREADS", "1")),
        seed=0,
        verbose=0,
        starting_points=found_best.get(name, "static"),
    )
    found_best[name] = {kind: best for kind, best in model.best_config_per_estimator.items() if best}
    print(f"{name}: {model.best_estimator} after {time.monotonic() - STARTED:.0f} s", flush=True)
    return model


def predict(problem: Problem, target: Target, fit: Fit, time_s: float) -> dict[str, np.ndarray]:
    """What a model says, by column of the submission."""
    values = target.values
    if target.kind == "number":
        on_logarithms = problem.metric == "rmsle" and float(values.min()) > -1
        model = fit(problem, target, np.log1p(values) if on_logarithms else values, time_s)
        found = np.asarray(model.predict(problem.test), dtype=float)
        found = np.expm1(found) if on_logarithms else found
        return {target.names[0]: np.clip(found, values.min(), values.max())}
    model = fit(problem, target, values, time_s)
    if target.kind == "label":
        return {target.names[0]: np.asarray(model.predict(problem.test))}
    chances = pd.DataFrame(model.predict_proba(problem.test), columns=list(model.classes_))
    if target.kind == "chance":
        return {target.names[0]: chances[1].to_numpy()}
    return {name: chances[name].to_numpy() for name in target.names}


def main() -> None:
    warnings.simplefilter("ignore")
    contender = sys.argv[1]
    fit = {"hgb": fit_hgb, "flaml": fit_flaml}[contender]
    shutil.copyfile(DATA / "sample_submission.csv", SUBMISSION)
    try:
        problem = read_problem(DATA)
    except NotATable as reason:
        print(f"the sample submission, because {reason}")
        return
    print(f"a table of {problem.train.shape[0]} rows and {problem.train.shape[1]} features", flush=True)
    for share in ROUNDS[contender]:
        hand_in(problem, fit, STARTED + share * float(os.environ.get("TIME_LIMIT_SECS", "3600")))
        seconds = time.monotonic() - STARTED
        print(f"handed in after {seconds:.0f} s, {time.process_time():.0f} s of them on a core", flush=True)


def hand_in(problem: Problem, fit: Fit, deadline: float) -> None:
    """Makes a submission of models that are found until a moment."""
    submission = pd.read_csv(DATA / "sample_submission.csv")
    for number, target in enumerate(problem.targets):
        left = (deadline - time.monotonic()) / (len(problem.targets) - number)
        for name, values in predict(problem, target, fit, max(1.0, left)).items():
            submission[name] = values
    aside = SUBMISSION.with_suffix(".new")
    submission.to_csv(aside, index=False)
    aside.rename(SUBMISSION)


if __name__ == "__main__":
    main()
