"""Images: reading them, and features of them.

The images of a task are one array of bytes with the axes image, row, column and, with colours, channel. Features of
grey images take an array of numbers with three axes; a spectrogram is such an image too.
"""

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image
from scipy.ndimage import gaussian_filter

from podium.recipes.kit.learning.vector_models import principal_components
from podium.tables.packed_files import read_all, read_file
from podium.tables.script_settings import CORES, SEED, time_used

IMAGE_BESIDE_TABLE = 32
"""The side to which images are resized of which a table says more."""
MIN_TABLE_IMAGES = 30
PATTERNS = 12
"""Number of features for the patterns of an image beside a table."""


def image_size_and_mode(paths: list[str], most: int) -> tuple[int, str]:
    """The size and mode in which to read images, chosen from a sample: their own size unless too large."""
    sides, colours = [], []
    for path in paths[:: max(1, len(paths) // 30)]:
        try:
            image = Image.open(io.BytesIO(read_file(path)))
            sides.append(max(image.size))
            small = np.asarray(image.convert("RGB").resize((16, 16)), dtype=float)
            colours.append(np.ptp(small, axis=2).mean() > 2)
        except (OSError, KeyError, ValueError):
            continue
    return min(most, int(np.median(sides)) if sides else most), "RGB" if np.mean(colours or [0]) > 0.2 else "L"


def read_image(path: str, side: int, mode: str) -> np.ndarray:
    """One image resized to a square; black if it cannot be read."""
    try:
        source = Image.open(io.BytesIO(read_file(path)))
        source.draft(mode, (2 * side, 2 * side))
        image = to_8_bit(source).convert(mode)
        same = image.size == (side, side)
        return np.asarray(image if same else image.resize((side, side), Image.Resampling.BOX))
    except (OSError, KeyError, ValueError):
        return np.zeros((side, side) if mode == "L" else (side, side, 3), dtype=np.uint8)


def to_8_bit(image: Image.Image) -> Image.Image:
    """An image with more than 256 shades of grey, rescaled to 256."""
    if image.mode[0] not in "IF":
        return image
    deep = np.asarray(image, dtype=float)
    return Image.fromarray((255 * (deep - deep.min()) / max(np.ptp(deep), 1e-9)).astype(np.uint8))


def read_images(paths: list[str], side: int, mode: str, until: float = 1.0) -> np.ndarray:
    """Read images in order, as far as time allows.

    Args:
        mode: `L` for grey, `RGB` for colours.
        until: the share of the script's time after which to stop.
    """
    return read_all(lambda path: read_image(path, side, mode), paths, until)


def to_grey(images: np.ndarray) -> np.ndarray:
    """Images as brightness from 0 to 1."""
    values = images.astype(np.float32) / 255
    return values if values.ndim == 3 else values @ np.array([0.299, 0.587, 0.114], dtype=np.float32)


def in_chunks(measure: Callable[[np.ndarray], np.ndarray], images: np.ndarray, size: int = 200) -> np.ndarray:
    """A measurement of images, in chunks because it takes much memory."""
    with ThreadPoolExecutor(CORES) as pool:
        parts = pool.map(measure, [images[start : start + size] for start in range(0, len(images), size)])
        return np.concatenate(list(parts)).astype(np.float32)


def grid_means(images: np.ndarray, cells: int) -> np.ndarray:
    """Mean values on a grid of cells, of every channel."""
    sides = []
    for length in images.shape[1:3]:
        cell = np.arange(length) * cells // length
        sides.append((cell == np.arange(cells)[:, None]) / np.maximum(np.bincount(cell, minlength=cells), 1)[:, None])
    grid = np.kron(*sides).astype(np.float32)
    flat = images.reshape(len(images), grid.shape[1], -1).astype(np.float32, copy=False)
    return np.asarray(np.matmul(grid, flat).reshape(len(images), -1))


def colour_histograms(images: np.ndarray, bins: int = 16) -> np.ndarray:
    """A histogram of every channel, and its mean and standard deviation."""
    flat = images.reshape(len(images), -1, 1 if images.ndim == 3 else images.shape[3])
    codes = (flat.astype(np.int32) * bins) // 256 + bins * np.arange(flat.shape[2])
    size = bins * flat.shape[2]
    counts = np.stack([np.bincount(row.ravel(), minlength=size) for row in codes]) / flat.shape[1]
    return np.hstack([np.sqrt(counts), flat.mean(axis=1) / 255, flat.std(axis=1) / 255])


def normalise_locally(images: np.ndarray, width: float) -> np.ndarray:
    """Images minus their local mean, divided by their local standard deviation."""
    detail = images - gaussian_filter(images, (0, width, width))
    spread = np.sqrt(gaussian_filter(detail**2, (0, width, width)))
    return np.asarray(detail / (spread + 0.2 * spread.mean() + 1e-6))


def orientation_histograms(images: np.ndarray, cells: int, *, bins: int = 9, blur: float = 0.0) -> np.ndarray:
    """Strength of edges by orientation, on a grid of cells."""
    smooth = gaussian_filter(images, (0, blur, blur)) if blur else images
    down, across = np.gradient(smooth, axis=1), np.gradient(smooth, axis=2)
    angle = np.mod(np.arctan2(down, across), np.pi) / np.pi * bins
    first, share, strength = np.floor(angle).astype(np.int16), angle % 1, np.hypot(down, across)
    parts = []
    for number in range(bins):
        part = np.where(first % bins == number, 1 - share, 0) + np.where((first + 1) % bins == number, share, 0)
        parts.append(grid_means(strength * part, cells))
    histograms = np.hstack(parts)
    return np.asarray(np.sqrt(histograms / (histograms.sum(axis=1, keepdims=True) + 1e-6)))


def local_binary_patterns(images: np.ndarray, cells: int, reach: int = 1) -> np.ndarray:
    """Count patterns of brighter and darker neighbours on a grid; rare patterns are merged."""
    steps = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    inner = images[:, reach:-reach, reach:-reach]
    height, width = inner.shape[1:]
    brighter = [
        images[:, reach * (1 + down) :][:, :height, reach * (1 + across) :][:, :, :width] > inner
        for down, across in steps
    ]
    changes = sum(left != right for left, right in zip(brighter, brighter[1:] + brighter[:1], strict=True))
    code = sum(bit.astype(np.int16) << place for place, bit in enumerate(brighter))
    uniform = [c for c in range(256) if bin(c ^ ((c >> 1) | ((c & 1) << 7))).count("1") <= 2]
    names = np.full(256, len(uniform))
    names[uniform] = np.arange(len(uniform))
    named = np.where(changes <= 2, names[code], len(uniform))
    counts = np.hstack([grid_means(named == name, cells) for name in range(len(uniform) + 1)])
    return np.asarray(np.sqrt(counts))


def spectrum_features(images: np.ndarray, keep: int = 17) -> np.ndarray:
    """Strength of waves by length and direction, anywhere in the image."""
    height, width = images.shape[1:]
    window = np.outer(np.hanning(height + 2)[1:-1], np.hanning(width + 2)[1:-1])
    centred = images - images.mean(axis=(1, 2), keepdims=True)
    waves = np.abs(np.fft.rfft2(centred * window))
    rows = np.r_[0 : min(keep, height // 2), -min(keep - 1, height // 2) : 0]
    return np.asarray(np.log1p(waves[:, rows][:, :, :keep].reshape(len(images), -1)))


def patch_codes(
    images: np.ndarray, *, size: int, count: int, seed: int, ignore_sign: bool, step: int
) -> Callable[[np.ndarray], np.ndarray]:
    """A function for the similarity of every position of images to each of some random patches.

    The patches are taken from the images and whitened.

    Args:
        ignore_sign: whether a patch and its negative count as the same.
        step: the distance between positions.
    """
    rng = np.random.default_rng(seed)
    windows = sliding_window_view(images, (size, size), axis=(1, 2))
    places = [rng.integers(0, length, 20_000) for length in windows.shape[:3]]
    patches = normalise_contrast(windows[tuple(places)].reshape(-1, size * size))
    mean = patches.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((patches - mean).T))
    whiten = (vectors / np.sqrt(values + 0.1)) @ vectors.T
    typical = (patches[:count] - mean) @ whiten
    typical /= np.linalg.norm(typical, axis=1, keepdims=True)
    filters = whiten @ typical.T
    offset = (mean @ filters).astype(np.float32)
    filters = (filters - filters.mean(axis=0)).astype(np.float32)

    def codes(some: np.ndarray) -> np.ndarray:
        around = sliding_window_view(some, (size, size), axis=(1, 2))[:, ::step, ::step]
        flat = around.reshape(-1, size * size).astype(np.float32)
        power = np.einsum("ij,ij->i", flat, flat) / size**2 - flat.mean(axis=1) ** 2
        contrast = np.sqrt(np.maximum(power, 0)) + 0.1
        found = (flat @ filters / contrast[:, None] - offset).reshape(*around.shape[:3], count)
        both = np.abs(found) if ignore_sign else np.concatenate([found, -found], axis=-1)
        return np.asarray(np.maximum(both - 1, 0))

    return codes


def normalise_contrast(patches: np.ndarray) -> np.ndarray:
    """Patches with mean 0 and standard deviation 1."""
    centred = patches - patches.mean(axis=1, keepdims=True)
    return np.asarray(centred / (centred.std(axis=1, keepdims=True) + 0.1))


def patch_features(
    images: np.ndarray, *, size: int, count: int, seed: int, cells: int = 1, ignore_sign: bool = False, step: int = 2
) -> np.ndarray:
    """The mean similarity of images to random patches, on a grid of cells."""
    codes = patch_codes(images, size=size, count=count, seed=seed, ignore_sign=ignore_sign, step=step)
    return in_chunks(lambda some: np.sqrt(grid_means(codes(some), cells)), images, 40)


def with_mirror_images(images: np.ndarray) -> list[np.ndarray]:
    """Images, and their mirror images."""
    return [images, images[:, :, ::-1]]


def image_features(images: np.ndarray, *, patches: list[int], count: int, ignore_sign: bool = False) -> np.ndarray:
    """All features of images: brightness, colours, edges, patterns, waves and patches.

    Args:
        patches: sizes of patches.
        count: the number of patches of each size.
    """
    light = to_grey(images)
    flat = in_chunks(lambda some: normalise_locally(some, 4.0), light)
    size = images.shape[1]
    parts = [grid_means(images / 255, min(8, size)), colour_histograms(images)]
    for cells, bins, blur in ((1, 18, 0.0), (2, 12, 0.0), (4, 9, 0.0), (1, 18, 1.0), (4, 9, 1.0), (1, 18, 2.0)):
        parts.append(in_chunks(partial(orientation_histograms, cells=cells, bins=bins, blur=blur), light))
    parts += [in_chunks(partial(local_binary_patterns, cells=1, reach=reach), light) for reach in (1, 2)]
    parts.append(in_chunks(spectrum_features, flat))
    for number, width in enumerate(patches):
        if width < size and time_used() < 0.5:
            parts.append(patch_features(flat, size=width, count=count, seed=SEED + number, ignore_sign=ignore_sign))
            if size <= 32 or number == 0:
                parts.append(
                    patch_features(
                        flat, size=width, count=count // 4, seed=SEED + number, cells=2, ignore_sign=ignore_sign
                    )
                )
    return np.hstack(parts)


def picture_features(trains: list[str], tests: list[str], until: float) -> pd.DataFrame:
    """Return features of images beside a table, for rows of train and test; blank where a row has none.

    Args:
        trains, tests: paths of the images of rows; there need not be a file.
        until: the share of the script's time after which no more are read. If some are missing then, there are no
            features: only train rows would lack theirs.
    """
    images = read_images([*tests, *trains], IMAGE_BESIDE_TABLE, "L", until)
    seen = np.flatnonzero(images.any(axis=(1, 2)))
    everything = pd.RangeIndex(len(trains) + len(tests))
    if len(images) < len(everything) or len(seen) < MIN_TABLE_IMAGES:
        return pd.DataFrame(index=everything)
    light = to_grey(images[seen])
    found = {"light": light.mean(axis=(1, 2)), "contrast": light.std(axis=(1, 2))}
    for width in (0.8, 1.5, 3.0):
        detail = gaussian_filter(light, (0, width, width)) - gaussian_filter(light, (0, 4 * width, 4 * width))
        found[f"contrast of {width}"] = detail.std(axis=(1, 2))
        found |= {f"darkest of {width}": detail.min(axis=(1, 2)), f"brightest of {width}": detail.max(axis=(1, 2))}
    patterns = principal_components(image_features(images[seen], patches=[5], count=48), PATTERNS)
    found |= {f"pattern {chr(97 + number)}": part for number, part in enumerate(patterns.T)}
    table = pd.DataFrame(found, (seen - len(tests)) % len(everything)).reindex(everything)
    return table.assign(seen=table["light"].notna() * 1.0).add_prefix("picture ")
