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

from podium.catalog.forge.entrants.learners import (
    DEFAULT_CLASSIFIERS,
    Model,
    boosting,
    default_pipelines,
    evened,
    forest,
    scaled,
)
from podium.catalog.forge.families.image_classification_data import (
    SIDE,
    WORKSHOPS,
    combed,
    draw_habits,
    photographed,
    stamped,
)
from podium.catalog.forge.families.image_classification_features import (
    band_energies,
    comb_and_peaks,
    evened_on_clay,
    peaks,
    power_spectrum,
)
from podium.catalog.forge.family import Family, ForgedData, Pipeline, Predict, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import ID_AND_TARGET
from podium.catalog.forge.world.retelling import OwnColumn, OwnFile, Retelling, told_as
from podium.metrics import accuracy
from podium.task import Columns, Text

TRAIN_PICTURES = {"easy": 1100, "medium": 1000, "hard": 900}
FLIPPED = {"easy": 0.02, "medium": 0.04, "hard": 0.07}
GRAIN = {"easy": 0.34, "medium": 0.40, "hard": 0.46}
PITS = {"easy": 1, "medium": 2, "hard": 4}
TEST_PICTURES = 1200

PictureFeatures = Callable[[np.ndarray], np.ndarray]
"""Turns a stack of pictures into one row of numbers each."""

SUBMISSION = Columns(id="sherd_id", target="workshop", values=Text(blank=False, choices=WORKSHOPS))

RETELLING = Retelling(
    asked="the {parent}",
    rows="{material} tags",
    opening=(
        ("{organisation} keeps {count:,} {material} tags with the marks of six {parents} of {place}.",),
        (
            "Experts of {place} can tell the six apart. Name the {parent} of each of the {test:,} tags in `test.csv`, "
            "as {place} would have it recorded.",
        ),
    ),
    nouns={
        "material": ("clay", "lead", "wax", "tin", "plaster", "leather", "resin", "chalk"),
        "picture": ("photo|photos", "scan|scans", "picture|pictures", "shot|shots", "plate|plates", "image|images"),
    },
    columns=(
        OwnColumn("sherd_id", "{place} {material} tag/token", "identifier and name of the {picture}", "key"),
        OwnColumn(
            "workshop",
            "{place} {parent} name/origin/maker",
            "{name0}, {name1}, {name2}, {name3}, {name4} or {name5}",
            values=told_as("name", WORKSHOPS),
            file="train",
        ),
    ),
    files=(
        OwnFile("train/", "{place} train {pictures}", "`<{sherd_id}>.png`, {side} × {side} pixels, 8-bit grey"),
        OwnFile("test/", "{place} test {pictures}", "the same for `test.csv`"),
    ),
    notes=(
        "All {parents} of {place} work alike, drawing a comb through the soft {material} and then pressing a stamp of "
        "a few dots over the lines.",
        "Every tag was laid down as the people of {place} hold it, give or take a few degrees.",
        "Stamps were pressed anywhere and at any angle in {place}, by large hands and small ones.",
        "Tools come from one market of {place}, and several {parents} own the same comb, several the same stamp.",
        "The lamp in {place} stood on one side or the other, so a hollow may look dark or bright, and a part of a "
        "{picture} may be dimmer than the rest.",
        "Tags of {place} are grainy and pitted, and some end within the {picture}, which then shows the bare table.",
        "For about {flipped:.0%} of the tags a wrong `{workshop}` was written down, in train and test alike.",
    ),
    metric="Accuracy, the share named as recorded.\nHigher is better.",
    form=ID_AND_TARGET,
    facts=lambda difficulty: {"side": SIDE, "flipped": FLIPPED[difficulty]},
)


def draw(rng: np.random.Generator, difficulty: Difficulty) -> ForgedData:
    """Draws each workshop's habits, then the sherds, then the errors of the record."""
    cut = TRAIN_PICTURES[difficulty]
    count = cut + TEST_PICTURES
    comb_of, stamp_of = draw_habits(rng)
    workshop = rng.integers(0, len(WORKSHOPS), count)
    relief = combed(rng, comb_of[workshop]) + stamped(rng, stamp_of[workshop])
    pictures = photographed(rng, relief, pits=PITS[difficulty], grain=GRAIN[difficulty])
    wrong = rng.random(count) < FLIPPED[difficulty]
    recorded = np.where(wrong, (workshop + rng.integers(1, len(WORKSHOPS), count)) % len(WORKSHOPS), workshop)
    names = np.array(WORKSHOPS, dtype=object)
    table = pd.DataFrame({"sherd_id": [f"s{number:05d}" for number in rng.permutation(90_000)[:count]]})
    folders = np.where(np.arange(count) < cut, "train", "test")
    paths = [f"{folder}/{sherd}.png" for folder, sherd in zip(folders, table["sherd_id"], strict=True)]
    test = table.iloc[cut:].reset_index(drop=True)
    answers = test.assign(workshop=names[recorded[cut:]])
    return ForgedData(
        public=PublicData(
            train=table.iloc[:cut].assign(workshop=names[recorded[:cut]]),
            test=test,
            payload=dict(zip(paths, pictures, strict=True)),
        ),
        answers=answers,
        sample=answers.assign(workshop=WORKSHOPS[0]),
        ceiling=names[workshop[cut:]],
    )


def _measured(data: PublicData, features: PictureFeatures) -> tuple[np.ndarray, np.ndarray]:
    """The features of all train and all test pictures."""
    paths = [f"train/{sherd}.png" for sherd in data.train["sherd_id"]]
    paths += [f"test/{sherd}.png" for sherd in data.test["sherd_id"]]
    values = features(np.stack([data.payload[path] for path in paths]).astype(np.float32))
    return values[: len(data.train)], values[len(data.train) :]


def _entrant(features: Callable[[np.random.Generator], PictureFeatures], model: Model) -> Predict:
    """A way of working made of features and a model, each with settings of its own."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        train, test = _measured(data, features(rng))
        return np.asarray(model(rng).fit(train, data.train["workshop"].to_numpy()).predict(test))

    return predict


def _everything(even: np.ndarray, width: float, components: int) -> np.ndarray:
    from sklearn.decomposition import PCA

    spectrum = PCA(components, random_state=0).fit_transform(power_spectrum(even))
    return np.concatenate([comb_and_peaks(even, width), spectrum], axis=1)


def pixels(rng: np.random.Generator) -> PictureFeatures:
    return lambda pictures: pictures.reshape(len(pictures), -1) / 255


def brightness(rng: np.random.Generator) -> PictureFeatures:
    weight = rng.uniform(0.5, 2)
    return lambda pictures: np.stack([weight * pictures.mean((1, 2)), pictures.std((1, 2))], axis=1)


def filter_bank(rng: np.random.Generator) -> PictureFeatures:
    directions, width = int(rng.integers(10, 15)), rng.uniform(0.022, 0.032)
    return lambda pictures: band_energies(evened(pictures, 6), directions, width)


def spectrum(rng: np.random.Generator) -> PictureFeatures:
    reach = int(rng.integers(9, 14))
    return lambda pictures: power_spectrum(evened(pictures, 6), reach)


def spectrum_and_peaks(rng: np.random.Generator) -> PictureFeatures:
    """The spectrum says which comb, the brightest or darkest blobs say which stamp."""
    width, waves = rng.uniform(1.2, 1.8), spectrum(rng)
    return lambda pictures: np.concatenate([waves(pictures), peaks(evened(pictures, 6), width)], axis=1)


def without_comb(rng: np.random.Generator) -> PictureFeatures:
    """The comb measured and taken off before the dots are looked for."""
    width = rng.uniform(1.3, 1.8)
    return lambda pictures: comb_and_peaks(evened(pictures, 6), width)


def without_table(rng: np.random.Generator) -> PictureFeatures:
    """The same on clay alone, with the main parts of the spectrum."""
    width, components = rng.uniform(1.4, 1.7), int(rng.integers(5, 30))
    return lambda pictures: _everything(evened_on_clay(pictures), width, components)


def neighbours(rng: np.random.Generator) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(int(rng.integers(1, 30)))


def tree(rng: np.random.Generator) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=int(rng.integers(4, 12)), random_state=int(rng.integers(2**31)))


def extra_trees(rng: np.random.Generator, size: int = 120) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    leaf, share = int(rng.integers(2, 5)), rng.uniform(0.3, 0.6)
    seed = int(rng.integers(2**31))
    return ExtraTreesClassifier(size, min_samples_leaf=leaf, max_features=share, random_state=seed)


def linear(rng: np.random.Generator) -> Any:
    from sklearn.linear_model import LogisticRegression

    return scaled(LogisticRegression(C=10 ** rng.uniform(-2.5, -1.5), max_iter=200))


def kernel(rng: np.random.Generator) -> Any:
    from sklearn.svm import SVC

    return scaled(SVC(C=10 ** rng.uniform(0, 1)))


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
    return np.asarray(np.unique(target)[np.mean(chances, axis=0).argmax(1)])


def _trusted(train: np.ndarray, target: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The rows whose recorded label a model that has not seen them finds possible."""
    from sklearn.model_selection import cross_val_predict

    chance = cross_val_predict(extra_trees(rng, size=60), train, target, cv=4, method="predict_proba")
    own = chance[np.arange(len(target)), np.searchsorted(np.unique(target), target)]
    return np.flatnonzero(own > rng.uniform(0.02, 0.06))


family = Family(
    name="image-classification",
    title="Whose mark is it?",
    kind="image classification",
    metric=accuracy,
    submission=SUBMISSION,
    draw=RETELLING.drawn(draw),
    form=RETELLING.form_of(SUBMISSION),
    pipelines=(
        Pipeline("brightness and contrast", "naive", _entrant(brightness, neighbours), 5),
        Pipeline("decision tree on pixels", "naive", _entrant(pixels, tree), 4),
        Pipeline("linear on pixels", "naive", _entrant(pixels, linear), 5),
        Pipeline("nearest pictures", "plain", _entrant(pixels, neighbours), 5),
        Pipeline("random forest on pixels", "plain", _entrant(pixels, forest(trees=(30, 70))), 7),
        Pipeline("kernel on components of pixels", "plain", _entrant(pixels, kernel_on_components), 6),
        Pipeline("filter bank energies", "good", _entrant(filter_bank, kernel), 6),
        Pipeline("power spectrum", "good", _entrant(spectrum, linear_or_kernel), 7),
        Pipeline("spectrum and peaks", "good", _entrant(spectrum_and_peaks, linear_or_kernel), 7),
        Pipeline("peaks without the comb", "expert", _entrant(without_comb, trees_or_kernel), 4),
        Pipeline("boosted peaks without the comb", "expert", _entrant(without_comb, boosted), 3),
        Pipeline("peaks without comb and table", "expert", _entrant(without_table, trees_or_kernel), 4),
        Pipeline("blend without doubtful labels", "expert", blend, 4),
    ),
    defaults=default_pipelines(DEFAULT_CLASSIFIERS[1:], lambda model: _entrant(pixels, model)),
)
