"""Masks: which pixels of a picture belong to what is sought. Pictures may differ in size."""

import io
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, label
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from podium.recipes.kit.archives import file_bytes
from podium.recipes.kit.environment import CORES, SEED, SPLIT, time_used
from podium.recipes.kit.pictures import bytes_of_deep, locally_normalised, patch_codes

Masks = list[np.ndarray]
Codes = Callable[[np.ndarray], np.ndarray]


def read_sized(path: str, mode: str = "RGB") -> np.ndarray:
    """A picture at its own size."""
    return np.asarray(bytes_of_deep(Image.open(io.BytesIO(file_bytes(path)))).convert(mode))


def read_mask(path: str) -> np.ndarray:
    """A mask that is kept as a picture; an empty one if there is none."""
    values = np.asarray(Image.open(io.BytesIO(file_bytes(path))).convert("L"))
    return np.asarray(values > (127 if values.max() > 1 else 0))


def decode_runs(text: Any, shape: tuple[int, int], order: str, first: int = 1) -> np.ndarray:
    """The mask that run lengths describe.

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
    """A mask as run lengths; blank if it is empty."""
    flat = np.concatenate([[0], (mask if order == "rows" else mask.T).ravel(), [0]]).astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(flat) == 1), np.flatnonzero(np.diff(flat) == -1)
    return " ".join(f"{start + first} {end - start}" for start, end in zip(starts, ends, strict=True))


def likeliest_order(runs: Sequence[Any], shapes: Sequence[tuple[int, int]], known: Masks | None = None) -> str:
    """Along what run lengths count pixels: that which fits masks known otherwise, or which gives the smoother masks.

    Of square pictures alone it cannot be told; those on Kaggle count along columns.
    """
    faults = {}
    for order in ("columns", "rows"):
        masks = [decode_runs(text, shape, order) for text, shape in zip(runs, shapes, strict=True)]
        if known is not None:
            faults[order] = sum(int((mask != other).sum()) for mask, other in zip(masks, known, strict=True))
        else:
            faults[order] = sum(int((np.diff(mask, axis=axis)).sum()) for mask in masks for axis in (0, 1))
    return min(faults, key=lambda order: faults[order])


def shrunk(picture: np.ndarray, most: int) -> np.ndarray:
    """A picture brought to a size at which every pixel can be looked at."""
    factor = most / max(picture.shape[:2])
    if factor >= 1:
        return picture
    size = max(1, round(picture.shape[1] * factor)), max(1, round(picture.shape[0] * factor))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BOX))


def stretched(chances: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Chances at the size of the picture they belong to."""
    if chances.shape == shape:
        return chances
    return np.asarray(Image.fromarray(chances.astype(np.float32)).resize(shape[::-1], Image.Resampling.BILINEAR))


def pixel_features(picture: np.ndarray, codes: Codes | None = None) -> np.ndarray:
    """What is seen around every pixel at several scales: shades, colours, edges, grain and its direction; its place."""
    colours = np.atleast_3d(picture).astype(np.float32) / 255
    colours = colours[..., :1] if np.ptp(colours, axis=2).max() == 0 else colours
    light = colours.mean(axis=2)
    found = [gaussian_filter(colours, (width, width, 0)) for width in (0.5, 2.0, 6.0)]
    found += [part - light.mean() for part in found]
    flat = locally_normalised(light[None], 6.0)[0]
    found += [gaussian_filter(flat, width)[..., None] for width in (0.0, 1.0, 2.0, 4.0)]
    found += [grain(flat, width) for width in (0.7, 1.5, 3.0)]
    if codes is not None:
        found.append(gaussian_filter(codes(np.pad(flat, 3, mode="reflect")[None])[0], (3.0, 3.0, 0)))
    found.append(np.moveaxis(np.mgrid[0 : light.shape[0], 0 : light.shape[1]], 0, 2) / max(light.shape))
    return np.concatenate(found, axis=2).astype(np.float32)


def grain(flat: np.ndarray, width: float) -> np.ndarray:
    """Strength, steadiness and direction of edges around every pixel, and strength of spots, at a scale."""
    down, across = gaussian_filter(flat, width, order=(1, 0)), gaussian_filter(flat, width, order=(0, 1))
    spots = gaussian_filter(flat, width, order=(2, 0)) + gaussian_filter(flat, width, order=(0, 2))
    products = np.stack([across**2, down**2, across * down, spots**2], axis=2)
    found = []
    for around in (2.0, 4.0):
        lying, standing, slanted, spotted = np.moveaxis(gaussian_filter(products, (around, around, 0)), 2, 0)
        total = lying + standing + 1e-4
        found += [np.log(total), np.hypot(lying - standing, 2 * slanted) / total]
        found += [(lying - standing) / total, 2 * slanted / total, np.log(spotted + 1e-4)]
    return np.stack(found, axis=2)


def typical_codes(pictures: Masks, count: int) -> Codes | None:
    """How much every pixel's surroundings look like each of some typical patches; None if none are asked for."""
    if not count:
        return None
    side = min(min(picture.shape[:2]) for picture in pictures)
    some = np.stack([np.atleast_3d(picture)[:side, :side].mean(axis=2) for picture in pictures[:300]])
    flat = locally_normalised(some.astype(np.float32) / 255, 6.0)
    return patch_codes(flat, size=7, count=count, seed=SEED, even=True, step=1)


def picture_folds(count: int, folds: int) -> np.ndarray:
    """The fold of every picture."""
    return np.asarray(np.random.default_rng(SEED + SPLIT).permutation(count) % folds)


def sampled_pixels(
    pictures: Masks, masks: Masks, codes: Codes | None, each: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Features and truth of some pixels of every picture; of those inside masks up to half, if there are as many."""

    def sample(number: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([SEED, number])
        features, truth = pixel_features(pictures[number], codes), masks[number].ravel()
        chosen = rng.permutation(truth.size)[:each]
        return features.reshape(truth.size, -1)[chosen], truth[chosen]

    with ThreadPoolExecutor(CORES) as pool:
        found = list(pool.map(sample, range(len(pictures))))
    return [features for features, _ in found], [truth for _, truth in found]


def pixel_model(features: np.ndarray, truth: np.ndarray, kind: str) -> Callable[[np.ndarray], np.ndarray]:
    """A model of single pixels that gives the chance that they belong to the mask."""
    if truth.min() == truth.max():
        return lambda values: np.full(len(values), float(truth[0]))
    if kind == "boosting":
        model: Any = HistGradientBoostingClassifier(
            max_iter=100, learning_rate=0.1, max_leaf_nodes=15, random_state=SEED
        )
    else:
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=200))
    model.fit(features, truth)
    return lambda values: np.asarray(model.predict_proba(values)[:, 1])


def predicted_chances(
    pictures: Masks, codes: Codes | None, models: Sequence[Callable[[np.ndarray], np.ndarray]]
) -> Masks:
    """The chance of every pixel of pictures, by the mean of models."""
    found: Masks = []
    with ThreadPoolExecutor(CORES) as pool:
        for start in range(0, len(pictures), 40):
            features = list(pool.map(lambda picture: pixel_features(picture, codes), pictures[start : start + 40]))
            flat = np.concatenate([one.reshape(-1, one.shape[2]) for one in features])
            chances = np.mean([model(flat) for model in models], axis=0).astype(np.float32)
            ends = np.cumsum([one.shape[0] * one.shape[1] for one in features])
            parts = np.split(chances, ends[:-1])
            found += [part.reshape(one.shape[:2]) for part, one in zip(parts, features, strict=True)]
    return found


def cleaned(chances: np.ndarray, smooth: float, threshold: float, share: float) -> np.ndarray:
    """A mask from chances: smoothed, cut off, without pieces smaller than a share of the picture."""
    mask = (gaussian_filter(chances, smooth) if smooth else chances) > threshold
    pieces, count = label(mask)
    if not count:
        return np.asarray(mask)
    sizes = np.bincount(pieces.ravel())
    large = sizes >= max(1, share * mask.size)
    large[0] = False
    return np.asarray(large[pieces])


def best_cleaning(
    chances: Masks, masks: Masks, score: Callable[[Masks, Masks], float]
) -> tuple[tuple[float, ...], float]:
    """How to clean masks so that the score is best, and that score."""
    best: tuple[float, ...] = (1.0, 0.5, 0.0)
    found = score(masks, [cleaned(one, *best) for one in chances])
    choices = [(0.0, 1.0, 2.0, 3.0), tuple(np.arange(0.2, 0.75, 0.05)), (0.0, 0.003, 0.01, 0.02, 0.03, 0.045, 0.06)]
    for _ in range(2):
        for place, options in enumerate(choices):
            for option in options:
                trial = (*best[:place], float(option), *best[place + 1 :])
                value = score(masks, [cleaned(one, *trial) for one in chances])
                if value > found + 1e-6:
                    best, found = trial, value
        if time_used() > 0.9:
            break
    return best, found


def mask_dice(truth: Masks, guess: Masks) -> float:
    """The mean over pictures of twice the common area by the sum of both areas; 1 where both are blank."""
    return float(np.mean([_dice(left, right) for left, right in zip(truth, guess, strict=True)]))


def _dice(truth: np.ndarray, guess: np.ndarray) -> float:
    total = int(truth.sum()) + int(guess.sum())
    return 2 * int((truth & guess).sum()) / total if total else 1.0


def pooled_dice(truth: Masks, guess: Masks) -> float:
    """Twice the common area by the sum of both areas, of all pictures together."""
    return _dice(np.concatenate([mask.ravel() for mask in truth]), np.concatenate([mask.ravel() for mask in guess]))


def mask_iou(truth: Masks, guess: Masks) -> float:
    """The mean over pictures of the common area by the area of either; 1 where both are blank."""
    return float(np.mean([_iou(left, right) for left, right in zip(truth, guess, strict=True)]))


def _iou(truth: np.ndarray, guess: np.ndarray) -> float:
    either = int((truth | guess).sum())
    return int((truth & guess).sum()) / either if either else 1.0


def mask_precision(truth: Masks, guess: Masks) -> float:
    """The mean over pictures of the share of thresholds from 0.5 to 0.95 that common by either area exceeds."""
    ratios = np.array([_iou(left, right) for left, right in zip(truth, guess, strict=True)])
    return float(np.mean(ratios[:, None] > np.arange(0.5, 1.0, 0.05)))


def save_chances(file: str, oof: Masks, tests: Masks) -> None:
    """Leaves chances for a script that blends them."""
    maps = [*oof, *tests]
    flat = np.concatenate([(255 * one).astype(np.uint8).ravel() for one in maps])
    np.savez_compressed(file, flat=flat, shapes=np.array([one.shape for one in maps]), count=len(oof))


def mean_chances(folders: Sequence[str], file: str) -> tuple[Masks, Masks]:
    """The mean of the chances that scripts have left, of train and of test pictures."""
    total: Any = 0.0
    known = [Path(folder) / file for folder in folders if (Path(folder) / file).exists()]
    for path in known:
        with np.load(path) as saved:
            total = total + saved["flat"].astype(np.float32) / 255 / len(known)
            shapes, count = saved["shapes"], int(saved["count"])
    ends = np.cumsum(shapes.prod(axis=1))
    maps = [part.reshape(shape) for part, shape in zip(np.split(total, ends[:-1]), shapes, strict=True)]
    return maps[:count], maps[count:]
