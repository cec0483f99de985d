"""Anomaly detection without labels: find the rows that do not fit.

The numbers of a row hang together, differently in each mode; in an odd row some of them come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb
from typing import Any

import numpy as np

from podium.catalog.forge.entrants.calibration import Probes
from podium.catalog.forge.entrants.field_mix import Entrants
from podium.catalog.forge.entrants.learners import forest, rank_average
from podium.catalog.forge.entrants.table_readings import as_is, read
from podium.catalog.forge.family import ForgedData, Pipeline, Predict, PublicData, Skill
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.assemble_family import world_family
from podium.catalog.forge.world.brief import ID_AND_TARGET, Story
from podium.catalog.forge.world.expressions import SHAPES, standardised
from podium.catalog.forge.world.sheet import SheetQuestion, Sizes, add_categories, add_numbers, draw_sheet, sheet_task
from podium.metrics import roc_auc
from podium.task import Columns

ROWS: Sizes = {"easy": (2200, 1600), "medium": (1800, 1600), "hard": (1400, 1600), "tiny": (120, 60)}
NOISE: Mapping[Difficulty, float] = {"easy": 0.35, "medium": 0.45, "hard": 0.55, "tiny": 0.3}
NUMBERS, FACTORS, MODES, ODD = 10, 3, 3, 0.1
SWAPPED = (2, 3)
"""Smallest and largest number of values of an odd row that come from elsewhere."""
MODES_CALLED = (
    "mode", "setting", "regime", "programme", "profile", "scheme", "pattern", "state", "configuration", "protocol",
    "procedure", "variant", "routine", "condition", "arrangement", "plan",
)  # fmt: skip
NOTES = (
    "None of the {rows} of {place} in `train.csv` is odd; {share:.0%} of those in `test.csv` are.",
    "In odd {rows} of {place} every number looks usual by itself.",
)
SPLIT = (
    "`train.csv` and `test.csv` cover the same {days} days of {place}.",
    "Both files come from the same {days} days in {place}.",
    "For {days} days {place} filled both files, side by side.",
)
TrainAndTest = tuple[np.ndarray, np.ndarray]
"""Train and test rows, every column with mean 0 and spread 1."""
OddnessScore = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""`score(train, test, rng)` says how odd each test row is."""


def draw_once(rng: np.random.Generator, difficulty: Difficulty, story: Story) -> ForgedData:
    """Draw factors, numbers that follow from them in a way that depends on the mode, and odd rows.

    The foreign numbers of odd rows come from unpublished rows, because a search for equal cells would find them.
    """
    train_rows, test_rows = ROWS[difficulty]
    count, foreign = train_rows + test_rows, round(ODD * test_rows)
    sheet = draw_sheet(rng, story, count)
    factors, mode = rng.normal(size=(count + foreign, FACTORS)), rng.integers(0, MODES, count + foreign)
    usual = np.empty((count + foreign, NUMBERS))
    for column in range(NUMBERS):
        bent = [SHAPES[str(rng.choice(list(SHAPES)))](rng, factors[:, factor]) for factor in range(FACTORS)]
        weights = rng.normal(size=(MODES, FACTORS))
        usual[:, column] = standardised((np.stack(bent, axis=1) * weights[mode]).sum(axis=1))
    numbers = usual + NOISE[difficulty] * rng.normal(size=usual.shape)
    odd = np.zeros(count, dtype=bool)
    odd[train_rows + rng.permutation(test_rows)[:foreign]] = True
    for number, row in enumerate(np.flatnonzero(odd)):
        swapped = rng.permutation(NUMBERS)[: int(rng.choice(SWAPPED))]
        numbers[row, swapped] = numbers[count + number, swapped]
    numbers, usual, mode = numbers[:count], usual[:count], mode[:count]
    letters = np.array([f"{story.place[0].upper()}{number + 1}" for number in range(MODES)], dtype=object)
    sheet.add(story.naming.about(story.domain.row.one, MODES_CALLED), letters[mode], "mode")
    add_numbers(rng, sheet, numbers / numbers.std(axis=0))
    add_categories(rng, sheet)
    question = SheetQuestion(
        rows=story.domain.row.many,
        asked="how odd each is",
        meaning="0: nothing is odd",
        metric="The area under the ROC curve.\nHigher is better.",
        form=f"{ID_AND_TARGET}\nThere larger means odder.",
        notes=NOTES,
        split=SPLIT,
        figures={"share": ODD},
    )
    oddness = likelihood_ratio(numbers, usual, NOISE[difficulty])
    return sheet_task(rng, sheet, question, target=odd.astype(int), ceiling=oddness, sample=0.0, train_rows=train_rows)


def likelihood_ratio(numbers: np.ndarray, usual: np.ndarray, noise: float) -> np.ndarray:
    """Return the log-likelihood ratio of each row: some of its numbers come from another row, or none does.

    It is the best answer but for one thing: the foreign numbers of a row are taken for independent of each other.
    """
    others = usual[:: max(1, len(usual) // 100)]
    own = -0.5 * ((numbers - usual) / noise) ** 2
    foreign = np.exp(-0.5 * ((numbers[:, None] - others) / noise) ** 2).mean(axis=1)
    ratio = np.exp(np.minimum(np.log(foreign + 1e-12) - own, 200.0))
    products = np.zeros((max(SWAPPED) + 1, len(numbers)))  # row n: the sum of the products of any n ratios
    products[0] = 1.0
    for column in ratio.T:
        products[1:] += products[:-1] * column
    return np.asarray(np.log(sum(products[count] / comb(NUMBERS, count) for count in SWAPPED)))


def _numbers(data: PublicData) -> TrainAndTest:
    found = read(data, as_is)
    values = found.both.select_dtypes("number").to_numpy(float)
    train = values[: found.train_rows]
    scaled = np.clip((values - train.mean(axis=0)) / train.std(axis=0), -5, 5)
    return scaled[: found.train_rows], scaled[found.train_rows :]


def _modes(data: PublicData) -> TrainAndTest:
    """Return the category numbers of the first text column."""
    codes = read(data, as_is).both.iloc[:, 0].astype("category").cat.codes.to_numpy()
    return codes[: len(data.train)], codes[len(data.train) :]


def together(score: OddnessScore) -> Predict:
    """Return a pipeline that compares all rows with all rows."""
    return lambda data, rng: score(*read(data, _numbers), rng)


def by_mode(score: OddnessScore) -> Predict:
    """Return a pipeline that compares rows with those of the same mode."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        (train, test), (known, asked) = read(data, _numbers), read(data, _modes)
        found = np.empty(len(test))
        for mode in np.unique(asked):
            found[asked == mode] = score(train[known == mode], test[asked == mode], rng)
        return found

    return predict


def extremes(train: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    some = rng.permutation(train.shape[1])[: int(rng.integers(1, train.shape[1] + 1))]
    return np.asarray(np.abs(test[:, some]).max(axis=1))


def distance(train: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the Mahalanobis distance of each row from the centre."""
    inverse = np.linalg.inv(np.cov(train.T) + 10 ** rng.uniform(-3, -1) * np.eye(train.shape[1]))
    return np.asarray(np.einsum("ij,jk,ik->i", test, inverse, test))


def neighbours(train: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    apart = (test**2).sum(1)[:, None] + (train**2).sum(1)[None, :] - 2 * test @ train.T
    return np.asarray(np.sort(apart, axis=1)[:, int(rng.integers(2, 9))])


def unexplained(train: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the norm of the part of each row outside the main directions."""
    main = np.linalg.svd(train - train.mean(axis=0), full_matrices=False)[2][: int(rng.integers(2, 7))]
    centred = test - train.mean(axis=0)
    return np.asarray(((centred - centred @ main.T @ main) ** 2).sum(axis=1))


def isolation(train: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    from sklearn.ensemble import IsolationForest

    count, seed = (int(rng.integers(*bounds)) for bounds in ((60, 160), (0, 2**31)))
    return np.asarray(-IsolationForest(n_estimators=count, random_state=seed).fit(train).score_samples(test))


def density(train: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the density of points around a row's neighbours relative to that around the row."""
    from sklearn.neighbors import LocalOutlierFactor

    return np.asarray(-LocalOutlierFactor(int(rng.integers(8, 30)), novelty=True).fit(train).score_samples(test))


def surprise_of(columns_kept: float) -> OddnessScore:
    """Return a score: the errors of a forest that predicts each number from the others, in units of its usual error."""

    def score(train: np.ndarray, test: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        total = np.zeros(len(test))
        for column in np.flatnonzero(rng.random(train.shape[1]) < columns_kept):
            model = forest("ExtraTreesRegressor", trees=(20, 36), leaf=(2, 5))(rng)
            model.set_params(bootstrap=True, oob_score=True).fit(np.delete(train, column, axis=1), train[:, column])
            usual = np.mean((train[:, column] - model.oob_prediction_) ** 2)
            total += (test[:, column] - model.predict(np.delete(test, column, axis=1))) ** 2 / usual
        return total

    return score


def blended(*parts: Predict) -> Predict:
    return lambda data, rng: rank_average(*(part(data, rng) for part in parts))


def as_it_comes(module: str, kind: str, **settings: Any) -> Predict:
    """Return a scikit-learn detector with its defaults."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        from importlib import import_module

        train, test = read(data, _numbers)
        return np.asarray(-getattr(import_module(f"sklearn.{module}"), kind)(**settings).fit(train).score_samples(test))

    return predict


def _ways() -> list[tuple[str, Skill, Predict, int]]:
    """Return the field.

    Local density, with which scikit-learn's default does well where modes hardly differ, is not enough for a medal: 28
    of 69 score the surprise in all columns, at least as many as there are medals.
    """
    best = by_mode(surprise_of(1.0))
    return [
        ("extremes", "naive", together(extremes), 5),
        ("isolation forest", "naive", together(isolation), 3),
        ("distance", "plain", together(distance), 5),
        ("neighbours", "plain", together(neighbours), 5),
        ("main directions", "plain", together(unexplained), 5),
        ("isolation forest by mode", "plain", by_mode(isolation), 3),
        ("distance by mode", "good", by_mode(distance), 3),
        ("neighbours by mode", "good", by_mode(neighbours), 3),
        ("main directions by mode", "good", by_mode(unexplained), 4),
        ("local density by mode", "good", by_mode(density), 3),
        ("surprise in some columns by mode", "expert", by_mode(surprise_of(0.8)), 2),
        ("surprise by mode", "expert", best, 14),
        ("blend", "expert", blended(best, by_mode(density)), 14),
    ]


def _entrants() -> Entrants:
    field = tuple(Pipeline(*way) for way in _ways())
    slow = ("forest", "density", "surprise", "blend")
    quick = tuple(way for way in field if not any(word in way.name for word in slow))
    return Entrants(
        field=field,
        defaults=(
            Pipeline("IsolationForest()", "plain", as_it_comes("ensemble", "IsolationForest", random_state=0), 0),
            Pipeline("OneClassSVM()", "plain", as_it_comes("svm", "OneClassSVM"), 0),
            Pipeline("LocalOutlierFactor()", "plain", as_it_comes("neighbors", "LocalOutlierFactor", novelty=True), 0),
        ),
        tiny=quick,
        probes=Probes(
            careless=Pipeline("neighbours", "plain", together(neighbours), 0),
            careful=Pipeline("local density by mode", "good", by_mode(density), 0),
        ),
    )


family = world_family(
    "anomaly-detection",
    "Which rows do not fit?",
    "anomaly detection",
    metric=roc_auc,
    submission=Columns(id="id", target="target", values=float),
    draw_once=draw_once,
    entrants=_entrants(),
)
