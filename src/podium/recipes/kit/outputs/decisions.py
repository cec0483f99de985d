"""Turns probabilities and estimates into what is submitted."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from podium.recipes.kit.learning.cross_validation import evenly_spread
from podium.recipes.kit.outputs.script_scores import log_loss, multiclass_log_loss, quadratic_kappa

ScoreFunction = Callable[[Any, Any], float]


def best_threshold(truth: np.ndarray, oof: np.ndarray, score: ScoreFunction) -> float:
    """The probability above which predicting the positive class scores best; one half where chance may explain that."""
    candidates = [oof.min() - 1e-9, *np.unique(np.quantile(oof, np.linspace(0.01, 0.99, 99)))]
    scores = {cut: score(truth, (oof > cut).astype(int)) for cut in (0.5, *candidates)}
    best = max(scores, key=lambda cut: scores[cut])
    changed = np.sum((oof > best) != (oof > 0.5))
    return float(best) if (scores[best] - scores[0.5]) * len(truth) > 2 * np.sqrt(changed) else 0.5


def best_class_weights(truth: np.ndarray, oof: np.ndarray, score: ScoreFunction) -> np.ndarray:
    """Factors for the class probabilities with which the most likely class scores best."""
    some = evenly_spread(len(truth))
    truth, oof = truth[some], oof[some]
    weights = np.ones(oof.shape[1])
    best = score(truth, oof.argmax(axis=1))
    for _ in range(2):
        for column in range(len(weights)):
            for factor in (0.6, 0.75, 0.9, 1.1, 1.3, 1.7):
                trial = weights.copy()
                trial[column] *= factor
                found = score(truth, (oof * trial).argmax(axis=1))
                if found > best + 1e-4:
                    best, weights = found, trial
    return weights


def best_cuts(truth: np.ndarray, oof: np.ndarray) -> np.ndarray:
    """Return the cuts of estimates into grades with the best agreement, optimised one cut at a time."""
    grades = np.unique(truth)
    shares = np.cumsum([np.mean(truth == grade) for grade in grades])[:-1]
    cuts: np.ndarray = np.quantile(oof, shares)
    for _ in range(3):
        for index in range(len(cuts)):
            low = cuts[index - 1] if index else oof.min()
            high = cuts[index + 1] if index + 1 < len(cuts) else oof.max()
            trials = [cuts[index], *np.linspace(low, high, 22)[1:-1]]
            scored = [
                quadratic_kappa(truth, to_grades(oof, np.r_[cuts[:index], cut, cuts[index + 1 :]], grades))
                for cut in trials
            ]
            cuts[index] = trials[int(np.argmax(scored))]
    return cuts


def to_grades(estimate: np.ndarray, cuts: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """Estimates as grades."""
    return np.asarray(np.take(grades, np.searchsorted(cuts, estimate)))


def scale_probabilities(probability: np.ndarray, power: float) -> np.ndarray:
    """Probabilities raised to a power and normalised: more confident above 1, less below."""
    if probability.ndim == 1:
        both = np.stack([1 - probability, probability], axis=1)
        return scale_probabilities(both, power)[:, 1]
    raised = np.clip(probability, 1e-12, 1) ** power
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def best_power(truth: np.ndarray, oof: np.ndarray) -> float:
    """The power for `scale_probabilities` with the least log loss."""
    loss = log_loss if oof.ndim == 1 else multiclass_log_loss
    found = minimize_scalar(
        lambda power: loss(truth, scale_probabilities(oof, power)), bounds=(0.3, 3), method="bounded"
    )
    return float(found.x)
