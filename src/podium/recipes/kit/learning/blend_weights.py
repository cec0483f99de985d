"""Blends predictions: weights, a second layer, and the predictions of other scripts."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from podium.recipes.kit.learning.cross_validation import Predictions, evenly_spread, pad_classes
from podium.recipes.kit.learning.fit_models import logistic, ridge
from podium.tables.script_settings import SEED, SPLIT, TIME_S, time_used

MIN_STACKING_GAIN = 0.001
"""Smallest share of the loss by which a second layer must be better than weights."""
LATEST_SECOND_LAYER = 0.95
"""The share of the time by which weights are to be fitted again for five parts of the rows."""


def load_predictions(folder: str) -> Mapping[str, np.ndarray] | None:
    """The predictions that a script saved; under another validation split, the script runs again first."""
    saved_in = Path(folder)
    if SPLIT:
        script, saved_in = (saved_in / "script.py").resolve(), Path(f"split-{SPLIT}-of-{saved_in.name}")
        saved_in.mkdir(exist_ok=True)
        environment = {**os.environ, "PODIUM_TIME_S": str(0.4 * TIME_S)}
        subprocess.run([sys.executable, str(script)], cwd=saved_in, env=environment, check=False)
    try:
        with np.load(saved_in / "predictions.npz") as saved:
            return {name: saved[name] for name in saved.files}
    except OSError:
        return None


def compatible_predictions(parts: list[Mapping[str, np.ndarray] | None]) -> list[Mapping[str, np.ndarray]]:
    """The predictions that exist and are for the same rows as the first ones."""
    known = [part for part in parts if part is not None]
    names = ("truth", "prediction", "keys")
    return [part for part in known if all(part[name].shape == known[0][name].shape for name in names)]


def blend_weights(truth: np.ndarray, oofs: list[np.ndarray], loss: Callable[[Any, Any], float]) -> np.ndarray:
    """Weights found greedily: the model that helps most is added again and again, each as often as it helps."""
    some = evenly_spread(len(truth))
    truth, oofs = truth[some], [oof[some] for oof in oofs]
    counts = np.zeros(len(oofs))
    total: Any = np.zeros_like(oofs[0])
    best = np.inf
    for step in range(1, 25):
        losses = [loss(truth, (total + oof) / step) for oof in oofs]
        chosen = int(np.argmin(losses))
        if losses[chosen] > best - 1e-7 * abs(best):
            break
        best, counts[chosen] = losses[chosen], counts[chosen] + 1
        total = total + oofs[chosen]
    return np.asarray(counts / counts.sum())


def blend(
    parts: Mapping[str, Predictions], y: np.ndarray, loss: Callable[[Any, Any], float], usable: np.ndarray | None = None
) -> Predictions:
    """The predictions of several models, by name, weighted to minimise the loss; or a model of them, if that is better.

    Which is better, rows decide that neither the weights nor the model were fitted on.
    """
    oofs, predictions, done = zip(*parts.values(), strict=True)
    rows = np.all(done, axis=0)
    scored = np.flatnonzero(rows if usable is None else rows & usable)
    started = time_used()
    weights = blend_weights(y[scored], [oof[scored] for oof in oofs], loss)
    has_time = time_used() + 6 * (time_used() - started) < LATEST_SECOND_LAYER
    print("weights", {name: round(float(weight), 3) for name, weight in zip(parts, weights, strict=True) if weight})
    oof, prediction = weighted_sum(weights, oofs), weighted_sum(weights, predictions)
    if not rows.all() or not has_time or not can_stack(oofs, y, scored):
        return oof, prediction, rows
    weighted, stacked = oof.copy(), oof.copy()
    for learn, check in KFold(5, shuffle=True, random_state=SEED).split(scored):
        learn, check = scored[learn], scored[check]
        inner = blend_weights(y[learn], [one[learn] for one in oofs], loss)
        weighted[check] = weighted_sum(inner, [one[check] for one in oofs])
        stacked[check] = fit_second_layer([one[learn] for one in oofs], y[learn], inner)([one[check] for one in oofs])
    losses = [loss(y[scored], one[scored]) for one in (weighted, stacked)]
    print("loss of weights and of a second layer:", *(round(one, 5) for one in losses), flush=True)
    if losses[1] > losses[0] - MIN_STACKING_GAIN * abs(losses[0]):
        return oof, prediction, rows
    second = fit_second_layer([one[scored] for one in oofs], y[scored], weights)
    return stacked, second(predictions), rows


def can_stack(oofs: Sequence[np.ndarray], y: np.ndarray, scored: np.ndarray) -> bool:
    """Return whether stacking is possible: one column or class probabilities, and enough rows."""
    has_columns = oofs[0].ndim > 1 and y.dtype.kind != "i"
    if y.ndim > 1 or has_columns or len(oofs) < 2:
        return False
    columns = sum(oof[0].size for oof in oofs)
    learnt = y[scored[evenly_spread(len(scored))]]
    is_common = y.dtype.kind != "i" or (y.min() >= 0 and np.bincount(learnt, minlength=y.max() + 1).min() >= 10)
    return len(scored) >= 20 * max(10, columns) and is_common


def fit_second_layer(
    oofs: Sequence[np.ndarray], y: np.ndarray, weights: np.ndarray
) -> Callable[[Sequence[np.ndarray]], np.ndarray]:
    """A model of the predictions of others: of what weights leave unexplained, or of the logits of classes."""
    some, classes = evenly_spread(len(y)), y
    y, oofs = y[some], [oof[some] for oof in oofs]
    if y.dtype.kind == "i":

        def logits(parts: Sequence[np.ndarray]) -> np.ndarray:
            clipped = np.column_stack([np.clip(part, 1e-4, 1 - 1e-4) for part in parts])
            return np.asarray(np.log(clipped) - np.log(1 - clipped))

        classify = logistic(logits(oofs), y, SEED)
        return lambda parts: pad_classes(classify(logits(parts)), classes)

    scale = float(y.std()) or 1.0
    correct, _ = ridge(np.column_stack(oofs) / scale, (y - weighted_sum(weights, oofs)) / scale)
    return lambda parts: weighted_sum(weights, parts) + scale * correct(np.column_stack(parts) / scale)


def weighted_sum(weights: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray:
    """The weighted sum of predictions."""
    return np.asarray(sum(weight * part for weight, part in zip(weights, parts, strict=True)))
