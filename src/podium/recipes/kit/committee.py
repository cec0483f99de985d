"""A committee: several models of the same table, weighed by how they do together."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from podium.recipes.kit.blending import blend_weights
from podium.recipes.kit.decisions import best_power, sharpened
from podium.recipes.kit.environment import SEED, time_used
from podium.recipes.kit.learning import Fit, Folds, Predict, cross_validated


def committee(
    numbers: pd.DataFrame,
    groups: pd.DataFrame,
    aim: np.ndarray,
    folds: Folds,
    fits: dict[str, Fit],
    loss: Callable[[Any, Any], float],
    *,
    usable: np.ndarray | None = None,
    further: Iterable[tuple[str, Fit]] = (),
    until: float = 0.85,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Like `cross_validated` with several models, as many as there is time for, weighed so that the loss is least.

    Args:
        fits: the models, the more promising first.
        further: other models for the time that is left.
    """
    found: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    begun = time_used()
    for name, fit in chain(fits.items(), further):
        if found and time_used() + (time_used() - begun) / len(found) > until:
            break
        oof, guess, rows = cross_validated(numbers, groups, aim, folds, fit, usable=usable, until=until, refit=True)
        if found and not rows.all():
            break
        judged = rows if usable is None else rows & usable
        if aim.dtype.kind == "i":  # some are too bold and some too cautious to be averaged with others
            power = best_power(aim[judged], oof[judged])
            oof, guess = sharpened(oof, power), sharpened(guess, power)
        found[name] = oof, guess, rows
        print(f"{name}: loss {loss(aim[judged], oof[judged]):.5f} after {time_used():.2f} of the time", flush=True)
    rows = np.all([done for _, _, done in found.values()], axis=0)
    judged = rows if usable is None else rows & usable
    weights = blend_weights(aim[judged], [oof[judged] for oof, _, _ in found.values()], loss)
    print("weights", {name: round(float(weight), 3) for name, weight in zip(found, weights, strict=True) if weight})
    oofs, guesses = [oof for oof, _, _ in found.values()], [guess for _, guess, _ in found.values()]
    return weighed(weights, oofs), weighed(weights, guesses), rows


def weighed(weights: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """The weighed sum of predictions."""
    return np.asarray(sum(weight * part for weight, part in zip(weights, parts, strict=True)))


def variants(*fits: Callable[..., Predict]) -> Iterator[tuple[str, Fit]]:
    """Models that boost, in turn, with other and other settings, drawn by chance."""
    rng = np.random.default_rng(SEED)
    for number in range(2, 100):
        rate = float(np.exp(rng.uniform(np.log(0.02), np.log(0.1))))
        options = {
            "learning_rate": rate,
            "max_iter": int(rng.uniform(6, 14) / rate),
            "max_leaf_nodes": int(rng.choice([4, 6, 8, 12, 16, 24])),
            "min_samples_leaf": int(rng.choice([5, 10, 20, 40])),
            "l2_regularization": float(rng.choice([0.1, 1, 5, 20])),
            "max_features": float(rng.choice([0.2, 0.4, 0.7, 1.0])),
        }
        fit = fits[number % len(fits)]
        yield f"{fit.__name__} {number}", with_options(fit, options)


def with_options(fit: Callable[..., Predict], options: dict[str, Any]) -> Fit:
    """A model with some of its settings given."""
    return lambda features, groups, aim, seed: fit(features, groups, aim, seed, **options)


def logged(fit: Callable[..., Predict], **options: Any) -> Fit:
    """A model of the logarithm, whose predictions are scaled back so that their sum is right."""

    def fit_logged(features: np.ndarray, groups: np.ndarray, aim: np.ndarray, seed: int) -> Predict:
        predict = fit(features, groups, np.log1p(aim), seed, **options)
        scale = aim.sum() / max(np.expm1(predict(features, groups)).sum(), 1e-9)
        return lambda features, groups: scale * np.expm1(predict(features, groups))

    return fit_logged
