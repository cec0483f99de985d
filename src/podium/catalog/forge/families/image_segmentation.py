"""Image segmentation: where does eelgrass grow? Meadows that differ from rippled sand by texture alone.

Sand, eelgrass and drifted wrack are noise of equal strength from different bands of frequency and direction, so
that brightness says nothing and local contrast little. Shadows, uneven gain, wrack and tufts too small to count
mislead. Divers drew the recorded outlines with an error of known size; some pictures hold no meadow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.learners import (
    DEFAULT_CLASSIFIERS,
    Model,
    blurred,
    boosting,
    default_pipelines,
    evened,
    forest,
    scaled,
)
from podium.catalog.forge.families.image_segmentation_data import (
    MASK_SIDE,
    draw_meadows,
    draw_textures,
    draw_wrack,
    run_lengths,
    sounded,
)
from podium.catalog.forge.families.image_segmentation_features import (
    Survey,
    band_energies,
    chances,
    halved,
    raw_pixels,
    read_survey,
    submitted,
)
from podium.catalog.forge.family import Family, ForgedData, Pipeline, Predict, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import ID_AND_TARGET
from podium.catalog.forge.world.retelling import OwnColumn, OwnFile, Retelling
from podium.metrics import rle_dice
from podium.task import Columns, Text

TRAIN_PICTURES = {"easy": 270, "medium": 240, "hard": 210}
SPECKLE = {"easy": 0.30, "medium": 0.40, "hard": 0.55}
WRACK = {"easy": 0.3, "medium": 0.5, "hard": 0.7}
OUTLINE_ERROR = {"easy": 0.5, "medium": 0.7, "hard": 1.0}
TEST_PICTURES = 420

SUBMISSION = Columns(id="id", target="rle", values=Text())

RETELLING = Retelling(
    asked="the outlines",
    rows="{pictures}",
    opening=(
        ("{organisation} draws a {scanner} over the {ground} around {place} to see where {growth} grows.",),
        ("Outline it in each of the {test:,} {pictures} of {place} that `test.csv` lists.",),
    ),
    nouns={
        "scanner": ("laser", "radar", "line camera", "probe", "thermal scanner", "echo sounder"),
        "ground": ("gravel", "plaster", "soil", "concrete", "turf", "shingle", "asphalt"),
        "growth": ("moss", "lichen", "algae", "mould", "clover", "ivy", "cress", "fungus"),
        "litter": ("straw", "leaves", "shavings", "needles", "husks", "twigs"),
        "picture": ("scan|scans", "picture|pictures", "frame|frames", "tile|tiles", "image|images"),
    },
    columns=(
        OwnColumn("id", "{place} {picture}|{place} {ground} {picture}", "identifier and name of the {picture}", "key"),
        OwnColumn(
            "rle", "{place} {growth} runs/mask/area", "mask as run lengths; blank if there is none", file="train"
        ),
    ),
    files=(
        OwnFile("train/", "{place} train {pictures}", "`<{id}>.png`, {side} × {side} pixels, 8-bit grey"),
        OwnFile("test/", "{place} test {pictures}", "the same for `test.csv`"),
        OwnFile("train_masks/", "{place} train masks/annotations", "masks of `train.csv`; 255 inside, 0 outside"),
    ),
    notes=(
        "Most of a {picture} of {place} is {ground} in ridges that run much the same way throughout.",
        "In {place} {growth} has a grain of its own, yet sends back no more and no less than {ground}; "
        "drifted {litter} counts as neither.",
        "The gain changes across each {picture} of {place}, and soft shadows fall on anything.",
        "Where it grows in {place}, {growth} has rounded outlines and may touch or leave the {picture}, of which about "
        "one in five has none and a few have two.",
        "Single tufts, narrower than {tuft} pixels, do not count in {place}.",
        "The people of {place} drew outlines from memory, so in train and test alike the recorded edge is off by about "
        "{error:.1f} pixels, now outwards, now inwards.",
    ),
    metric="The Dice coefficient, averaged over {pictures}.\nTwo blank masks count as 1.\nHigher is better.",
    form=f"{ID_AND_TARGET}\n`{{target}}` holds pairs `start length start length …` in ascending order.\n"
    "For `{target}` pixels are numbered from 1, left to right and then top to bottom; 1 is the upper left corner.\n"
    "The first row ends with pixel {side}.\nThe next one begins with pixel {next}.\n"
    "Without any, leave `{target}` blank.",
    facts=lambda difficulty: {"side": MASK_SIDE, "next": MASK_SIDE + 1, "tuft": 7, "error": OUTLINE_ERROR[difficulty]},
)


def draw(rng: np.random.Generator, difficulty: Difficulty) -> ForgedData:
    """Draws the bay's textures, then the floor of every picture, then the sonar's and the divers' errors."""
    cut = TRAIN_PICTURES[difficulty]
    count = cut + TEST_PICTURES
    sand, grass, wrack = draw_textures(rng, count)
    true, recorded, cover = draw_meadows(rng, count, OUTLINE_ERROR[difficulty])
    drifted = draw_wrack(rng, count, WRACK[difficulty])
    floor = drifted * wrack + (1 - drifted) * sand
    pictures = sounded(rng, cover * grass + (1 - cover) * floor, SPECKLE[difficulty])
    table = pd.DataFrame({"id": [f"f{number:05d}" for number in rng.permutation(90_000)[:count]]})
    train = table.iloc[:cut].assign(rle=run_lengths(recorded[:cut]))
    test = table.iloc[cut:].reset_index(drop=True)
    answers = test.assign(rle=run_lengths(recorded[cut:]))
    payload = {f"train/{name}.png": picture for name, picture in zip(train["id"], pictures, strict=False)}
    payload |= {
        f"train_masks/{name}.png": np.uint8(255) * mask for name, mask in zip(train["id"], recorded, strict=False)
    }
    payload |= {f"test/{name}.png": picture for name, picture in zip(test["id"], pictures[cut:], strict=True)}
    return ForgedData(
        public=PublicData(train=train, test=test, payload=payload),
        answers=answers,
        sample=answers.assign(rle=""),
        ceiling=run_lengths(true[cut:]),
    )


def usual_places(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """The same mask for every picture: where train meadows lie most often."""
    survey = read_survey(data, rng)
    usual = blurred(survey.masks[: survey.learn].mean(0, keepdims=True), rng.uniform(1, 4))
    mask = usual > np.quantile(usual, rng.uniform(0.5, 0.85))
    return run_lengths(mask.repeat(len(data.test), axis=0))


def brightness(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Bright pixels, or dark ones."""
    survey = read_survey(data, rng)
    return submitted(rng.choice([-1, 1]) * blurred(survey.pictures, rng.uniform(0.5, 2)), survey)


def otsu(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Each picture split where its grey values fall apart best; either side may be taken for meadow."""
    survey = read_survey(data, rng)
    smooth = blurred(survey.pictures[len(survey.masks) :], rng.uniform(0.5, 3))
    levels = np.quantile(smooth, np.linspace(0.05, 0.95, 19), axis=(1, 2))
    above = smooth > levels[:, :, None, None]
    share, part = above.mean((2, 3)), (above * smooth).mean((2, 3))
    gain = (part - share * smooth.mean((1, 2))) ** 2 / (share * (1 - share) + 1e-9)
    masks = above[gain.argmax(0), np.arange(len(smooth))]
    return run_lengths(masks if rng.random() < 0.5 else ~masks)


def local_threshold(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Pixels that stand out from their surroundings."""
    survey = read_survey(data, rng)
    return submitted(rng.choice([-1, 1]) * blurred(evened(survey.pictures, 5), rng.uniform(0.5, 3)), survey)


def local_contrast(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Much contrast within a window, or little, whichever the train masks speak for."""
    survey = read_survey(data, rng)
    contrast = blurred(evened(survey.pictures, 5) ** 2, rng.uniform(1.5, 4))
    known = contrast[: len(survey.masks)]
    sign = 1 if known[survey.masks].mean() > known.mean() else -1
    return submitted(sign * contrast, survey)


def grey_values(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    survey = read_survey(data, rng)
    model = forest(trees=(8, 16), leaf=(10, 50))(rng)
    return submitted(chances(raw_pixels(survey.pictures, 0), survey, slice(survey.learn), model, rng), survey)


def neighbourhood(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Boosted trees on the grey values around a pixel."""
    survey = read_survey(data, rng)
    features = raw_pixels(evened(survey.pictures, 5), int(rng.integers(1, 3)))
    model = boosting(rng, classify=True, max_iter=25, learning_rate=0.15)
    return submitted(chances(features, survey, slice(survey.learn), model, rng), survey)


def slopes(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Return the gradient of the grey values, across and down, within a window."""
    survey = read_survey(data, rng)
    even = evened(survey.pictures, 5)
    squares = [even**2, *(slope**2 for slope in np.gradient(even, axis=(1, 2)))]
    scale = rng.uniform(1.0, 2.0)
    features = np.stack([np.log(blurred(halved(square), scale) + 1e-3) for square in squares], axis=-1)
    return submitted(chances(features, survey, slice(survey.learn), linear(rng), rng), survey)


def linear(rng: np.random.Generator) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=10 ** rng.uniform(-3, -1))


def quadratic(rng: np.random.Generator) -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    return QuadraticDiscriminantAnalysis(reg_param=10 ** rng.uniform(-3, -1))


def network(rng: np.random.Generator) -> Any:
    from sklearn.neural_network import MLPClassifier

    settings = {"alpha": 0.3, "learning_rate_init": 0.005, "max_iter": int(rng.integers(14, 22))}
    model = MLPClassifier((int(rng.integers(16, 32)),), random_state=int(rng.integers(2**31)), **settings)
    return scaled(model)


def _bands(model: Model, *, directions: int, clean: bool = False) -> Predict:
    """A way of working made of band energies, a model of pixels and, perhaps, a least size of meadows."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        survey = read_survey(data, rng)
        features = band_energies(survey.pictures, directions, [rng.uniform(1.2, 1.9)], rng.uniform(0.9, 1.1))
        return submitted(chances(features, survey, slice(survey.learn), model(rng), rng), survey, clean=clean)

    return predict


def _in_context(features: np.ndarray, survey: Survey, rng: np.random.Generator) -> np.ndarray:
    """Chances from first chances all around a pixel; the second model learns on pictures new to the first."""
    cut = int(survey.learn * rng.uniform(0.5, 0.6))
    model = quadratic(rng) if rng.random() < 0.5 else network(rng)
    first = chances(features, survey, slice(cut), model, rng)
    odds = np.log((first + 0.01) / (1.01 - first)).astype(np.float32)
    steps = [(down, right) for down in (-3, 0, 3) for right in (-3, 0, 3) if down or right]
    maps = [odds, *(blurred(odds, reach) for reach in (1, 2, 3, 5))]
    maps += [np.roll(odds, step, axis=(1, 2)) for step in steps]
    maps += [np.broadcast_to(np.quantile(odds, level, axis=(1, 2), keepdims=True), odds.shape) for level in (0.8, 0.95)]
    return chances(np.stack(maps, axis=-1), survey, slice(cut, survey.learn), network(rng), rng)


def _contexts(repeats: int) -> Predict:
    """Energies at two scales, chances in context from one model or averaged over several."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        survey = read_survey(data, rng)
        features = band_energies(survey.pictures, 4, [1.0, 2.0], rng.uniform(0.95, 1.05))
        chances = [_in_context(features, survey, rng) for _ in range(repeats)]
        return submitted(np.mean(chances, axis=0), survey, clean=True)

    return predict


def as_it_comes(model: Model) -> Predict:
    """A way of working that trains a model on grey value and place and takes its decisions as they are."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        survey = read_survey(data, rng)
        chance = chances(raw_pixels(survey.pictures, 0), survey, slice(None), model(rng), rng)
        masks = chance[len(survey.masks) :] > 0.5
        return run_lengths(masks.repeat(2, axis=1).repeat(2, axis=2))

    return predict


family = Family(
    name="image-segmentation",
    title="Where does it grow?",
    kind="image segmentation",
    metric=rle_dice,
    submission=SUBMISSION,
    draw=RETELLING.drawn(draw),
    form=RETELLING.form_of(SUBMISSION),
    pipelines=(
        Pipeline("bright or dark", "naive", brightness, 4),
        Pipeline("Otsu's threshold", "naive", otsu, 4),
        Pipeline("local threshold", "naive", local_threshold, 4),
        Pipeline("local contrast", "naive", local_contrast, 4),
        Pipeline("usual places", "naive", usual_places, 4),
        Pipeline("forest on grey values", "plain", grey_values, 5),
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
    defaults=default_pipelines(DEFAULT_CLASSIFIERS[1::-1], as_it_comes),
)
