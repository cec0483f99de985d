"""Sound events: which callers are heard in a clip? Calls that differ by shape, look-alikes, recorders of all sorts.

All calls share the same range of pitch, so an average spectrum hardly tells them apart: a pitch that climbs or
dives or wavers, two tones at one fixed interval, ticks in an even rhythm whose pace follows the temperature. Steady
and pulsing tones, other intervals and uneven ticks are heard as well and mean nothing. Each recorder has a gain, a
resonance and a hum. A share of the annotations is wrong.
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
    forest,
    rank_average,
    scaled,
    subsample,
    target_encoding,
)
from podium.catalog.forge.families.audio_data import CALLERS, RATE, RECORDERS, SAMPLES, draw_scene, record
from podium.catalog.forge.families.audio_features import (
    Recordings,
    band_statistics,
    intervals,
    levelled_statistics,
    mean_spectrum,
    motion,
    raw_samples,
    read_recordings,
    rhythm,
    ridge_track,
)
from podium.catalog.forge.family import Family, ForgedData, Pipeline, Predict, PublicData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.retelling import OwnColumn, OwnFile, Retelling
from podium.metrics import roc_auc
from podium.task import Columns, Number

TRAIN_CLIPS = {"easy": 800, "medium": 700, "hard": 600}
MISHEARD = {"easy": 0.03, "medium": 0.05, "hard": 0.08}
LOUDNESS = {"easy": 1.35, "medium": 1.25, "hard": 1.3}
LOOKALIKES = {"easy": 0.15, "medium": 0.20, "hard": 0.25}
TEST_CLIPS = 1000

SUBMISSION = Columns(id="clip", target=CALLERS, values=Number(0, 1))

FIGURES = {"recorders": RECORDERS, "samples": SAMPLES, "rate": RATE}

RETELLING = Retelling(
    asked="the probability that each of five sounds is heard",
    rows="{extracts}",
    opening=(
        ("{organisation} has hung {recorders} {devices} around {place}.",),
        (
            "Half-second {extracts} from {place} were annotated by ear for five sounds of unknown origin. "
            "Predict for each of the {test:,} {extracts} of {place} in `test.csv` the probability that each is heard.",
        ),
    ),
    nouns={
        "device": ("recorder|recorders", "microphone|microphones", "logger|loggers", "pickup|pickups"),
        "extract": ("clip|clips", "snippet|snippets", "take|takes", "cutting|cuttings", "extract|extracts"),
        "sound": ("call", "whistle", "hum", "cry", "tone", "squeal", "voice", "chirp"),
    },
    columns=(
        OwnColumn("clip", "{place} {extract}", "identifier and name of the sound file", "key"),
        OwnColumn("recorder", "{device}", "the {device} that made it", "key"),
        OwnColumn("temperature", "air|warmth|night air|temperature", "air temperature", "number", {"°C": 1}),
        OwnColumn("climber", "rising/climbing/soaring {sound}", "1 for a pitch that climbs", file="train"),
        OwnColumn("diver", "falling/sinking/dropping {sound}", "1 for a pitch that falls", file="train"),
        OwnColumn("warbler", "wavering/quavering/shaky {sound}", "1 for a tone that wavers in pitch", file="train"),
        OwnColumn("piper", "double/twin/paired {sound}", "1 for two tones at one fixed interval", file="train"),
        OwnColumn("ticker", "ticking/tapping/clicking {sound}", "1 for even ticks, faster when warm", file="train"),
    ),
    files=(
        OwnFile(
            "train/", "{place} train {extracts}", "`<{clip}>.wav`, mono, 16 bit, {samples} samples at {rate} a second"
        ),
        OwnFile("test/", "{place} test {extracts}", "the same for `test.csv`"),
    ),
    notes=(
        "Several sounds or none may be heard.",
        "The {devices} of {place} differ in make, age and hum (see `{recorder}`).",
        "Wind, water and other creatures are heard in {place} too, and some of them sound much like the five.",
        "About {misheard:.0%} of all annotations in {place} are wrong, in train and test alike.",
    ),
    metric="The area under the ROC curve (ROC AUC).\nIt is averaged over the five columns.\nHigher is better.",
    form="A CSV with the columns `{id}`, `{climber}`, `{diver}`, `{warbler}`, `{piper}` and `{ticker}`.\n"
    "One row per row of `test.csv`.\nAll values lie between 0 and 1.",
    facts=lambda difficulty: {**FIGURES, "misheard": MISHEARD[difficulty]},
)


def draw(rng: np.random.Generator, difficulty: Difficulty) -> ForgedData:
    """Draws who calls where, then the sound, then the mistakes of the annotators."""
    cut = TRAIN_CLIPS[difficulty]
    clips = cut + TEST_CLIPS
    recorder = rng.integers(0, RECORDERS, clips)
    temperature = rng.normal(15, 5, clips).round(1)
    custom = rng.normal(-0.9, 0.2, len(CALLERS)) + rng.normal(0, 0.5, (RECORDERS, len(CALLERS)))
    heard = rng.random((clips, len(CALLERS))) < (1 / (1 + np.exp(-custom)))[recorder]
    scene = draw_scene(rng, heard, temperature, LOUDNESS[difficulty], LOOKALIKES[difficulty])
    sound = record(rng, scene, recorder)
    table = pd.DataFrame({"clip": [f"k{number:06x}" for number in rng.choice(16**6, clips, replace=False)]})
    table["recorder"] = [f"R{number}" for number in (rng.permutation(90) + 10)[recorder]]
    table["temperature"] = temperature
    annotated = pd.DataFrame(heard ^ (rng.random(heard.shape) < MISHEARD[difficulty]), columns=[*CALLERS]).astype(int)
    train = pd.concat([table, annotated], axis=1).iloc[:cut]
    test = table.iloc[cut:].reset_index(drop=True)
    answers = pd.concat([test[["clip"]], annotated.iloc[cut:].reset_index(drop=True)], axis=1)
    folders = ["train"] * cut + ["test"] * TEST_CLIPS
    paths = [f"{folder}/{clip}.wav" for folder, clip in zip(folders, table["clip"], strict=True)]
    return ForgedData(
        public=PublicData(train, test, payload=dict(zip(paths, sound, strict=True))),
        answers=answers,
        sample=answers.assign(**dict.fromkeys(CALLERS, 0.5)),
        ceiling=heard[cut:].astype(float),
    )


def all_features(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    return np.hstack([group(recordings, rng) for group in GROUPS])


def stacked_predictions(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    """Predictions of models trained on one group of columns each; for train clips, out of fold."""
    from sklearn.model_selection import KFold, cross_val_predict

    known, predictions = len(recordings.labels), []
    folds = KFold(int(rng.integers(4, 7)), shuffle=True, random_state=int(rng.integers(2**31)))
    for group in (*GROUPS, ridge_track):
        columns = group(recordings, rng)
        for model in (ridge(rng), kernel(rng)):
            inside = cross_val_predict(model, columns[:known], recordings.labels, cv=folds)
            outside = model.fit(columns[:known], recordings.labels).predict(columns[known:])
            predictions.append(np.vstack([inside, outside]))
    return np.hstack(predictions)


GROUPS = (levelled_statistics, motion, rhythm, intervals)
SoundFeatures = Callable[[Recordings, np.random.Generator], np.ndarray]


def classifier(model: Model, columns: SoundFeatures) -> Predict:
    """A pipeline that trains a model, fitted to all five columns of annotations at once, on columns."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        recordings = read_recordings(data)
        return _probabilities(model(rng), columns(recordings, rng), recordings)

    return predict


def _probabilities(model: Any, columns: np.ndarray, recordings: Recordings) -> np.ndarray:
    """The probability of each caller in each test clip."""
    known = len(recordings.labels)
    model.fit(columns[:known], recordings.labels)
    if hasattr(model, "predict_proba"):
        return np.column_stack([chance[:, 1] for chance in model.predict_proba(columns[known:])])
    return np.asarray(1 / (1 + np.exp(2 - 4 * model.predict(columns[known:]))))


def _per_caller(model: Any) -> Any:
    from sklearn.multioutput import MultiOutputClassifier

    return MultiOutputClassifier(model)


def default_classifier(model: Model) -> Predict:
    """A pipeline that trains one model per caller on mean spectra."""
    return classifier(lambda rng: _per_caller(model(rng)), mean_spectrum)


def logistic(strength: float) -> Model:
    """Logistic regression, regularised about as much as `strength` says."""

    def model(rng: np.random.Generator) -> Any:
        from sklearn.linear_model import LogisticRegression

        return scaled(_per_caller(LogisticRegression(C=strength * 10 ** rng.uniform(-0.5, 0.5), max_iter=300)))

    return model


def ridge(rng: np.random.Generator) -> Any:
    from sklearn.linear_model import Ridge

    return scaled(Ridge(10 ** rng.uniform(1.7, 2.5)))


def kernel(rng: np.random.Generator) -> Any:
    """Ridge regression on columns and their products."""
    from sklearn.kernel_ridge import KernelRidge

    return scaled(KernelRidge(10 ** rng.uniform(-0.2, 0.6), kernel="poly", degree=2))


def nearest(rng: np.random.Generator) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return scaled(_per_caller(KNeighborsClassifier(int(rng.integers(5, 60)))))


def boosted(rng: np.random.Generator) -> Any:
    """Boosting on the columns that tell most about each caller."""
    from sklearn.feature_selection import SelectKBest
    from sklearn.pipeline import make_pipeline

    model = boosting(rng, classify=True, max_iter=int(rng.integers(50, 90)), max_leaf_nodes=6, max_features=0.3)
    return _per_caller(make_pipeline(SelectKBest(k=int(rng.choice([40, 60, 80]))), model))


def rates_per_recorder(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Return the rate of each caller on the recorder, learnt from part of the clips."""
    part = data.train.iloc[subsample(len(data.train), rng.uniform(0.3, 1), rng)]
    rates = [
        target_encoding(part["recorder"], part[caller].to_numpy(), data.test["recorder"], smoothing=5, rng=rng)[1]
        for caller in CALLERS
    ]
    return np.column_stack(rates)


def blend(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Two models on stacked predictions and one on all features, averaged by rank."""
    recordings = read_recordings(data)
    stacked = stacked_predictions(recordings, rng)
    predictions = [_probabilities(model(rng), stacked, recordings) for model in (logistic(0.1), EXTRA_TREES)]
    predictions.append(_probabilities(kernel(rng), all_features(recordings, rng), recordings))
    return rank_average(*predictions)


FOREST, EXTRA_TREES = (forest(kind, trees=(60, 140)) for kind in ("RandomForestClassifier", "ExtraTreesClassifier"))

family = Family(
    name="audio",
    title="What is to be heard?",
    kind="sound event detection",
    metric=roc_auc,
    submission=SUBMISSION,
    draw=RETELLING.drawn(draw),
    form=RETELLING.form_of(SUBMISSION),
    pipelines=(
        Pipeline("custom of the recorder", "naive", rates_per_recorder, 3),
        Pipeline("random forest on samples", "naive", classifier(FOREST, raw_samples), 4),
        Pipeline("nearest neighbours by spectrum", "naive", classifier(nearest, mean_spectrum), 4),
        Pipeline("linear on mean spectrum", "plain", classifier(logistic(0.01), mean_spectrum), 5),
        Pipeline("random forest on mean spectrum", "plain", classifier(FOREST, mean_spectrum), 6),
        Pipeline("random forest on bands", "plain", classifier(FOREST, band_statistics), 5),
        Pipeline("linear on bands", "plain", classifier(logistic(0.01), band_statistics), 4),
        Pipeline("extra trees on levelled bands", "plain", classifier(EXTRA_TREES, levelled_statistics), 4),
        Pipeline("linear on ridge track", "good", classifier(ridge, ridge_track), 4),
        Pipeline("boosting on ridge track", "good", classifier(boosted, ridge_track), 3),
        Pipeline("extra trees on motion", "good", classifier(EXTRA_TREES, motion), 4),
        Pipeline("linear on motion", "good", classifier(ridge, motion), 4),
        Pipeline("linear on everything", "good", classifier(logistic(0.001), all_features), 3),
        Pipeline("boosting on everything", "expert", classifier(boosted, all_features), 3),
        Pipeline("kernel on everything", "expert", classifier(kernel, all_features), 3),
        Pipeline("extra trees on second hand", "expert", classifier(EXTRA_TREES, stacked_predictions), 3),
        Pipeline("linear on second hand", "expert", classifier(logistic(0.1), stacked_predictions), 3),
        Pipeline("blend", "expert", blend, 3),
    ),
    defaults=default_pipelines(DEFAULT_CLASSIFIERS, default_classifier, title="{}() on mean spectrum"),
)
