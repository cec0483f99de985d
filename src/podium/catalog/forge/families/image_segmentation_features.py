"""The pictures an entrant works with: what to measure in them, chances of meadow, and masks from chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.catalog.forge.entrants.learners import blurred, evened
from podium.catalog.forge.families.image_segmentation_data import MASK_SIDE, run_lengths
from podium.catalog.forge.family import PublicData


@dataclass(frozen=True)
class Survey:
    """The pictures an entrant works with: those to learn from, those to set thresholds on, those to submit."""

    pictures: np.ndarray
    masks: np.ndarray
    """Recorded masks of the train pictures, which come first."""
    held: int
    """Number of train pictures, the last ones, that are held out to choose thresholds."""

    @property
    def learn(self) -> int:
        return len(self.masks) - self.held


def read_survey(data: PublicData, rng: np.random.Generator) -> Survey:
    """The train pictures in an order of the entrant's own, then the test pictures."""
    names = rng.permutation(data.train["id"].to_numpy())
    paths = [f"train/{name}.png" for name in names] + [f"test/{name}.png" for name in data.test["id"]]
    masks = np.stack([data.payload[f"train_masks/{name}.png"] for name in names]) > 0
    pictures = np.stack([data.payload[path] for path in paths]).astype(np.float32)
    return Survey(pictures, masks, held=int(len(names) * rng.uniform(0.22, 0.3)))


def halved(maps: np.ndarray) -> np.ndarray:
    """Maps at half the resolution: four times fewer pixels to classify, and edges are blurred anyway."""
    return np.asarray((maps[:, ::2, ::2] + maps[:, 1::2, ::2] + maps[:, ::2, 1::2] + maps[:, 1::2, 1::2]) / 4)


def band_energies(pictures: np.ndarray, directions: int, scales: Sequence[float], tuning: float) -> np.ndarray:
    """The logarithm of the local energy in bands of frequency and, where more than one is asked for, direction."""
    from scipy.fft import fftfreq, irfft2, rfft2, rfftfreq

    waves = rfft2(evened(pictures, 5))
    x, y = rfftfreq(MASK_SIDE)[None, :], fftfreq(MASK_SIDE)[:, None]
    radius, angle = np.hypot(x, y) + 1e-9, np.arctan2(y, x)
    maps = []
    for frequency in (0.11, 0.17, 0.25, 0.36):
        for number in range(directions):
            band = -((np.log(radius / (frequency * tuning)) / 0.3) ** 2)
            if directions > 1:
                band -= (np.sin(angle - np.pi * number / directions) / 0.5) ** 2
            response = irfft2(waves * np.exp(band / 2).astype(np.float32), s=(MASK_SIDE, MASK_SIDE))
            energy = halved(response**2)
            maps += [np.log(blurred(energy, scale) + 1e-4) for scale in scales]
    return np.stack(maps, axis=-1)


def raw_pixels(pictures: np.ndarray, reach: int) -> np.ndarray:
    """Place and grey values of every second pixel and its neighbours."""
    around = np.pad(pictures, ((0, 0), (reach, reach), (reach, reach)), mode="edge")
    maps = [np.broadcast_to(place, pictures.shape) for place in np.ogrid[:MASK_SIDE, :MASK_SIDE]]
    maps += [
        around[:, i : i + MASK_SIDE, j : j + MASK_SIDE] for i in range(2 * reach + 1) for j in range(2 * reach + 1)
    ]
    return np.stack([values[:, ::2, ::2] for values in maps], axis=-1).astype(np.float32)


def chances(features: np.ndarray, survey: Survey, rows: slice, model: Any, rng: np.random.Generator) -> np.ndarray:
    """The chance of meadow all over all pictures, from a model of some pixels of the train pictures in rows."""
    target = halved(survey.masks.astype(float)) > 0.5
    pixels = features.reshape(-1, features.shape[-1])
    eligible = np.arange(target.size).reshape(target.shape)[rows].ravel()
    chosen = rng.choice(eligible, min(len(eligible), 9000), replace=False)
    model.fit(pixels[chosen], target.ravel()[chosen])
    return np.asarray(model.predict_proba(pixels)[:, 1].reshape(features.shape[:3]))


def submitted(chance: np.ndarray, survey: Survey, *, clean: bool = False) -> np.ndarray:
    """Masks of the test pictures above the threshold, and of the size, that suit the held pictures best."""
    fine = blurred(chance.repeat(2, axis=1).repeat(2, axis=2), 1) if chance.shape[1] < MASK_SIDE else chance
    held, test = slice(survey.learn, len(survey.masks)), slice(len(survey.masks), None)
    truth = survey.masks[held]
    levels = np.quantile(fine[held], np.linspace(0.7, 0.95, 26))
    masks = fine > max(levels, key=lambda level: _mean_dice(fine[held] > level, truth))
    if not clean:
        return run_lengths(masks[test])
    area = max(range(140, 30, -15), key=lambda area: _mean_dice(_large_parts(masks[held], area), truth))
    return run_lengths(_large_parts(masks[test], area))


def _mean_dice(masks: np.ndarray, truth: np.ndarray) -> float:
    common, total = (masks & truth).sum((1, 2)), masks.sum((1, 2)) + truth.sum((1, 2))
    return float(np.mean(np.where(total > 0, 2 * common / np.maximum(total, 1), 1)))


def _large_parts(masks: np.ndarray, area: int) -> np.ndarray:
    """The connected parts of at least that many pixels."""
    from scipy.ndimage import label

    within_picture = np.zeros((3, 3, 3), dtype=bool)
    within_picture[1] = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    parts, _ = label(masks, within_picture)
    large = np.bincount(parts.ravel()) >= area
    large[0] = False
    return large[parts]
