"""Image classification: which workshop made the sherd? Combed lines under stamped dots, on badly lit clay.

A workshop is known by a comb (direction and spacing of its lines) together with a stamp (how its dots are
arranged). Six workshops share three combs and three stamps, so that either habit alone settles half of the
question. Phase, place, turn, size and sign of the patterns are free: no single pixel says anything. A share
of the labels is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.family import Difficulty, Family, Material, Pipeline, PublicData
from podium.catalog.forge.toolbox import boosting
from podium.metrics import accuracy
from podium.task import Columns, Text

TRAIN_PICTURES = {"easy": 1100, "medium": 1000, "hard": 900}
FLIPPED = {"easy": 0.02, "medium": 0.04, "hard": 0.07}
GRAIN = {"easy": 0.34, "medium": 0.40, "hard": 0.46}
PITS = {"easy": 1, "medium": 2, "hard": 4}
TEST_PICTURES = 1200
SIDE = 32
WORKSHOPS = ("anchor", "boar", "crane", "drum", "elm", "fern")
STAMPS = {
    "pair": [(-0.9, 0.0), (0.9, 0.0)],
    "row": [(-1.0, 0.0), (0.0, 0.0), (1.0, 0.0)],
    "triangle": [(-0.65, -0.35), (0.65, -0.35), (0.0, 0.75)],
    "square": [(-0.6, -0.6), (0.6, -0.6), (0.6, 0.6), (-0.6, 0.6)],
}
MOST_DOTS = 4

Features = Callable[[np.ndarray], np.ndarray]
"""Turns a stack of pictures into one row of numbers each."""

BRIEF = """# Sherds from six workshops

A dig along an old river port brought up thousands of pottery sherds. Six workshops of the town decorated
their jars in the same way: a comb drawn through the wet clay, then a stamp of a few dots pressed over the lines.
Specialists can tell the workshops apart. Name the workshop of every sherd in `test.csv`.

## Files
- `train/<sherd_id>.png`, `test/<sherd_id>.png`: one picture per sherd, {side} × {side} pixels, 8-bit grey
- `train.csv`: the sherds whose workshop is on record
- `test.csv`: the sherds to name
- `sample_submission.csv`: the required form

## Columns
| column | meaning |
|---|---|
| sherd_id | identifier, also the name of the picture |
| workshop | one of {workshops} (train only) |

## How the pictures were taken
Every sherd was laid down the way it sat on the jar, give or take a few degrees. Stamps were pressed anywhere
and at any angle, by large hands and small ones. All potters bought their tools at the same market: several
workshops own the same comb, and several the same stamp. The lamp stood on one side or the other, so a hollow
may look dark or bright, and a part of a picture may be dimmer than the rest. The clay is grainy and pitted.
Some sherds end within the picture, which then shows the bare table. In about {flipped:.0%} of the sherds a wrong
workshop was written down, in train and test alike.

## Metric
Accuracy, the share of test sherds whose workshop is named as recorded; higher is better.

## Submission
A CSV with the columns `sherd_id` and `workshop`, one row per row of `test.csv`.
"""


def draw(rng: np.random.Generator, difficulty: Difficulty) -> Material:
    """Draws each workshop's habits, then the sherds, then the errors of the record."""
    cut = TRAIN_PICTURES[difficulty]
    count = cut + TEST_PICTURES
    comb_of, stamp_of = _habits(rng)
    workshop = rng.integers(0, len(WORKSHOPS), count)
    relief = _combed(rng, comb_of[workshop]) + _stamped(rng, stamp_of[workshop])
    pictures = _photographed(rng, relief, difficulty)
    wrong = rng.random(count) < FLIPPED[difficulty]
    recorded = np.where(wrong, (workshop + rng.integers(1, len(WORKSHOPS), count)) % len(WORKSHOPS), workshop)
    names = np.array(WORKSHOPS, dtype=object)
    table = pd.DataFrame({"sherd_id": [f"s{number:05d}" for number in rng.permutation(90_000)[:count]]})
    folders = np.where(np.arange(count) < cut, "train", "test")
    paths = [f"{folder}/{sherd}.png" for folder, sherd in zip(folders, table["sherd_id"], strict=True)]
    test = table.iloc[cut:].reset_index(drop=True)
    answers = test.assign(workshop=names[recorded[cut:]])
    return Material(
        brief=BRIEF.format(side=SIDE, workshops=", ".join(WORKSHOPS), flipped=FLIPPED[difficulty]),
        public=PublicData(
            train=table.iloc[:cut].assign(workshop=names[recorded[:cut]]),
            test=test,
            payload=dict(zip(paths, pictures, strict=True)),
        ),
        answers=answers,
        sample=answers.assign(workshop=WORKSHOPS[0]),
        ceiling=names[workshop[cut:]],
    )


def _habits(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Each workshop's comb (direction and spacing) and stamp (places of the dots, absent ones as NaN)."""
    direction, spacing = rng.uniform(0, np.pi), rng.uniform(4.3, 4.9)
    lean = rng.choice([-1, 1]) * np.deg2rad(rng.uniform(15, 18))
    other = spacing * rng.choice([1.17, 1 / 1.17])
    combs = np.array([(direction, spacing), (direction + lean, spacing), (direction, other)])
    stamps = np.full((3, MOST_DOTS, 2), np.nan)
    for row, name in enumerate(rng.permutation(list(STAMPS))[:3]):
        stamps[row, : len(STAMPS[name])] = STAMPS[name]
    # Of nine pairs, three stay unused, so that every comb and every stamp belongs to two workshops.
    unused = rng.permutation(3)
    pairs = np.array([(comb, stamp) for comb in range(3) for stamp in range(3) if stamp != unused[comb]])
    pairs = rng.permutation(pairs)
    return combs[pairs[:, 0]], stamps[pairs[:, 1]]


def _grid() -> tuple[np.ndarray, np.ndarray]:
    axis = np.arange(SIDE) - (SIDE - 1) / 2
    return axis[None, None, :], axis[None, :, None]


def _per_picture(values: np.ndarray) -> np.ndarray:
    return values[:, None, None]


def _combed(rng: np.random.Generator, comb: np.ndarray) -> np.ndarray:
    count = len(comb)
    x, y = _grid()
    direction = comb[:, 0] + np.deg2rad(rng.normal(0, 3.0, count))
    spacing = comb[:, 1] * np.exp(rng.normal(0, 0.025, count))
    cosine, sine = _per_picture(np.cos(direction)), _per_picture(np.sin(direction))
    bend = _per_picture(rng.normal(0, 0.004, count))
    across, along = x * cosine + y * sine, y * cosine - x * sine
    turns = (across + bend * along**2) / _per_picture(spacing) + _per_picture(rng.random(count))
    return _per_picture(rng.uniform(0.9, 1.5, count)) * np.sin(2 * np.pi * turns)


def _stamped(rng: np.random.Generator, stamp: np.ndarray) -> np.ndarray:
    count = len(stamp)
    size, turn = rng.uniform(5.2, 8.3, count), rng.uniform(0, 2 * np.pi, count)
    middle = rng.uniform(-5, 5, (2, count))
    depth = 2.1 * rng.choice([-1, 1], count)
    relief = np.zeros((count, SIDE, SIDE))
    for number in range(MOST_DOTS):
        x, y = stamp[:, number].T
        left = middle[0] + size * (x * np.cos(turn) - y * np.sin(turn)) + rng.normal(0, 0.4, count)
        top = middle[1] + size * (x * np.sin(turn) + y * np.cos(turn)) + rng.normal(0, 0.4, count)
        relief += _dot(left, top, np.full(count, 1.6), depth * np.exp(rng.normal(0, 0.15, count)))
    return relief


def _dot(left: np.ndarray, top: np.ndarray, width: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """A round hollow in every picture, none where its place is NaN."""
    x, y = _grid()
    absent = np.isnan(left)
    scale = _per_picture(-1 / (2 * width**2))
    along = np.exp(scale * (x - _per_picture(np.where(absent, 0, left))) ** 2)
    down = np.exp(scale * (y - _per_picture(np.where(absent, 0, top))) ** 2)
    return _per_picture(np.where(absent, 0, depth)) * along * down


def _photographed(rng: np.random.Generator, relief: np.ndarray, difficulty: Difficulty) -> np.ndarray:
    """Pits, grain, an uneven lamp, broken edges and each picture's own brightness and contrast."""
    count = len(relief)
    x, y = _grid()
    for _ in range(PITS[difficulty]):
        left, top = rng.uniform(-SIDE / 2, SIDE / 2, (2, count))
        relief = relief + _dot(left, top, rng.uniform(0.7, 1.2, count), rng.normal(0, 1.5, count))
    relief += GRAIN[difficulty] * rng.standard_normal(relief.shape)
    slope = rng.normal(0, 0.06, (2, count))
    relief += _per_picture(slope[0]) * x + _per_picture(slope[1]) * y
    relief += _per_picture(rng.normal(0, 0.004, count)) * (x**2 + y**2)
    side, distance = rng.uniform(0, 2 * np.pi, count), rng.uniform(11, 27, count)
    outside = x * _per_picture(np.cos(side)) + y * _per_picture(np.sin(side)) > _per_picture(distance)
    relief = np.where(outside, _per_picture(rng.uniform(-3, 3, count)), relief)
    brightness, contrast = rng.uniform(95, 160, count), rng.uniform(12, 24, count)
    return np.clip(_per_picture(brightness) + _per_picture(contrast) * relief, 0, 255).astype(np.uint8)


def _measured(data: PublicData, features: Features) -> tuple[np.ndarray, np.ndarray]:
    """The features of all train and all test pictures."""
    paths = [f"train/{sherd}.png" for sherd in data.train["sherd_id"]]
    paths += [f"test/{sherd}.png" for sherd in data.test["sherd_id"]]
    values = features(np.stack([data.payload[path] for path in paths]).astype(np.float32))
    return values[: len(data.train)], values[len(data.train) :]


def _entrant(
    features: Callable[[np.random.Generator], Features], model: Callable[[np.random.Generator], Any]
) -> Callable[[PublicData, np.random.Generator], np.ndarray]:
    """A way of working made of features and a model, each with settings of its own."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        train, test = _measured(data, features(rng))
        return model(rng).fit(train, data.train["workshop"].to_numpy()).predict(test)

    return predict


def _evened(pictures: np.ndarray, reach: float = 6.0) -> np.ndarray:
    """Without the lamp: local brightness taken off, contrast made equal."""
    from scipy.ndimage import gaussian_filter

    detail = pictures - gaussian_filter(pictures, (0, reach, reach))
    return detail / detail.std((1, 2), keepdims=True)


def _evened_on_clay(pictures: np.ndarray, reach: float = 6.0) -> np.ndarray:
    """The same from clay alone; the table shows no grain, so that equal neighbours give it away."""
    from scipy.ndimage import gaussian_filter, maximum_filter

    table = np.zeros(pictures.shape, np.float32)
    table[:, 1:, 1:] = np.ptp([pictures[:, i : SIDE - 1 + i, j : SIDE - 1 + j] for i in (0, 1) for j in (0, 1)], 0) == 0
    clay = 1 - maximum_filter(table, (0, 3, 3))
    local = gaussian_filter(pictures * clay, (0, reach, reach)) / (gaussian_filter(clay, (0, reach, reach)) + 1e-6)
    detail = (pictures - local) * clay
    return detail / np.sqrt((detail**2).sum((1, 2), keepdims=True) / clay.sum((1, 2), keepdims=True))


def _spectrum(even: np.ndarray, reach: int = 12) -> np.ndarray:
    """The logarithm of the power at low and middle frequencies: where a pattern lies does not matter here."""
    from scipy.fft import rfft2
    from scipy.ndimage import gaussian_filter

    power = np.abs(rfft2(even * _window())) ** 2
    power = np.concatenate([power[:, -reach:], power[:, : reach + 1]], axis=1)[:, :, : reach + 1]
    return np.log1p(gaussian_filter(power, (0, 0.7, 0.7))).reshape(len(even), -1)


def _window() -> np.ndarray:
    window = np.hanning(SIDE + 2)[1:-1].astype(np.float32)
    return window[:, None] * window


def _band_energies(even: np.ndarray, directions: int, width: float) -> np.ndarray:
    """The energy a bank of oriented band-pass filters finds in each picture."""
    from scipy.fft import fftfreq, rfft2, rfftfreq

    power = (np.abs(rfft2(even)) ** 2).reshape(len(even), -1)
    angle = np.pi * np.arange(directions) / directions
    frequency = np.array([0.08, 0.16, 0.19, 0.22, 0.26, 0.30])[:, None]
    right, down = (frequency * np.cos(angle)).ravel(), (frequency * np.sin(angle)).ravel()
    x, y = rfftfreq(SIDE)[None, :, None], fftfreq(SIDE)[:, None, None]
    bank = np.exp(-((x - right) ** 2 + (y - down) ** 2) / (2 * width**2))
    bank += np.exp(-((x + right) ** 2 + (y + down) ** 2) / (2 * width**2))
    return np.log(power @ bank.reshape(power.shape[1], -1).astype(np.float32))


def _peaks(even: np.ndarray, width: float) -> np.ndarray:
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


def _comb_and_peaks(even: np.ndarray, width: float) -> np.ndarray:
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
    return np.concatenate([comb, _peaks(bare.astype(np.float32), width)], axis=1)


def _everything(even: np.ndarray, width: float, components: int) -> np.ndarray:
    from sklearn.decomposition import PCA

    spectrum = PCA(components, random_state=0).fit_transform(_spectrum(even))
    return np.concatenate([_comb_and_peaks(even, width), spectrum], axis=1)


def pixels(rng: np.random.Generator) -> Features:
    return lambda pictures: pictures.reshape(len(pictures), -1) / 255


def brightness(rng: np.random.Generator) -> Features:
    weight = rng.uniform(0.5, 2)
    return lambda pictures: np.stack([weight * pictures.mean((1, 2)), pictures.std((1, 2))], axis=1)


def filter_bank(rng: np.random.Generator) -> Features:
    directions, width = int(rng.integers(10, 15)), rng.uniform(0.022, 0.032)
    return lambda pictures: _band_energies(_evened(pictures), directions, width)


def spectrum(rng: np.random.Generator) -> Features:
    reach = int(rng.integers(9, 14))
    return lambda pictures: _spectrum(_evened(pictures), reach)


def spectrum_and_peaks(rng: np.random.Generator) -> Features:
    """The spectrum says which comb, the brightest or darkest blobs say which stamp."""
    width, waves = rng.uniform(1.2, 1.8), spectrum(rng)
    return lambda pictures: np.concatenate([waves(pictures), _peaks(_evened(pictures), width)], axis=1)


def without_comb(rng: np.random.Generator) -> Features:
    """The comb measured and taken off before the dots are looked for."""
    width = rng.uniform(1.3, 1.8)
    return lambda pictures: _comb_and_peaks(_evened(pictures), width)


def without_table(rng: np.random.Generator) -> Features:
    """The same on clay alone, with the main parts of the spectrum."""
    width, components = rng.uniform(1.4, 1.7), int(rng.integers(5, 30))
    return lambda pictures: _everything(_evened_on_clay(pictures), width, components)


def neighbours(rng: np.random.Generator) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(int(rng.integers(1, 30)))


def tree(rng: np.random.Generator) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=int(rng.integers(4, 12)), random_state=int(rng.integers(2**31)))


def forest(rng: np.random.Generator) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    size, leaf = int(rng.integers(30, 70)), int(rng.integers(1, 6))
    return RandomForestClassifier(size, min_samples_leaf=leaf, random_state=int(rng.integers(2**31)))


def extra_trees(rng: np.random.Generator, size: int = 120) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    leaf, share = int(rng.integers(2, 5)), rng.uniform(0.3, 0.6)
    seed = int(rng.integers(2**31))
    return ExtraTreesClassifier(size, min_samples_leaf=leaf, max_features=share, random_state=seed)


def linear(rng: np.random.Generator) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=10 ** rng.uniform(-2.5, -1.5), max_iter=200))


def kernel(rng: np.random.Generator) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return make_pipeline(StandardScaler(), SVC(C=10 ** rng.uniform(0, 1)))


def kernel_on_components(rng: np.random.Generator) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    return make_pipeline(PCA(int(rng.integers(30, 90)), random_state=0), kernel(rng))


def linear_or_kernel(rng: np.random.Generator) -> Any:
    return linear(rng) if rng.random() < 0.4 else kernel(rng)


def trees_or_kernel(rng: np.random.Generator) -> Any:
    return extra_trees(rng) if rng.random() < 0.5 else kernel(rng)


def boosted(rng: np.random.Generator) -> Any:
    return boosting(rng, classify=True, max_iter=60)


def blend(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Labels in doubt left out of training, three kinds of model averaged."""
    from scipy.special import softmax

    train, test = _measured(data, without_table(rng))
    target = data.train["workshop"].to_numpy()
    rows = _trusted(train, target, rng)
    train, target = train[rows], target[rows]
    chances = [model.fit(train, target).predict_proba(test) for model in (extra_trees(rng), linear(rng))]
    chances.append(softmax(kernel(rng).fit(train, target).decision_function(test), axis=1))
    return np.unique(target)[np.mean(chances, axis=0).argmax(1)]


def _trusted(train: np.ndarray, target: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The rows whose recorded label a model that has not seen them finds possible."""
    from sklearn.model_selection import cross_val_predict

    chance = cross_val_predict(extra_trees(rng, size=60), train, target, cv=4, method="predict_proba")
    own = chance[np.arange(len(target)), np.searchsorted(np.unique(target), target)]
    return np.flatnonzero(own > rng.uniform(0.02, 0.06))


def default_forest(rng: np.random.Generator) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=0)


def default_logistic(rng: np.random.Generator) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


family = Family(
    name="image-classification",
    title="Sherds from six workshops",
    kind="image classification",
    metric=accuracy,
    submission=Columns(id="sherd_id", target="workshop", values=Text(blank=False, choices=WORKSHOPS)),
    draw=draw,
    pipelines=(
        Pipeline("brightness and contrast", "naive", _entrant(brightness, neighbours), 5),
        Pipeline("decision tree on pixels", "naive", _entrant(pixels, tree), 4),
        Pipeline("linear on pixels", "naive", _entrant(pixels, linear), 5),
        Pipeline("nearest pictures", "plain", _entrant(pixels, neighbours), 5),
        Pipeline("random forest on pixels", "plain", _entrant(pixels, forest), 7),
        Pipeline("kernel on components of pixels", "plain", _entrant(pixels, kernel_on_components), 6),
        Pipeline("filter bank energies", "good", _entrant(filter_bank, kernel), 6),
        Pipeline("power spectrum", "good", _entrant(spectrum, linear_or_kernel), 7),
        Pipeline("spectrum and peaks", "good", _entrant(spectrum_and_peaks, linear_or_kernel), 7),
        Pipeline("peaks without the comb", "expert", _entrant(without_comb, trees_or_kernel), 4),
        Pipeline("boosted peaks without the comb", "expert", _entrant(without_comb, boosted), 3),
        Pipeline("peaks without comb and table", "expert", _entrant(without_table, trees_or_kernel), 4),
        Pipeline("blend without doubtful labels", "expert", blend, 4),
    ),
    defaults=(
        Pipeline("RandomForestClassifier()", "plain", _entrant(pixels, default_forest), 0),
        Pipeline("LogisticRegression()", "plain", _entrant(pixels, default_logistic), 0),
    ),
)
