"""Image segmentation: where does eelgrass grow? Meadows that differ from rippled sand by texture alone.

Sand, eelgrass and drifted wrack are noise of equal strength from different bands of frequency and direction, so
that brightness says nothing and local contrast little. Shadows, uneven gain, wrack and tufts too small to count
mislead. Divers drew the recorded outlines with an error of known size; some pictures hold no meadow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.family import Difficulty, Family, Material, Pipeline, PublicData
from podium.catalog.forge.toolbox import boosting
from podium.metrics import rle_dice
from podium.task import Columns, Text

TRAIN_PICTURES = {"easy": 270, "medium": 240, "hard": 210}
SPECKLE = {"easy": 0.30, "medium": 0.40, "hard": 0.55}
WRACK = {"easy": 0.3, "medium": 0.5, "hard": 0.7}
OUTLINE_ERROR = {"easy": 0.5, "medium": 0.7, "hard": 1.0}
TEST_PICTURES = 420
SIDE = 48
ANGLES = 120

BRIEF = """# Eelgrass meadows

A survey boat tows a side-scanning sonar over a bay to see where eelgrass still grows. Each picture shows a few
metres of sea floor. Outline the meadows in the pictures of `test.csv`.

## Files
- `train/<id>.png`, `test/<id>.png`: sonar pictures, {side} × {side} pixels, 8-bit grey
- `train_masks/<id>.png`: the meadows of the train pictures, 255 inside and 0 outside
- `train.csv`: the train pictures and the same masks as run lengths
- `test.csv`: the pictures to outline
- `sample_submission.csv`: the required form

## Columns
| column | meaning |
|---|---|
| id | identifier, also the name of the picture |
| rle | mask as run lengths; blank where there is no meadow (train only) |

## What is to be seen
Most of the floor is sand in ripples that run much the same way throughout the bay. Eelgrass has a grain of its
own, yet it sends back no more and no less sound than sand does. Drifted wrack is neither. The gain of the sonar
changes across the picture, and soft shadows fall on anything. Meadows have rounded outlines and may touch or leave
the picture; about one picture in five has none, a few have two. Single tufts, narrower than {tuft} pixels, do not
count as meadow. Divers drew the outlines from memory: in train and test alike the recorded edge is off by about
{error:.1f} pixels, now outwards, now inwards.

## Metric
The Dice coefficient of each picture's mask, averaged over the test pictures; two blank masks count as 1. Higher is
better.

## Submission
A CSV with the columns `id` and `rle`, one row per row of `test.csv`. A mask is written as pairs
`start length start length …` in ascending order. Pixels are numbered from 1, left to right and then top to bottom:
pixel 1 is the upper left corner, pixel {side} the end of the first row, pixel {next} the start of the second.
Leave `rle` blank where there is no meadow.
"""


def draw(rng: np.random.Generator, difficulty: Difficulty) -> Material:
    """Draws the bay's textures, then the floor of every picture, then the sonar's and the divers' errors."""
    cut = TRAIN_PICTURES[difficulty]
    count = cut + TEST_PICTURES
    sand, grass, wrack = _textures(rng, count)
    true, recorded, cover = _meadows(rng, count, OUTLINE_ERROR[difficulty])
    drifted = _ramp(_blob(rng, count, 6, 11)[0]) * _per_picture(rng.random(count) < WRACK[difficulty])
    floor = drifted * wrack + (1 - drifted) * sand
    pictures = _sounded(rng, cover * grass + (1 - cover) * floor, SPECKLE[difficulty])
    table = pd.DataFrame({"id": [f"f{number:05d}" for number in rng.permutation(90_000)[:count]]})
    train = table.iloc[:cut].assign(rle=run_lengths(recorded[:cut]))
    test = table.iloc[cut:].reset_index(drop=True)
    answers = test.assign(rle=run_lengths(recorded[cut:]))
    payload = {f"train/{name}.png": picture for name, picture in zip(train["id"], pictures, strict=False)}
    payload |= {
        f"train_masks/{name}.png": np.uint8(255) * mask for name, mask in zip(train["id"], recorded, strict=False)
    }
    payload |= {f"test/{name}.png": picture for name, picture in zip(test["id"], pictures[cut:], strict=True)}
    return Material(
        brief=BRIEF.format(side=SIDE, next=SIDE + 1, tuft=7, error=OUTLINE_ERROR[difficulty]),
        public=PublicData(train=train, test=test, payload=payload),
        answers=answers,
        sample=answers.assign(rle=""),
        ceiling=run_lengths(true[cut:]),
    )


def run_lengths(masks: np.ndarray) -> np.ndarray:
    """Each mask as text: start and length of its runs, row by row."""
    flat = np.pad(masks.reshape(len(masks), -1), ((0, 0), (1, 1))).astype(np.int8)
    texts = []
    for change in np.diff(flat, axis=1):
        edges = np.flatnonzero(change) + 1
        edges[1::2] -= edges[::2]
        texts.append(" ".join(map(str, edges)))
    return np.array(texts, dtype=object)


def _per_picture(values: np.ndarray) -> np.ndarray:
    return values[:, None, None]


def _grid() -> tuple[np.ndarray, np.ndarray]:
    axis = np.arange(SIDE) - (SIDE - 1) / 2
    return axis[None, None, :], axis[None, :, None]


def _textures(rng: np.random.Generator, count: int) -> list[np.ndarray]:
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

    x, y = rfftfreq(SIDE)[None, None, :], fftfreq(SIDE)[None, :, None]
    centre = _per_picture(frequency * np.exp(rng.normal(0, 0.08, count)))
    exponent = ((np.hypot(x, y) - centre) / (spread * centre)) ** 2
    if direction is not None:
        sway = _per_picture(np.deg2rad(rng.normal(0, 10, count)))
        exponent = exponent + (np.sin(np.arctan2(y, x) - direction - sway) / 0.45) ** 2
    noise = irfft2(rfft2(rng.standard_normal((count, SIDE, SIDE))) * np.exp(-exponent / 2), s=(SIDE, SIDE))
    return noise / noise.std((1, 2), keepdims=True)


def _blob(
    rng: np.random.Generator, count: int, low: float, high: float, error: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """How far inside a rounded shape each pixel lies, and how far inside the outline a diver drew of it."""
    x, y = _grid()
    middle = rng.uniform(-18, 18, (2, count))
    right, down = x - _per_picture(middle[0]), y - _per_picture(middle[1])
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


def _meadows(rng: np.random.Generator, count: int, error: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True masks, recorded masks, and the share of eelgrass in every pixel, tufts included."""
    meadows = rng.choice(3, count, p=[0.2, 0.6, 0.2])
    true, recorded = np.zeros((2, count, SIDE, SIDE), dtype=bool)
    cover = np.zeros((count, SIDE, SIDE))
    for number, (low, high) in enumerate([(9, 15), (7, 11)]):
        there = _per_picture(meadows > number)
        inside, drawn = _blob(rng, count, low, high, error)
        true |= there & (inside > 0)
        recorded |= there & (drawn > 0)
        cover = np.maximum(cover, there * _ramp(inside))
    x, y = _grid()
    for _ in range(3):
        left, top = rng.uniform(-SIDE / 2, SIDE / 2, (2, count))
        radius = rng.uniform(1.5, 3.3, count) * (rng.random(count) < 0.5)
        inside = _per_picture(radius) - np.hypot(x - _per_picture(left), y - _per_picture(top))
        cover = np.maximum(cover, np.where(_per_picture(radius) > 0, _ramp(inside), 0))
    return true, recorded, cover


def _sounded(rng: np.random.Generator, floor: np.ndarray, speckle: float) -> np.ndarray:
    """Shadows, speckle, uneven gain, and each picture's own brightness and contrast."""
    count = len(floor)
    x, y = _grid()
    for _ in range(2):
        left, top = rng.uniform(-SIDE / 2, SIDE / 2, (2, count))
        scale = _per_picture(-1 / (2 * rng.uniform(5, 10, count) ** 2))
        along, down = np.exp(scale * (x - _per_picture(left)) ** 2), np.exp(scale * (y - _per_picture(top)) ** 2)
        floor = floor + _per_picture(rng.normal(0, 1.2, count)) * along * down
    slope = rng.normal(0, 0.04, (2, count))
    floor = floor + _per_picture(slope[0]) * x + _per_picture(slope[1]) * y
    floor += speckle * rng.standard_normal(floor.shape)
    brightness, contrast = rng.uniform(95, 160, count), rng.uniform(14, 24, count)
    return np.clip(_per_picture(brightness) + _per_picture(contrast) * floor, 0, 255).astype(np.uint8)


@dataclass(frozen=True)
class Survey:
    """The pictures an entrant works with: those to learn from, those to set thresholds on, those to submit."""

    pictures: np.ndarray
    masks: np.ndarray
    """Recorded masks of the train pictures, which come first."""
    held: int
    """How many train pictures, the last ones, are kept for thresholds."""

    @property
    def learn(self) -> int:
        return len(self.masks) - self.held


def _survey(data: PublicData, rng: np.random.Generator) -> Survey:
    """The train pictures in an order of the entrant's own, then the test pictures."""
    names = rng.permutation(data.train["id"].to_numpy())
    paths = [f"train/{name}.png" for name in names] + [f"test/{name}.png" for name in data.test["id"]]
    masks = np.stack([data.payload[f"train_masks/{name}.png"] for name in names]) > 0
    pictures = np.stack([data.payload[path] for path in paths]).astype(np.float32)
    return Survey(pictures, masks, held=int(len(names) * rng.uniform(0.22, 0.3)))


def _halved(maps: np.ndarray) -> np.ndarray:
    """Maps at half the resolution: four times fewer pixels to classify, and edges are blurred anyway."""
    return (maps[:, ::2, ::2] + maps[:, 1::2, ::2] + maps[:, ::2, 1::2] + maps[:, 1::2, 1::2]) / 4


def _blurred(maps: np.ndarray, reach: float) -> np.ndarray:
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(maps, (0, reach, reach))


def _evened(pictures: np.ndarray) -> np.ndarray:
    """Without gain and shadows: local brightness taken off, contrast made equal."""
    detail = pictures - _blurred(pictures, 5)
    return detail / detail.std((1, 2), keepdims=True)


def _energies(pictures: np.ndarray, directions: int, scales: Sequence[float], tuning: float) -> np.ndarray:
    """The logarithm of the local energy in bands of frequency and, where more than one is asked for, direction."""
    from scipy.fft import fftfreq, irfft2, rfft2, rfftfreq

    waves = rfft2(_evened(pictures))
    x, y = rfftfreq(SIDE)[None, :], fftfreq(SIDE)[:, None]
    radius, angle = np.hypot(x, y) + 1e-9, np.arctan2(y, x)
    maps = []
    for frequency in (0.11, 0.17, 0.25, 0.36):
        for number in range(directions):
            band = -((np.log(radius / (frequency * tuning)) / 0.3) ** 2)
            if directions > 1:
                band -= (np.sin(angle - np.pi * number / directions) / 0.5) ** 2
            response = irfft2(waves * np.exp(band / 2).astype(np.float32), s=(SIDE, SIDE))
            energy = _halved(response**2)
            maps += [np.log(_blurred(energy, scale) + 1e-4) for scale in scales]
    return np.stack(maps, axis=-1)


def _chances(features: np.ndarray, survey: Survey, rows: slice, model: Any, rng: np.random.Generator) -> np.ndarray:
    """The chance of meadow all over all pictures, from a model of some pixels of the train pictures in rows."""
    target = _halved(survey.masks.astype(float)) > 0.5
    pixels = features.reshape(-1, features.shape[-1])
    eligible = np.arange(target.size).reshape(target.shape)[rows].ravel()
    chosen = rng.choice(eligible, min(len(eligible), 9000), replace=False)
    model.fit(pixels[chosen], target.ravel()[chosen])
    return model.predict_proba(pixels)[:, 1].reshape(features.shape[:3])


def _submitted(chance: np.ndarray, survey: Survey, *, clean: bool = False) -> np.ndarray:
    """Masks of the test pictures above the threshold, and of the size, that suit the held pictures best."""
    fine = _blurred(chance.repeat(2, axis=1).repeat(2, axis=2), 1) if chance.shape[1] < SIDE else chance
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


def usual_places(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """The same mask for every picture: where train meadows lie most often."""
    survey = _survey(data, rng)
    usual = _blurred(survey.masks[: survey.learn].mean(0, keepdims=True), rng.uniform(1, 4))
    mask = usual > np.quantile(usual, rng.uniform(0.5, 0.85))
    return run_lengths(mask.repeat(len(data.test), axis=0))


def brightness(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Bright pixels, or dark ones."""
    survey = _survey(data, rng)
    return _submitted(rng.choice([-1, 1]) * _blurred(survey.pictures, rng.uniform(0.5, 2)), survey)


def otsu(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Each picture split where its grey values fall apart best; either side may be taken for meadow."""
    survey = _survey(data, rng)
    smooth = _blurred(survey.pictures[len(survey.masks) :], rng.uniform(0.5, 3))
    levels = np.quantile(smooth, np.linspace(0.05, 0.95, 19), axis=(1, 2))
    above = smooth > levels[:, :, None, None]
    share, part = above.mean((2, 3)), (above * smooth).mean((2, 3))
    gain = (part - share * smooth.mean((1, 2))) ** 2 / (share * (1 - share) + 1e-9)
    masks = above[gain.argmax(0), np.arange(len(smooth))]
    return run_lengths(masks if rng.random() < 0.5 else ~masks)


def local_threshold(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Pixels that stand out from their surroundings."""
    survey = _survey(data, rng)
    return _submitted(rng.choice([-1, 1]) * _blurred(_evened(survey.pictures), rng.uniform(0.5, 3)), survey)


def local_contrast(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Much contrast within a window, or little, whichever the train masks speak for."""
    survey = _survey(data, rng)
    contrast = _blurred(_evened(survey.pictures) ** 2, rng.uniform(1.5, 4))
    known = contrast[: len(survey.masks)]
    sign = 1 if known[survey.masks].mean() > known.mean() else -1
    return _submitted(sign * contrast, survey)


def _raw_pixels(pictures: np.ndarray, reach: int) -> np.ndarray:
    """Place and grey values of every second pixel and its neighbours."""
    around = np.pad(pictures, ((0, 0), (reach, reach), (reach, reach)), mode="edge")
    maps = [np.broadcast_to(place, pictures.shape) for place in np.ogrid[:SIDE, :SIDE]]
    maps += [around[:, i : i + SIDE, j : j + SIDE] for i in range(2 * reach + 1) for j in range(2 * reach + 1)]
    return np.stack([values[:, ::2, ::2] for values in maps], axis=-1).astype(np.float32)


def forest(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.ensemble import RandomForestClassifier

    survey = _survey(data, rng)
    size, leaf = int(rng.integers(8, 16)), int(rng.integers(10, 50))
    model = RandomForestClassifier(size, min_samples_leaf=leaf, random_state=int(rng.integers(2**31)))
    return _submitted(_chances(_raw_pixels(survey.pictures, 0), survey, slice(survey.learn), model, rng), survey)


def neighbourhood(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Boosted trees on the grey values around a pixel."""
    survey = _survey(data, rng)
    features = _raw_pixels(_evened(survey.pictures), int(rng.integers(1, 3)))
    model = boosting(rng, classify=True, max_iter=25, learning_rate=0.15)
    return _submitted(_chances(features, survey, slice(survey.learn), model, rng), survey)


def slopes(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """How steep the grey values are, across and down, within a window."""
    survey = _survey(data, rng)
    even = _evened(survey.pictures)
    squares = [even**2, *(slope**2 for slope in np.gradient(even, axis=(1, 2)))]
    scale = rng.uniform(1.0, 2.0)
    features = np.stack([np.log(_blurred(_halved(square), scale) + 1e-3) for square in squares], axis=-1)
    return _submitted(_chances(features, survey, slice(survey.learn), linear(rng), rng), survey)


def linear(rng: np.random.Generator) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=10 ** rng.uniform(-3, -1))


def quadratic(rng: np.random.Generator) -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    return QuadraticDiscriminantAnalysis(reg_param=10 ** rng.uniform(-3, -1))


def network(rng: np.random.Generator) -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    settings = {"alpha": 0.3, "learning_rate_init": 0.005, "max_iter": int(rng.integers(14, 22))}
    model = MLPClassifier((int(rng.integers(16, 32)),), random_state=int(rng.integers(2**31)), **settings)
    return make_pipeline(StandardScaler(), model)


def _bands(
    model: Callable[[np.random.Generator], Any], *, directions: int, clean: bool = False
) -> Callable[[PublicData, np.random.Generator], np.ndarray]:
    """A way of working made of band energies, a model of pixels and, perhaps, a least size of meadows."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        survey = _survey(data, rng)
        features = _energies(survey.pictures, directions, [rng.uniform(1.2, 1.9)], rng.uniform(0.9, 1.1))
        return _submitted(_chances(features, survey, slice(survey.learn), model(rng), rng), survey, clean=clean)

    return predict


def _in_context(features: np.ndarray, survey: Survey, rng: np.random.Generator) -> np.ndarray:
    """Chances from first chances all around a pixel; the second model learns on pictures new to the first."""
    cut = int(survey.learn * rng.uniform(0.5, 0.6))
    model = quadratic(rng) if rng.random() < 0.5 else network(rng)
    first = _chances(features, survey, slice(cut), model, rng)
    odds = np.log((first + 0.01) / (1.01 - first)).astype(np.float32)
    steps = [(down, right) for down in (-3, 0, 3) for right in (-3, 0, 3) if down or right]
    maps = [odds, *(_blurred(odds, reach) for reach in (1, 2, 3, 5))]
    maps += [np.roll(odds, step, axis=(1, 2)) for step in steps]
    maps += [np.broadcast_to(np.quantile(odds, level, axis=(1, 2), keepdims=True), odds.shape) for level in (0.8, 0.95)]
    return _chances(np.stack(maps, axis=-1), survey, slice(cut, survey.learn), network(rng), rng)


def _contexts(repeats: int) -> Callable[[PublicData, np.random.Generator], np.ndarray]:
    """Energies at two scales, chances in context from one model or averaged over several."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        survey = _survey(data, rng)
        features = _energies(survey.pictures, 4, [1.0, 2.0], rng.uniform(0.95, 1.05))
        chances = [_in_context(features, survey, rng) for _ in range(repeats)]
        return _submitted(np.mean(chances, axis=0), survey, clean=True)

    return predict


def _default(data: PublicData, model: Any, rng: np.random.Generator) -> np.ndarray:
    """A model with default settings on grey value and place, its decisions taken as they are."""
    survey = _survey(data, rng)
    chance = _chances(_raw_pixels(survey.pictures, 0), survey, slice(None), model, rng)
    masks = chance[len(survey.masks) :] > 0.5
    return run_lengths(masks.repeat(2, axis=1).repeat(2, axis=2))


def default_forest(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.ensemble import RandomForestClassifier

    return _default(data, RandomForestClassifier(random_state=0), rng)


def default_boosting(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _default(data, HistGradientBoostingClassifier(random_state=0), rng)


family = Family(
    name="image-segmentation",
    title="Eelgrass meadows",
    kind="image segmentation",
    metric=rle_dice,
    submission=Columns(id="id", target="rle", values=Text()),
    draw=draw,
    pipelines=(
        Pipeline("bright or dark", "naive", brightness, 4),
        Pipeline("Otsu's threshold", "naive", otsu, 4),
        Pipeline("local threshold", "naive", local_threshold, 4),
        Pipeline("local contrast", "naive", local_contrast, 4),
        Pipeline("usual places", "naive", usual_places, 4),
        Pipeline("forest on grey values", "plain", forest, 5),
        Pipeline("boosting on neighbourhoods", "plain", neighbourhood, 5),
        Pipeline("slopes", "plain", slopes, 4),
        Pipeline("bands, linear", "good", _bands(linear, directions=1), 5),
        Pipeline("oriented bands, linear", "good", _bands(linear, directions=4), 6),
        Pipeline("oriented bands, quadratic", "good", _bands(quadratic, directions=4), 5),
        Pipeline("oriented bands, linear, large parts", "good", _bands(linear, directions=4, clean=True), 6),
        Pipeline("oriented bands, quadratic, large parts", "expert", _bands(quadratic, directions=4, clean=True), 5),
        Pipeline("context", "expert", _contexts(1), 5),
        Pipeline("several contexts", "expert", _contexts(3), 3),
    ),
    defaults=(
        Pipeline("RandomForestClassifier()", "plain", default_forest, 0),
        Pipeline("HistGradientBoostingClassifier()", "plain", default_boosting, 0),
    ),
)
