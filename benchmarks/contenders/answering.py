"""Makes predictions in a submission's form with any learner."""

from __future__ import annotations

import numpy as np
import pandas as pd
from learners import Fit
from reading import Problem, Target

ASIDE = 0.2
"""The share of rows from whose errors quantiles are read."""


def answers(problem: Problem, target: Target, fit: Fit, time_s: float) -> dict[str, np.ndarray]:
    """What a learner says of the test rows, by column of the submission."""
    values, train, test, metric = target.values, problem.train, problem.test, problem.metric
    name = target.names[0]
    match target.kind:
        case "number" | "risk" | "grade":
            return {name: _numbers(problem, target, fit, time_s)}
        case "quantile":
            return _quantiles(problem, target, fit, time_s)
        case "labels":
            return {name: _label_lists(problem, values, fit, time_s)}
    model = fit(train, values, True, metric, time_s)
    if target.kind == "label":
        return {name: np.asarray(model.predict(test))}
    chances = pd.DataFrame(model.predict_proba(test), columns=list(model.classes_))
    return (
        {name: chances[1].to_numpy()}
        if target.kind == "chance"
        else {one: chances[one].to_numpy() for one in target.names}
    )


def _numbers(problem: Problem, target: Target, fit: Fit, time_s: float) -> np.ndarray:
    values = target.values.abs() if target.kind == "risk" else target.values  # below 0: nothing has happened until then
    on_logarithms = problem.metric == "rmsle" and float(values.min()) > -1
    metric = {"rmsle": "rmse", "concordance": "mae"}.get(problem.metric or "", problem.metric)
    model = fit(problem.train, np.log1p(values) if on_logarithms else values, False, metric, time_s)
    found = np.asarray(model.predict(problem.test), dtype=float)
    found = np.clip(np.expm1(found) if on_logarithms else found, values.min(), values.max())
    if target.kind == "grade":
        return np.rint(found).astype(int)
    return -found if target.kind == "risk" else found


def _quantiles(problem: Problem, target: Target, fit: Fit, time_s: float) -> dict[str, np.ndarray]:
    """Predictions moved by the quantiles of the errors in rows that were set aside."""
    aside = np.random.default_rng(0).random(len(problem.train)) < ASIDE
    model = fit(problem.train[~aside], target.values[~aside], False, "mae", time_s)
    errors = target.values[aside] - np.asarray(model.predict(problem.train[aside]), dtype=float)
    found = np.asarray(model.predict(problem.test), dtype=float)
    return {name: found + float(np.quantile(errors, int(name[1:]) / 100)) for name in target.names}


def _label_lists(problem: Problem, values: pd.Series, fit: Fit, time_s: float) -> np.ndarray:
    """The labels that are likelier than not; the likeliest where none is."""
    given = values.fillna("").str.get_dummies(" ")
    chances = np.zeros((len(problem.test), given.shape[1]))
    for number, label in enumerate(given):
        model = fit(problem.train, given[label], True, "log_loss", time_s / given.shape[1])
        chances[:, number] = model.predict_proba(problem.test)[:, list(model.classes_).index(1)]
    chosen = (chances > 0.5) | (chances == chances.max(axis=1, keepdims=True)) & (
        chances.max(axis=1, keepdims=True) <= 0.5
    )
    return np.array([" ".join(given.columns[row]) for row in chosen])
