"""Blending what other scripts have left."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from podium.recipes.kit.environment import SPLIT, TIME_S


def predictions_of(folder: str) -> Mapping[str, np.ndarray] | None:
    """The predictions that a script has left; where the split is a fresh one, the script runs again for it."""
    place = Path(folder)
    if SPLIT:
        script, place = (place / "script.py").resolve(), Path(f"split-{SPLIT}-of-{place.name}")
        place.mkdir(exist_ok=True)
        environment = {**os.environ, "PODIUM_TIME_S": str(0.4 * TIME_S)}
        subprocess.run([sys.executable, str(script)], cwd=place, env=environment, check=False)
    try:
        with np.load(place / "predictions.npz") as saved:
            return {name: saved[name] for name in saved.files}
    except OSError:
        return None


def blendable(parts: list[Mapping[str, np.ndarray] | None]) -> list[Mapping[str, np.ndarray]]:
    """Those that are there and predict the same rows as the first."""
    known = [part for part in parts if part is not None]
    names = ("truth", "guess", "keys")
    return [part for part in known if all(part[name].shape == known[0][name].shape for name in names)]


def blend_weights(truth: np.ndarray, oofs: list[np.ndarray], loss: Callable[[Any, Any], float]) -> np.ndarray:
    """Weights found by adding, again and again, the model that helps most (each may be added often)."""
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
