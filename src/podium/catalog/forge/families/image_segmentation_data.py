"""A bay's floor: textures, meadows with the outlines divers drew of them, drifted wrack, and the sonar's pictures."""

from __future__ import annotations

import numpy as np

from podium.catalog.forge.entrants.learners import grid, per_picture
from podium.metrics.run_length import write_runs

MASK_SIDE = 48
ANGLES = 120


def draw_textures(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Rippled sand, eelgrass that is finer or coarser and has no direction, and wrack that lies across."""
    direction = rng.uniform(0, np.pi)
    frequency, grain = rng.choice([(0.17, 0.25), (0.25, 0.16)]) * rng.uniform(0.95, 1.05)
    return [
        _texture(rng, count, frequency, direction, 0.3),
        _texture(rng, count, grain, None, 0.4),
        _texture(rng, count, frequency, direction + np.pi / 2, 0.4),
    ]


def _texture(
    rng: np.random.Generator, count: int, frequency: float, direction: float | None, spread: float
) -> np.ndarray:
    """Noise of unit strength from a band of frequencies, with a direction that sways from picture to picture."""
    from scipy.fft import fftfreq, irfft2, rfft2, rfftfreq

    x, y = rfftfreq(MASK_SIDE)[None, None, :], fftfreq(MASK_SIDE)[None, :, None]
    centre = per_picture(frequency * np.exp(rng.normal(0, 0.08, count)))
    exponent = ((np.hypot(x, y) - centre) / (spread * centre)) ** 2
    if direction is not None:
        sway = per_picture(np.deg2rad(rng.normal(0, 10, count)))
        exponent = exponent + (np.sin(np.arctan2(y, x) - direction - sway) / 0.45) ** 2
    noise = irfft2(
        rfft2(rng.standard_normal((count, MASK_SIDE, MASK_SIDE))) * np.exp(-exponent / 2), s=(MASK_SIDE, MASK_SIDE)
    )
    return np.asarray(noise / noise.std((1, 2), keepdims=True))


def _blob(
    rng: np.random.Generator, count: int, low: float, high: float, error: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the depth of each pixel inside a rounded shape and inside the outline that a diver drew of it."""
    x, y = grid(MASK_SIDE)
    middle = rng.uniform(-18, 18, (2, count))
    right, down = x - per_picture(middle[0]), y - per_picture(middle[1])
    angle = np.arange(ANGLES) * 2 * np.pi / ANGLES
    waves = np.cos(angle * np.arange(2, 8)[:, None] + rng.uniform(0, 2 * np.pi, (count, 6, 1)))
    swell = np.einsum("nk,nka->na", rng.normal(0, [0.1, 0.07, 0.06, 0, 0, 0], (count, 6)), waves)
    radius = rng.uniform(low, high, (count, 1)) * (1 + swell)
    slip = np.einsum("nk,nka->na", rng.normal(0, error / np.sqrt(3), (count, 6)), np.roll(waves, 1, axis=0))
    place = (np.arctan2(down, right) * ANGLES / (2 * np.pi)).astype(int) % ANGLES
    row = np.arange(count)[:, None, None]
    distance = np.hypot(right, down)
    return radius[row, place] - distance, (radius + slip)[row, place] - distance


def _ramp(inside: np.ndarray) -> np.ndarray:
    """The share of a pixel that a shape covers, given how far inside the pixel lies."""
    return np.clip(inside / 2 + 0.5, 0, 1)


def draw_meadows(rng: np.random.Generator, count: int, error: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True masks, recorded masks, and the share of eelgrass in every pixel, tufts included."""
    meadows = rng.choice(3, count, p=[0.2, 0.6, 0.2])
    true, recorded = np.zeros((2, count, MASK_SIDE, MASK_SIDE), dtype=bool)
    cover = np.zeros((count, MASK_SIDE, MASK_SIDE))
    for number, (low, high) in enumerate([(9, 15), (7, 11)]):
        there = per_picture(meadows > number)
        inside, drawn = _blob(rng, count, low, high, error)
        true |= there & (inside > 0)
        recorded |= there & (drawn > 0)
        cover = np.maximum(cover, there * _ramp(inside))
    x, y = grid(MASK_SIDE)
    for _ in range(3):
        left, top = rng.uniform(-MASK_SIDE / 2, MASK_SIDE / 2, (2, count))
        radius = rng.uniform(1.5, 3.3, count) * (rng.random(count) < 0.5)
        inside = per_picture(radius) - np.hypot(x - per_picture(left), y - per_picture(top))
        cover = np.maximum(cover, np.where(per_picture(radius) > 0, _ramp(inside), 0))
    return true, recorded, cover


def draw_wrack(rng: np.random.Generator, count: int, share: float) -> np.ndarray:
    """Return the share of every pixel that is covered by drifting wrack, which occurs in a share of the pictures."""
    return np.asarray(_ramp(_blob(rng, count, 6, 11)[0]) * per_picture(rng.random(count) < share))


def sounded(rng: np.random.Generator, floor: np.ndarray, speckle: float) -> np.ndarray:
    """Shadows, speckle, uneven gain, and each picture's own brightness and contrast."""
    count = len(floor)
    x, y = grid(MASK_SIDE)
    for _ in range(2):
        left, top = rng.uniform(-MASK_SIDE / 2, MASK_SIDE / 2, (2, count))
        scale = per_picture(-1 / (2 * rng.uniform(5, 10, count) ** 2))
        along, down = np.exp(scale * (x - per_picture(left)) ** 2), np.exp(scale * (y - per_picture(top)) ** 2)
        floor = floor + per_picture(rng.normal(0, 1.2, count)) * along * down
    slope = rng.normal(0, 0.04, (2, count))
    floor = floor + per_picture(slope[0]) * x + per_picture(slope[1]) * y
    floor += speckle * rng.standard_normal(floor.shape)
    brightness, contrast = rng.uniform(95, 160, count), rng.uniform(14, 24, count)
    return np.asarray(np.clip(per_picture(brightness) + per_picture(contrast) * floor, 0, 255).astype(np.uint8))


def run_lengths(masks: np.ndarray) -> np.ndarray:
    """Each mask as text."""
    return np.array([write_runs(mask) for mask in masks], dtype=object)
