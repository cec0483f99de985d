"""Blends the predictions of other scripts."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from podium.recipes.kit.environment import SPLIT, TIME_S
from podium.recipes.kit.validation import Predictions


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
    """The predictions of several models, by name, weighted to minimise the loss."""
    oofs, predictions, done = zip(*parts.values(), strict=True)
    rows = np.all(done, axis=0)
    scored = rows if usable is None else rows & usable
    weights = blend_weights(y[scored], [oof[scored] for oof in oofs], loss)
    print("weights", {name: round(float(weight), 3) for name, weight in zip(parts, weights, strict=True) if weight})
    return weighted_sum(weights, oofs), weighted_sum(weights, predictions), rows


def weighted_sum(weights: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray:
    """The weighted sum of predictions."""
    return np.asarray(sum(weight * part for weight, part in zip(weights, parts, strict=True)))
