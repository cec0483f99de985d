"""Pictures: reading them, and measuring what is to be seen on them.

Pictures of a task are one array of bytes with the axes picture, row, column and, with colours, channel. What is
measured on grey pictures takes an array of numbers with three axes; a spectrogram is such a picture too.
"""

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image
from scipy.ndimage import gaussian_filter

from podium.recipes.kit.archives import file_bytes
from podium.recipes.kit.environment import CORES, DATA, SEED, time_used


def picture_form(paths: list[str], most: int) -> tuple[int, str]:
    """The size and mode in which to read pictures, judged by some of them: their own size unless it is too large."""
    sides, colours = [], []
    for path in paths[:: max(1, len(paths) // 30)]:
        try:
            picture = Image.open(io.BytesIO(file_bytes(path)))
            sides.append(max(picture.size))
            small = np.asarray(picture.convert("RGB").resize((16, 16)), dtype=float)
            colours.append(np.ptp(small, axis=2).mean() > 2)
        except (OSError, KeyError, ValueError):
            continue
    return min(most, int(np.median(sides)) if sides else most), "RGB" if np.mean(colours or [0]) > 0.2 else "L"


def read_picture(path: str, side: int, mode: str) -> np.ndarray:
    """One picture at a size, squeezed to a square; black if it cannot be read."""
    try:
        source = Image.open(io.BytesIO(file_bytes(path)))
        source.draft(mode, (2 * side, 2 * side))
        picture = bytes_of_deep(source).convert(mode)
        same = picture.size == (side, side)
        return np.asarray(picture if same else picture.resize((side, side), Image.Resampling.BOX))
    except (OSError, KeyError, ValueError):
        return np.zeros((side, side) if mode == "L" else (side, side, 3), dtype=np.uint8)


def bytes_of_deep(picture: Image.Image) -> Image.Image:
    """A picture with more than 256 shades brought to as many, from its darkest to its brightest."""
    if picture.mode[0] not in "IF":
        return picture
    deep = np.asarray(picture, dtype=float)
    return Image.fromarray((255 * (deep - deep.min()) / max(np.ptp(deep), 1e-9)).astype(np.uint8))


def read_pictures(paths: list[str], side: int, mode: str, until: float = 1.0) -> np.ndarray:
    """Pictures in order, as many as there is time for.

    Args:
        mode: `L` for grey, `RGB` for colours.
        until: the part of the script's time after which to stop.
    """
    found: list[np.ndarray] = []
    with ThreadPoolExecutor(CORES) as pool:
        for start in range(0, len(paths), 256):
            found += pool.map(lambda path: read_picture(path, side, mode), paths[start : start + 256])
            if time_used() > until:
                break
    return np.stack(found)


def read_picture_rows(file: str, name: str | None, side: int) -> np.ndarray:
    """The pictures in an array, brought to a size and to bytes."""
    loaded = np.load(DATA / file)
    rows = np.asarray(loaded[name] if name else loaded)
    if rows.ndim == 4 and rows.shape[1] in (1, 3) and rows.shape[3] not in (1, 3):
        rows = rows.transpose(0, 2, 3, 1)
    if rows.ndim == 4 and rows.shape[3] == 1:
        rows = rows[..., 0]
    if rows.dtype != np.uint8:
        low, high = np.nanpercentile(rows[:500], [0.1, 99.9])
        rows = (255 * np.clip((np.nan_to_num(rows) - low) / max(high - low, 1e-9), 0, 1)).astype(np.uint8)
    if max(rows.shape[1:3]) <= side:
        return rows
    return np.stack([np.asarray(Image.fromarray(row).resize((side, side), Image.Resampling.BOX)) for row in rows])


def grey(pictures: np.ndarray) -> np.ndarray:
    """Pictures as brightness from 0 to 1."""
    values = pictures.astype(np.float32) / 255
    return values if values.ndim == 3 else values @ np.array([0.299, 0.587, 0.114], dtype=np.float32)


def in_chunks(measure: Callable[[np.ndarray], np.ndarray], pictures: np.ndarray, size: int = 200) -> np.ndarray:
    """What is measured on pictures, some at a time, because it takes much memory."""
    with ThreadPoolExecutor(CORES) as pool:
        parts = pool.map(measure, [pictures[start : start + size] for start in range(0, len(pictures), size)])
        return np.concatenate(list(parts)).astype(np.float32)


def coarse(pictures: np.ndarray, cells: int) -> np.ndarray:
    """Mean values on a grid of cells, of every channel."""
    sides = []
    for length in pictures.shape[1:3]:
        cell = np.arange(length) * cells // length
        sides.append((cell == np.arange(cells)[:, None]) / np.maximum(np.bincount(cell, minlength=cells), 1)[:, None])
    grid = np.kron(*sides).astype(np.float32)
    flat = pictures.reshape(len(pictures), grid.shape[1], -1).astype(np.float32, copy=False)
    return np.asarray(np.matmul(grid, flat).reshape(len(pictures), -1))


def colour_histograms(pictures: np.ndarray, bins: int = 16) -> np.ndarray:
    """How often each brightness occurs, of every channel, and its mean and spread."""
    flat = pictures.reshape(len(pictures), -1, 1 if pictures.ndim == 3 else pictures.shape[3])
    codes = (flat.astype(np.int32) * bins) // 256 + bins * np.arange(flat.shape[2])
    size = bins * flat.shape[2]
    counts = np.stack([np.bincount(row.ravel(), minlength=size) for row in codes]) / flat.shape[1]
    return np.hstack([np.sqrt(counts), flat.mean(axis=1) / 255, flat.std(axis=1) / 255])


def locally_normalised(pictures: np.ndarray, width: float) -> np.ndarray:
    """Pictures less their local mean, by their local spread: light and contrast no longer matter."""
    detail = pictures - gaussian_filter(pictures, (0, width, width))
    spread = np.sqrt(gaussian_filter(detail**2, (0, width, width)))
    return np.asarray(detail / (spread + 0.2 * spread.mean() + 1e-6))


def orientation_histograms(pictures: np.ndarray, cells: int, *, bins: int = 9, blur: float = 0.0) -> np.ndarray:
    """Strength of edges by orientation, on a grid of cells."""
    smooth = gaussian_filter(pictures, (0, blur, blur)) if blur else pictures
    down, across = np.gradient(smooth, axis=1), np.gradient(smooth, axis=2)
    angle = np.mod(np.arctan2(down, across), np.pi) / np.pi * bins
    first, share, strength = np.floor(angle).astype(np.int16), angle % 1, np.hypot(down, across)
    parts = []
    for number in range(bins):
        part = np.where(first % bins == number, 1 - share, 0) + np.where((first + 1) % bins == number, share, 0)
        parts.append(coarse(strength * part, cells))
    found = np.hstack(parts)
    return np.asarray(np.sqrt(found / (found.sum(axis=1, keepdims=True) + 1e-6)))


def binary_patterns(pictures: np.ndarray, cells: int, reach: int = 1) -> np.ndarray:
    """How often each pattern of brighter and darker neighbours occurs, on a grid of cells; rare patterns are joined."""
    steps = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    inner = pictures[:, reach:-reach, reach:-reach]
    height, width = inner.shape[1:]
    brighter = [
        pictures[:, reach * (1 + down) :][:, :height, reach * (1 + across) :][:, :, :width] > inner
        for down, across in steps
    ]
    changes = sum(left != right for left, right in zip(brighter, brighter[1:] + brighter[:1], strict=True))
    code = sum(bit.astype(np.int16) << place for place, bit in enumerate(brighter))
    plain = [c for c in range(256) if bin(c ^ ((c >> 1) | ((c & 1) << 7))).count("1") <= 2]
    names = np.full(256, len(plain))
    names[plain] = np.arange(len(plain))
    named = np.where(changes <= 2, names[code], len(plain))
    found = np.hstack([coarse(named == name, cells) for name in range(len(plain) + 1)])
    return np.asarray(np.sqrt(found))


def spectrum_features(pictures: np.ndarray, keep: int = 17) -> np.ndarray:
    """Strength of waves by length and direction, wherever on the picture they are."""
    height, width = pictures.shape[1:]
    window = np.outer(np.hanning(height + 2)[1:-1], np.hanning(width + 2)[1:-1])
    centred = pictures - pictures.mean(axis=(1, 2), keepdims=True)
    waves = np.abs(np.fft.rfft2(centred * window))
    rows = np.r_[0 : min(keep, height // 2), -min(keep - 1, height // 2) : 0]
    return np.asarray(np.log1p(waves[:, rows][:, :, :keep].reshape(len(pictures), -1)))


def patch_codes(
    pictures: np.ndarray, *, size: int, count: int, seed: int, even: bool, step: int
) -> Callable[[np.ndarray], np.ndarray]:
    """What says how much of each of some typical patches is found around every place of pictures.

    Patches are taken from the pictures at random, made free of the usual correlations between pixels.

    Args:
        even: whether a patch and its negative count as the same.
        step: between places.
    """
    rng = np.random.default_rng(seed)
    windows = sliding_window_view(pictures, (size, size), axis=(1, 2))
    places = [rng.integers(0, length, 20_000) for length in windows.shape[:3]]
    patches = contrast_normalised(windows[tuple(places)].reshape(-1, size * size))
    mean = patches.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((patches - mean).T))
    whiten = (vectors / np.sqrt(values + 0.1)) @ vectors.T
    typical = (patches[:count] - mean) @ whiten
    typical /= np.linalg.norm(typical, axis=1, keepdims=True)
    weigh = whiten @ typical.T
    offset = (mean @ weigh).astype(np.float32)
    weigh = (weigh - weigh.mean(axis=0)).astype(np.float32)

    def codes(some: np.ndarray) -> np.ndarray:
        around = sliding_window_view(some, (size, size), axis=(1, 2))[:, ::step, ::step]
        flat = around.reshape(-1, size * size).astype(np.float32)
        power = np.einsum("ij,ij->i", flat, flat) / size**2 - flat.mean(axis=1) ** 2
        contrast = np.sqrt(np.maximum(power, 0)) + 0.1
        found = (flat @ weigh / contrast[:, None] - offset).reshape(*around.shape[:3], count)
        both = np.abs(found) if even else np.concatenate([found, -found], axis=-1)
        return np.asarray(np.maximum(both - 1, 0))

    return codes


def contrast_normalised(patches: np.ndarray) -> np.ndarray:
    """Patches with mean 0 and spread 1."""
    centred = patches - patches.mean(axis=1, keepdims=True)
    return np.asarray(centred / (centred.std(axis=1, keepdims=True) + 0.1))


def patch_features(
    pictures: np.ndarray, *, size: int, count: int, seed: int, cells: int = 1, even: bool = False, step: int = 2
) -> np.ndarray:
    """How much of each of some typical patches pictures have, on a grid of cells."""
    codes = patch_codes(pictures, size=size, count=count, seed=seed, even=even, step=step)
    return in_chunks(lambda some: np.sqrt(coarse(codes(some), cells)), pictures, 40)


def mirrored(pictures: np.ndarray) -> list[np.ndarray]:
    """Pictures as they are and as a mirror shows them."""
    return [pictures, pictures[:, :, ::-1]]


def picture_features(pictures: np.ndarray, *, patches: list[int], count: int, even: bool = False) -> np.ndarray:
    """All that is measured on pictures: shades, colours, edges, patterns, waves and typical patches.

    Args:
        patches: sizes of typical patches.
        count: of patches of each size.
    """
    light = grey(pictures)
    flat = in_chunks(lambda some: locally_normalised(some, 4.0), light)
    size = pictures.shape[1]
    parts = [coarse(pictures / 255, min(8, size)), colour_histograms(pictures)]
    for cells, bins, blur in ((1, 18, 0.0), (2, 12, 0.0), (4, 9, 0.0), (1, 18, 1.0), (4, 9, 1.0), (1, 18, 2.0)):
        parts.append(in_chunks(partial(orientation_histograms, cells=cells, bins=bins, blur=blur), light))
    parts += [in_chunks(partial(binary_patterns, cells=1, reach=reach), light) for reach in (1, 2)]
    parts.append(in_chunks(spectrum_features, flat))
    for number, width in enumerate(patches):
        if width < size and time_used() < 0.5:
            parts.append(patch_features(flat, size=width, count=count, seed=SEED + number, even=even))
            if size <= 32 or number == 0:
                parts.append(patch_features(flat, size=width, count=count // 4, seed=SEED + number, cells=2, even=even))
    return np.hstack(parts)
