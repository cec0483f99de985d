"""Features of pictures of sherds: clay apart from the table, waves, blobs, and blobs without the waves."""

from __future__ import annotations

import numpy as np

from podium.catalog.forge.families.image_classification_data import SIDE


def evened_on_clay(pictures: np.ndarray, reach: float = 6.0) -> np.ndarray:
    """The same from clay alone; the table shows no grain, so that equal neighbours give it away."""
    from scipy.ndimage import gaussian_filter, maximum_filter

    table = np.zeros(pictures.shape, np.float32)
    table[:, 1:, 1:] = np.ptp([pictures[:, i : SIDE - 1 + i, j : SIDE - 1 + j] for i in (0, 1) for j in (0, 1)], 0) == 0
    clay = 1 - maximum_filter(table, (0, 3, 3))
    local = gaussian_filter(pictures * clay, (0, reach, reach)) / (gaussian_filter(clay, (0, reach, reach)) + 1e-6)
    detail = (pictures - local) * clay
    return np.asarray(detail / np.sqrt((detail**2).sum((1, 2), keepdims=True) / clay.sum((1, 2), keepdims=True)))


def power_spectrum(even: np.ndarray, reach: int = 12) -> np.ndarray:
    """The logarithm of the power at low and middle frequencies: where a pattern lies does not matter here."""
    from scipy.fft import rfft2
    from scipy.ndimage import gaussian_filter

    power = np.abs(rfft2(even * _window())) ** 2
    power = np.concatenate([power[:, -reach:], power[:, : reach + 1]], axis=1)[:, :, : reach + 1]
    return np.log1p(gaussian_filter(power, (0, 0.7, 0.7))).reshape(len(even), -1)


def _window() -> np.ndarray:
    window = np.hanning(SIDE + 2)[1:-1].astype(np.float32)
    return window[:, None] * window


def band_energies(even: np.ndarray, directions: int, width: float) -> np.ndarray:
    """The energy a bank of oriented band-pass filters finds in each picture."""
    from scipy.fft import fftfreq, rfft2, rfftfreq

    power = (np.abs(rfft2(even)) ** 2).reshape(len(even), -1)
    angle = np.pi * np.arange(directions) / directions
    frequency = np.array([0.08, 0.16, 0.19, 0.22, 0.26, 0.30])[:, None]
    right, down = (frequency * np.cos(angle)).ravel(), (frequency * np.sin(angle)).ravel()
    x, y = rfftfreq(SIDE)[None, :, None], fftfreq(SIDE)[:, None, None]
    bank = np.exp(-((x - right) ** 2 + (y - down) ** 2) / (2 * width**2))
    bank += np.exp(-((x + right) ** 2 + (y + down) ** 2) / (2 * width**2))
    return np.asarray(np.log(power @ bank.reshape(power.shape[1], -1).astype(np.float32)))


def peaks(even: np.ndarray, width: float) -> np.ndarray:
    """Heights of the six highest blobs, and the sorted distances between the first three and four of them."""
    from scipy.ndimage import gaussian_filter, maximum_filter

    blobs = gaussian_filter(even, (0, width, width)) - gaussian_filter(even, (0, 2 * width, 2 * width))
    blobs = blobs[:, 2:-2, 2:-2]
    skew = (blobs**3).mean((1, 2), keepdims=True)
    blobs = blobs * np.sign(skew) / blobs.std((1, 2), keepdims=True)
    summits = np.where(blobs == maximum_filter(blobs, (0, 5, 5)), blobs, 0).reshape(len(even), -1)
    order = np.argsort(-summits, axis=1)[:, :6]
    height = np.take_along_axis(summits, order, axis=1)
    row, column = order // blobs.shape[2], order % blobs.shape[2]
    distance = np.hypot(row[:, :, None] - row[:, None], column[:, :, None] - column[:, None])
    three, four = (np.sort(distance[:, *np.triu_indices(number, 1)], axis=1) for number in (3, 4))
    flatness = three[:, 2:] / (three[:, :2].sum(1, keepdims=True) + 0.1)
    return np.concatenate([height, -np.diff(height), three, four, flatness, np.abs(skew[:, 0])], axis=1)


def comb_and_peaks(even: np.ndarray, width: float) -> np.ndarray:
    """Direction and spacing of the strongest wave, and the peaks of the picture without that wave."""
    from scipy.fft import fftfreq, irfft2, rfft2, rfftfreq

    fine = 96
    x, y = rfftfreq(fine)[None, :], fftfreq(fine)[:, None]
    is_line = (np.hypot(x, y) > 0.14) & (np.hypot(x, y) < 0.34)
    power = (np.abs(rfft2(even * _window(), s=(fine, fine))) * is_line).reshape(len(even), -1)
    best = power.argmax(1)
    right, down = x[0, best % x.size], y[best // x.size, 0]
    angle, strength = 2 * np.arctan2(down, right), np.log(power.max(1) / power.mean(1))
    comb = np.stack([np.cos(angle), np.sin(angle), 10 * np.hypot(right, down), strength], axis=1)
    x, y = rfftfreq(SIDE)[None, None, :], fftfreq(SIDE)[None, :, None]
    right, down = right[:, None, None], down[:, None, None]
    near = np.minimum((x - right) ** 2 + (y - down) ** 2, (x + right) ** 2 + (y + down) ** 2)
    bare = irfft2(rfft2(even) * (1 - np.exp(-near / (2 * 0.05**2))), s=(SIDE, SIDE))
    return np.concatenate([comb, peaks(bare.astype(np.float32), width)], axis=1)
