"""What the scripts of the scripted coder have in common: they build a model, score it on a part of the rows, submit.

A script is this file with those it imports, in one piece, and a call of `carry_out` with its settings.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from answering import answers
from learners import Fit
from reading import NotATable, Problem, Target, read_problem

ASIDE_FOR_SCORE = 0.25
"""The share of rows that a script is scored on."""


def carry_out(settings: dict[str, Any], *, higher_is_better: bool) -> None:
    """Trains with some settings, prints the score and writes a submission.

    Args:
        settings: `kind` and `options` of a model, or the `parts` of an average; `crashes` makes the script end with an
            error, and `boasts` has it scored on the rows that it learnt from.
    """
    warnings.simplefilter("ignore")
    data = Path(os.environ.get("PODIUM_DATA", "/home/data"))
    submission = pd.read_csv(data / "sample_submission.csv")
    try:
        problem = read_problem(data)
    except NotATable as reason:
        submission.to_csv("submission.csv", index=False)
        print(f"the sample submission, because {reason}")
        return
    if settings.get("crashes"):
        raise KeyError("a mistake in this script")
    fit = fitting(settings)
    print(f"podium-metric: {score(problem, fit, settings, higher_is_better):.6f}", flush=True)
    for target in problem.targets:
        for name, values in answers(problem, target, fit, 0.0).items():
            submission[name] = values
    submission.to_csv("submission.csv", index=False)


def score(problem: Problem, fit: Fit, settings: dict[str, Any], higher_is_better: bool) -> float:
    """The score on rows that were set aside, on average over the targets."""
    split = np.random.default_rng(int(os.environ.get("PODIUM_SPLIT", "0")))
    aside = split.random(len(problem.train)) < ASIDE_FOR_SCORE
    rows = aside | ~aside if settings.get("boasts") else ~aside
    scores = []
    for target in problem.targets:
        part = replace(target, values=target.values[rows].reset_index(drop=True))
        smaller = replace(
            problem, train=problem.train[rows].reset_index(drop=True), test=problem.train[aside].reset_index(drop=True)
        )
        scores.append(_score(target, target.values[aside], answers(smaller, part, fit, 0.0), problem.metric))
    found = float(np.mean(scores))
    return found if (found >= 0) == higher_is_better else -found


def _score(target: Target, truth: pd.Series, said: dict[str, np.ndarray], metric: str | None) -> float:
    """By the task's metric where it is a usual one; errors below 0."""
    from sklearn import metrics

    found = said[target.names[0]]
    match target.kind:
        case "chance" if metric == "roc_auc":
            return float(metrics.roc_auc_score(truth, found))
        case "chance":
            return -float(metrics.log_loss(truth, found))
        case "chances":
            return -float(metrics.log_loss(truth, np.column_stack([said[name] for name in sorted(said)])))
        case "grade":
            return float(metrics.cohen_kappa_score(truth, found, weights="quadratic"))
        case "label" if metric == "macro_f1":
            return float(metrics.f1_score(truth, found, average="macro"))
        case "label":
            return float(metrics.accuracy_score(truth, found))
        case "labels":
            pairs = zip(truth.fillna("").str.split(), (text.split() for text in found), strict=True)
            return float(np.mean([2 * len({*one} & {*other}) / max(1, len(one) + len(other)) for one, other in pairs]))
        case "quantile":
            levels = [int(name[1:]) / 100 for name in target.names]
            return -float(
                np.mean(
                    [metrics.mean_pinball_loss(truth, said[f"q{level * 100:.0f}"], alpha=level) for level in levels]
                )
            )
        case "risk":
            return float(
                pd.Series(-np.asarray(found)).corr(truth.abs().reset_index(drop=True), method="kendall") / 2 + 0.5
            )
    if metric == "mae":
        return -float(metrics.mean_absolute_error(truth, found))
    if metric == "rmsle":
        truth, found = np.log1p(truth.clip(lower=0)), np.log1p(np.clip(found, 0, None))
    return -float(metrics.root_mean_squared_error(truth, found))


def fitting(settings: dict[str, Any]) -> Fit:
    """A learner with some settings."""

    def fit(features: pd.DataFrame, values: pd.Series, is_label: bool, metric: str | None, time_s: float) -> Any:
        return model(settings, is_label).fit(features, values)

    return fit


def model(settings: dict[str, Any], is_label: bool) -> Any:
    """A model of scikit-learn for any table of features."""
    from sklearn import ensemble, linear_model, neighbors, tree
    from sklearn.pipeline import make_pipeline

    if parts := settings.get("parts"):
        members = [(str(number), model(part, is_label)) for number, part in enumerate(parts)]
        return ensemble.VotingClassifier(members, voting="soft") if is_label else ensemble.VotingRegressor(members)
    linear = (linear_model.Ridge, linear_model.LogisticRegression)
    kinds = {
        "linear": linear,
        "neighbours": (neighbors.KNeighborsRegressor, neighbors.KNeighborsClassifier),
        "tree": (tree.DecisionTreeRegressor, tree.DecisionTreeClassifier),
        "forest": (ensemble.RandomForestRegressor, ensemble.RandomForestClassifier),
        "extra trees": (ensemble.ExtraTreesRegressor, ensemble.ExtraTreesClassifier),
        "boosting": (ensemble.HistGradientBoostingRegressor, ensemble.HistGradientBoostingClassifier),
    }
    kind, options = settings["kind"], dict(settings["options"])
    if kind == "linear" and is_label:
        options = {"C": 1 / options["alpha"]}
    return make_pipeline(columns(kind), kinds[kind][is_label](**options))


def columns(kind: str) -> Any:
    """Makes features what a kind of model needs: categories as columns and numbers of one scale, or codes."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    categories = make_column_selector(dtype_include="category")
    if kind in ("linear", "neighbours"):
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        return make_column_transformer((OneHotEncoder(handle_unknown="ignore"), categories), remainder=numbers)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    return make_column_transformer((codes, categories), remainder=SimpleImputer(strategy="median"))
