"""Masks: which pixels of an image belong to an object. Images may differ in size."""

import io
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, label
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from podium.recipes.kit.inputs.image_features import normalise_locally, patch_codes, to_8_bit
from podium.recipes.kit.learning.fit_models import logistic_regression
from podium.tables.packed_files import read_file
from podium.tables.script_settings import CORES, SEED, SPLIT, time_used

Masks = list[np.ndarray]
PatchCodes = Callable[[np.ndarray], np.ndarray]


def read_full_image(path: str, mode: str = "RGB") -> np.ndarray:
    """An image at its own size."""
    return np.asarray(to_8_bit(Image.open(io.BytesIO(read_file(path)))).convert(mode))


def read_mask(path: str) -> np.ndarray:
    """A mask that is stored as an image."""
    values = np.asarray(Image.open(io.BytesIO(read_file(path))).convert("L"))
    return np.asarray(values > (127 if values.max() > 1 else 0))


def decode_runs(text: Any, shape: tuple[int, int], order: str, first: int = 1) -> np.ndarray:
    """The mask of run lengths.

    Args:
        order: whether pixels are counted along `rows` or `columns`.
        first: the number of the first pixel.
    """
    mask = np.zeros(shape[0] * shape[1], dtype=bool)
    numbers = np.array(str(text).split() if isinstance(text, str) else [], dtype=int)
    for start, length in zip(numbers[::2] - first, numbers[1::2], strict=False):
        mask[max(0, start) : start + length] = True
    return mask.reshape(shape) if order == "rows" else mask.reshape(shape[::-1]).T


def encode_runs(mask: np.ndarray, order: str, first: int = 1) -> str:
    """A mask as run lengths; an empty text if it is empty."""
    flat = np.concatenate([[0], (mask if order == "rows" else mask.T).ravel(), [0]]).astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(flat) == 1), np.flatnonzero(np.diff(flat) == -1)
    return " ".join(f"{start + first} {end - start}" for start, end in zip(starts, ends, strict=True))


def guess_run_order(runs: Sequence[Any], shapes: Sequence[tuple[int, int]], known: Masks | None = None) -> str:
    """Return the pixel order of run lengths, columns or rows: the one that fits known masks or gives smoother masks.

    For square images this may be ambiguous; Kaggle counts along columns.
    """
    errors = {}
    for order in ("columns", "rows"):
        masks = [decode_runs(text, shape, order) for text, shape in zip(runs, shapes, strict=True)]
        if known is not None:
            errors[order] = sum(int((mask != other).sum()) for mask, other in zip(masks, known, strict=True))
        else:
            errors[order] = sum(int((np.diff(mask, axis=axis)).sum()) for mask in masks for axis in (0, 1))
    return min(errors, key=lambda order: errors[order])


def shrink_image(image: np.ndarray, most: int) -> np.ndarray:
    """An image reduced to a size at which every pixel can be processed."""
    factor = most / max(image.shape[:2])
    if factor >= 1:
        return image
    size = max(1, round(image.shape[1] * factor)), max(1, round(image.shape[0] * factor))
    return np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BOX))


def resize_map(probabilities: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """A probability map at the size of its image."""
    if probabilities.shape == shape:
        return probabilities
    return np.asarray(Image.fromarray(probabilities.astype(np.float32)).resize(shape[::-1], Image.Resampling.BILINEAR))


def pixel_features(image: np.ndarray, codes: PatchCodes | None = None) -> np.ndarray:
    """Features around every pixel at several scales: brightness, colours, edges, texture; and its position."""
    colours = np.atleast_3d(image).astype(np.float32) / 255
    colours = colours[..., :1] if np.ptp(colours, axis=2).max() == 0 else colours
    grey = colours.mean(axis=2)
    features = [gaussian_filter(colours, (width, width, 0)) for width in (0.5, 2.0, 6.0)]
    features += [part - grey.mean() for part in features]
    normalised = normalise_locally(grey[None], 6.0)[0]
    features += [gaussian_filter(normalised, width)[..., None] for width in (0.0, 1.0, 2.0, 4.0)]
    features += [texture_features(normalised, width) for width in (0.7, 1.5, 3.0)]
    if codes is not None:
        features.append(gaussian_filter(codes(np.pad(normalised, 3, mode="reflect")[None])[0], (3.0, 3.0, 0)))
    features.append(np.moveaxis(np.mgrid[0 : grey.shape[0], 0 : grey.shape[1]], 0, 2) / max(grey.shape))
    return np.concatenate(features, axis=2).astype(np.float32)


def texture_features(flat: np.ndarray, width: float) -> np.ndarray:
    """Strength, coherence and direction of edges around every pixel, and strength of spots, at a scale."""
    down, across = gaussian_filter(flat, width, order=(1, 0)), gaussian_filter(flat, width, order=(0, 1))
    spots = gaussian_filter(flat, width, order=(2, 0)) + gaussian_filter(flat, width, order=(0, 2))
    products = np.stack([across**2, down**2, across * down, spots**2], axis=2)
    features = []
    for around in (2.0, 4.0):
        lying, standing, slanted, spotted = np.moveaxis(gaussian_filter(products, (around, around, 0)), 2, 0)
        total = lying + standing + 1e-4
        features += [np.log(total), np.hypot(lying - standing, 2 * slanted) / total]
        features += [(lying - standing) / total, 2 * slanted / total, np.log(spotted + 1e-4)]
    return np.stack(features, axis=2)


def pixel_patch_codes(images: Masks, count: int) -> PatchCodes | None:
    """A function for the similarity of every pixel's surroundings to random patches; None if none are wanted."""
    if not count:
        return None
    side = min(min(image.shape[:2]) for image in images)
    some = np.stack([np.atleast_3d(image)[:side, :side].mean(axis=2) for image in images[:300]])
    flat = normalise_locally(some.astype(np.float32) / 255, 6.0)
    return patch_codes(flat, size=7, count=count, seed=SEED, ignore_sign=True, step=1)


def image_folds(count: int, folds: int) -> np.ndarray:
    """The fold of every image."""
    return np.asarray(np.random.default_rng(SEED + SPLIT).permutation(count) % folds)


def sample_pixels(
    images: Masks, masks: Masks, codes: PatchCodes | None, each: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Features and truth of some pixels of every image."""

    def sample(number: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([SEED, number])
        features, truth = pixel_features(images[number], codes), masks[number].ravel()
        chosen = rng.permutation(truth.size)[:each]
        return features.reshape(truth.size, -1)[chosen], truth[chosen]

    with ThreadPoolExecutor(CORES) as pool:
        found = list(pool.map(sample, range(len(images))))
    return [features for features, _ in found], [truth for _, truth in found]


def fit_pixel_model(features: np.ndarray, truth: np.ndarray, kind: str) -> Callable[[np.ndarray], np.ndarray]:
    """A model for the probability that a pixel belongs to the mask."""
    if truth.min() == truth.max():
        return lambda values: np.full(len(values), float(truth[0]))
    if kind == "boosting":
        model: Any = HistGradientBoostingClassifier(
            max_iter=100, learning_rate=0.1, max_leaf_nodes=15, random_state=SEED
        )
    else:
        model = make_pipeline(StandardScaler(), logistic_regression(0.1, steps=200))
    model.fit(features, truth)
    return lambda values: np.asarray(model.predict_proba(values)[:, 1])


def predict_pixels(
    images: Masks, codes: PatchCodes | None, models: Sequence[Callable[[np.ndarray], np.ndarray]]
) -> Masks:
    """Probability maps of images, averaged over models."""
    found: Masks = []
    with ThreadPoolExecutor(CORES) as pool:
        for start in range(0, len(images), 40):
            features = list(pool.map(lambda image: pixel_features(image, codes), images[start : start + 40]))
            flat = np.concatenate([one.reshape(-1, one.shape[2]) for one in features])
            probabilities = np.mean([model(flat) for model in models], axis=0).astype(np.float32)
            ends = np.cumsum([one.shape[0] * one.shape[1] for one in features])
            parts = np.split(probabilities, ends[:-1])
            found += [part.reshape(one.shape[:2]) for part, one in zip(parts, features, strict=True)]
    return found


def clean_mask(probabilities: np.ndarray, smooth: float, threshold: float, share: float) -> np.ndarray:
    """A mask from a probability map: smoothed, thresholded, without pieces smaller than a share of the image."""
    mask = (gaussian_filter(probabilities, smooth) if smooth else probabilities) > threshold
    pieces, count = label(mask)
    if not count:
        return np.asarray(mask)
    sizes = np.bincount(pieces.ravel())
    large = sizes >= max(1, share * mask.size)
    large[0] = False
    return np.asarray(large[pieces])


def best_cleaning(
    probabilities: Masks, masks: Masks, score: Callable[[Masks, Masks], float]
) -> tuple[tuple[float, ...], float]:
    """The arguments of `clean_mask` that score best, and that score."""
    best: tuple[float, ...] = (1.0, 0.5, 0.0)
    found = score(masks, [clean_mask(one, *best) for one in probabilities])
    choices = [(0.0, 1.0, 2.0, 3.0), tuple(np.arange(0.2, 0.75, 0.05)), (0.0, 0.003, 0.01, 0.02, 0.03, 0.045, 0.06)]
    for _ in range(2):
        for place, options in enumerate(choices):
            for option in options:
                trial = (*best[:place], float(option), *best[place + 1 :])
                value = score(masks, [clean_mask(one, *trial) for one in probabilities])
                if value > found + 1e-6:
                    best, found = trial, value
        if time_used() > 0.9:
            break
    return best, found


def mask_dice(truth: Masks, prediction: Masks) -> float:
    """The mean over images of the Dice coefficient; 1 where both masks are empty."""
    return float(np.mean([_dice(left, right) for left, right in zip(truth, prediction, strict=True)]))


def _dice(truth: np.ndarray, prediction: np.ndarray) -> float:
    total = int(truth.sum()) + int(prediction.sum())
    return 2 * int((truth & prediction).sum()) / total if total else 1.0


def pooled_dice(truth: Masks, prediction: Masks) -> float:
    """The Dice coefficient of all images together."""
    return _dice(
        np.concatenate([mask.ravel() for mask in truth]), np.concatenate([mask.ravel() for mask in prediction])
    )


def mask_iou(truth: Masks, prediction: Masks) -> float:
    """The mean over images of intersection over union; 1 where both masks are empty."""
    return float(np.mean([_iou(left, right) for left, right in zip(truth, prediction, strict=True)]))


def _iou(truth: np.ndarray, prediction: np.ndarray) -> float:
    either = int((truth | prediction).sum())
    return int((truth & prediction).sum()) / either if either else 1.0


def mask_precision(truth: Masks, prediction: Masks) -> float:
    """The mean over images of the share of thresholds from 0.5 to 0.95 that the intersection over union exceeds."""
    ratios = np.array([_iou(left, right) for left, right in zip(truth, prediction, strict=True)])
    return float(np.mean(ratios[:, None] > np.arange(0.5, 1.0, 0.05)))


def save_probability_maps(file: str, oof: Masks, tests: Masks) -> None:
    """Saves probability maps for a script that blends them."""
    maps = [*oof, *tests]
    flat = np.concatenate([(255 * one).astype(np.uint8).ravel() for one in maps])
    np.savez_compressed(file, flat=flat, shapes=np.array([one.shape for one in maps]), count=len(oof))


def mean_probability_maps(folders: Sequence[str], file: str) -> tuple[Masks, Masks]:
    """The mean of the probability maps that scripts saved, of train and of test images."""
    total: Any = 0.0
    known = [Path(folder) / file for folder in folders if (Path(folder) / file).exists()]
    for path in known:
        with np.load(path) as saved:
            total = total + saved["flat"].astype(np.float32) / 255 / len(known)
            shapes, count = saved["shapes"], int(saved["count"])
    ends = np.cumsum(shapes.prod(axis=1))
    maps = [part.reshape(shape) for part, shape in zip(np.split(total, ends[:-1]), shapes, strict=True)]
    return maps[:count], maps[count:]
