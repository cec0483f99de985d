"""Sherds: the combs and stamps of six workshops, their marks in clay, and the photographs taken of them."""

from __future__ import annotations

import numpy as np

from podium.catalog.forge.entrants.learners import grid, per_picture

SIDE = 32
WORKSHOPS = ("anchor", "boar", "crane", "drum", "elm", "fern")
STAMPS = {
    "pair": [(-0.9, 0.0), (0.9, 0.0)],
    "row": [(-1.0, 0.0), (0.0, 0.0), (1.0, 0.0)],
    "triangle": [(-0.65, -0.35), (0.65, -0.35), (0.0, 0.75)],
    "square": [(-0.6, -0.6), (0.6, -0.6), (0.6, 0.6), (-0.6, 0.6)],
}
MAX_DOTS = 4


def draw_habits(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Each workshop's comb (direction and spacing) and stamp (places of the dots, absent ones as NaN)."""
    direction, spacing = rng.uniform(0, np.pi), rng.uniform(4.3, 4.9)
    lean = rng.choice([-1, 1]) * np.deg2rad(rng.uniform(15, 18))
    other = spacing * rng.choice([1.17, 1 / 1.17])
    combs = np.array([(direction, spacing), (direction + lean, spacing), (direction, other)])
    stamps = np.full((3, MAX_DOTS, 2), np.nan)
    for row, name in enumerate(rng.permutation(list(STAMPS))[:3]):
        stamps[row, : len(STAMPS[name])] = STAMPS[name]
    # Of nine pairs, three stay unused, so that every comb and every stamp belongs to two workshops.
    unused = rng.permutation(3)
    pairs = np.array([(comb, stamp) for comb in range(3) for stamp in range(3) if stamp != unused[comb]])
    pairs = rng.permutation(pairs)
    return combs[pairs[:, 0]], stamps[pairs[:, 1]]


def combed(rng: np.random.Generator, comb: np.ndarray) -> np.ndarray:
    """The lines that combs have drawn, one comb a picture, nearly straight."""
    count = len(comb)
    x, y = grid(SIDE)
    direction = comb[:, 0] + np.deg2rad(rng.normal(0, 3.0, count))
    spacing = comb[:, 1] * np.exp(rng.normal(0, 0.025, count))
    cosine, sine = per_picture(np.cos(direction)), per_picture(np.sin(direction))
    bend = per_picture(rng.normal(0, 0.004, count))
    across, along = x * cosine + y * sine, y * cosine - x * sine
    turns = (across + bend * along**2) / per_picture(spacing) + per_picture(rng.random(count))
    return np.asarray(per_picture(rng.uniform(0.9, 1.5, count)) * np.sin(2 * np.pi * turns))


def stamped(rng: np.random.Generator, stamp: np.ndarray) -> np.ndarray:
    """The dots that stamps have left, pressed in or raised, turned and placed anyhow."""
    count = len(stamp)
    size, turn = rng.uniform(5.2, 8.3, count), rng.uniform(0, 2 * np.pi, count)
    middle = rng.uniform(-5, 5, (2, count))
    depth = 2.1 * rng.choice([-1, 1], count)
    relief = np.zeros((count, SIDE, SIDE))
    for number in range(MAX_DOTS):
        x, y = stamp[:, number].T
        left = middle[0] + size * (x * np.cos(turn) - y * np.sin(turn)) + rng.normal(0, 0.4, count)
        top = middle[1] + size * (x * np.sin(turn) + y * np.cos(turn)) + rng.normal(0, 0.4, count)
        relief += _dot(left, top, np.full(count, 1.6), depth * np.exp(rng.normal(0, 0.15, count)))
    return relief


def _dot(left: np.ndarray, top: np.ndarray, width: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """A round hollow in every picture, none where its place is NaN."""
    x, y = grid(SIDE)
    absent = np.isnan(left)
    scale = per_picture(-1 / (2 * width**2))
    along = np.exp(scale * (x - per_picture(np.where(absent, 0, left))) ** 2)
    down = np.exp(scale * (y - per_picture(np.where(absent, 0, top))) ** 2)
    return np.asarray(per_picture(np.where(absent, 0, depth)) * along * down)


def photographed(rng: np.random.Generator, relief: np.ndarray, *, pits: int, grain: float) -> np.ndarray:
    """Pits, grain, an uneven lamp, broken edges and each picture's own brightness and contrast."""
    count = len(relief)
    x, y = grid(SIDE)
    for _ in range(pits):
        left, top = rng.uniform(-SIDE / 2, SIDE / 2, (2, count))
        relief = relief + _dot(left, top, rng.uniform(0.7, 1.2, count), rng.normal(0, 1.5, count))
    relief += grain * rng.standard_normal(relief.shape)
    slope = rng.normal(0, 0.06, (2, count))
    relief += per_picture(slope[0]) * x + per_picture(slope[1]) * y
    relief += per_picture(rng.normal(0, 0.004, count)) * (x**2 + y**2)
    side, distance = rng.uniform(0, 2 * np.pi, count), rng.uniform(11, 27, count)
    outside = x * per_picture(np.cos(side)) + y * per_picture(np.sin(side)) > per_picture(distance)
    relief = np.where(outside, per_picture(rng.uniform(-3, 3, count)), relief)
    brightness, contrast = rng.uniform(95, 160, count), rng.uniform(12, 24, count)
    return np.asarray(np.clip(per_picture(brightness) + per_picture(contrast) * relief, 0, 255).astype(np.uint8))
