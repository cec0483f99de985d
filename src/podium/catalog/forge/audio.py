"""Sound events: which callers are heard in a clip? Calls that differ by shape, look-alikes, recorders of all sorts.

All calls share the same range of pitch, so an average spectrum hardly tells them apart: a pitch that climbs or
dives or wavers, two tones at one fixed interval, ticks in an even rhythm whose pace follows the temperature. Steady
and pulsing tones, other intervals and uneven ticks are heard as well and mean nothing. Each recorder has a gain, a
resonance and a hum. A share of the annotations is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from podium.catalog.forge.family import Difficulty, Family, Material, Pipeline, PublicData
from podium.catalog.forge.toolbox import boosting, rank_average, subsample, target_encoding
from podium.metrics import roc_auc
from podium.task import Columns, Number

TRAIN_CLIPS = {"easy": 800, "medium": 700, "hard": 600}
MISHEARD = {"easy": 0.03, "medium": 0.05, "hard": 0.08}
LOUDNESS = {"easy": 1.35, "medium": 1.25, "hard": 1.3}
LOOKALIKES = {"easy": 0.15, "medium": 0.20, "hard": 0.25}
TEST_CLIPS = 1000
RATE = 8000
SAMPLES = 4000
CALL_SAMPLES = 2600
RECORDERS = 9
CALLERS = ("climber", "diver", "warbler", "piper", "ticker")

BRIEF = """# Voices of the reed bed

A reserve has hung {recorders} recorders in a reed bed. Half-second clips were annotated by ear for five animals that
nobody has seen yet, known by the manner of their calls. Predict for every test clip the probability that each of
them is heard; a clip can hold several or none.

## Files
- `train.csv`: clips with annotations
- `test.csv`: clips to score
- `train/*.wav`, `test/*.wav`: the clips, mono, 16 bit, {samples} samples at {rate} a second
- `sample_submission.csv`: the required form

## Columns
| column | meaning |
|---|---|
| clip | identifier, and the name of the sound file without `.wav` |
| recorder | which recorder made it; they differ in make, age and hum |
| temperature | air temperature in °C |
| climber | 1 if a call with a climbing pitch is heard (train only, as the following) |
| diver | 1 for a call with a falling pitch |
| warbler | 1 for a tone that wavers in pitch |
| piper | 1 for two tones at once, always the same interval apart |
| ticker | 1 for a run of even ticks, faster on warm nights |

Wind, water and other creatures are in the clips too; some of those sound much like the five. About {misheard:.0%} of
all annotations are wrong, in train and test alike.

## Metric
Area under the ROC curve, averaged over the five columns; higher is better.

## Submission
A CSV with the columns `clip`, {callers}, one row per row of `test.csv`, all values between 0 and 1.
"""


def draw(rng: np.random.Generator, difficulty: Difficulty) -> Material:
    """Draws who calls where, then the sound, then the mistakes of the annotators."""
    cut = TRAIN_CLIPS[difficulty]
    clips = cut + TEST_CLIPS
    recorder = rng.integers(0, RECORDERS, clips)
    temperature = rng.normal(15, 5, clips).round(1)
    custom = rng.normal(-0.9, 0.2, len(CALLERS)) + rng.normal(0, 0.5, (RECORDERS, len(CALLERS)))
    heard = rng.random((clips, len(CALLERS))) < (1 / (1 + np.exp(-custom)))[recorder]
    scene = _scene(rng, heard, temperature, LOUDNESS[difficulty], LOOKALIKES[difficulty])
    sound = _recorded(rng, scene, recorder)
    table = pd.DataFrame({"clip": [f"k{number:06x}" for number in rng.choice(16**6, clips, replace=False)]})
    table["recorder"] = [f"R{number}" for number in (rng.permutation(90) + 10)[recorder]]
    table["temperature"] = temperature
    annotated = pd.DataFrame(heard ^ (rng.random(heard.shape) < MISHEARD[difficulty]), columns=[*CALLERS]).astype(int)
    train = pd.concat([table, annotated], axis=1).iloc[:cut]
    test = table.iloc[cut:].reset_index(drop=True)
    answers = pd.concat([test[["clip"]], annotated.iloc[cut:].reset_index(drop=True)], axis=1)
    folders = ["train"] * cut + ["test"] * TEST_CLIPS
    paths = [f"{folder}/{clip}.wav" for folder, clip in zip(folders, table["clip"], strict=True)]
    return Material(
        brief=_brief(difficulty),
        public=PublicData(train, test, payload=dict(zip(paths, sound, strict=True))),
        answers=answers,
        sample=answers.assign(**dict.fromkeys(CALLERS, 0.5)),
        ceiling=heard[cut:].astype(float),
    )


def _brief(difficulty: Difficulty) -> str:
    return BRIEF.format(
        recorders=RECORDERS,
        rate=RATE,
        samples=SAMPLES,
        misheard=MISHEARD[difficulty],
        callers=", ".join(f"`{caller}`" for caller in CALLERS),
    )


def _scene(
    rng: np.random.Generator, heard: np.ndarray, temperature: np.ndarray, loudness: float, lookalikes: float
) -> np.ndarray:
    """The calls that are heard and look-alikes that mean nothing, as they reach the recorder."""
    extra = rng.random((len(heard), 4)) < lookalikes
    scene = np.zeros((len(heard), SAMPLES))
    for call, present in zip(_calls(rng, temperature), np.hstack([heard, extra]).T, strict=True):
        rows = np.flatnonzero(present)
        start = rng.integers(0, SAMPLES - CALL_SAMPLES, (len(rows), 1))
        volume = loudness * rng.lognormal(0, 0.3, (len(rows), 1))
        scene[rows[:, None], start + np.arange(CALL_SAMPLES)] += volume * call(rows)
    return scene


def _calls(rng: np.random.Generator, temperature: np.ndarray) -> list[Callable[[np.ndarray], np.ndarray]]:
    """What the callers sound like in given clips, in their order, and after them the look-alikes."""
    steep, pace, depth = rng.uniform(0.25, 0.4), rng.uniform(13, 19), rng.uniform(0.05, 0.08)
    intervals = rng.permuted([1.25, 1.335, 1.42, 1.5, 1.6])
    gap = rng.uniform(0.030, 0.036) - rng.uniform(0.0004, 0.0008) * (temperature - 15)
    return [
        lambda rows: _glide(rng, len(rows), steep),
        lambda rows: _glide(rng, len(rows), -steep),
        lambda rows: _waver(rng, len(rows), pace, depth),
        lambda rows: _chord(rng, np.repeat(intervals[0], len(rows))),
        lambda rows: _ticks(rng, gap[rows], 0.04),
        lambda rows: _waver(rng, len(rows), pace, 0.0),
        lambda rows: _pulse(rng, len(rows), pace),
        lambda rows: _chord(rng, rng.choice(intervals[1:], len(rows))),
        lambda rows: _ticks(rng, gap[rows], 0.8),
    ]


def _pitch(rng: np.random.Generator, low: float, high: float, count: int) -> np.ndarray:
    return np.exp(rng.uniform(np.log(low), np.log(high), (count, 1)))


def _swell(rng: np.random.Generator, count: int, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """How far each call has come, from 0 to 1 and on, and its volume, which is nothing after 1."""
    place = np.arange(CALL_SAMPLES) / RATE / rng.uniform(0.5 * longest, longest, (count, 1))
    return place, np.clip(np.minimum(place, 1 - place) * 8, 0, 1)


def _sing(rng: np.random.Generator, pitch: np.ndarray, volume: np.ndarray) -> np.ndarray:
    turns = np.cumsum(np.broadcast_to(pitch / RATE, volume.shape), axis=1)
    turns += rng.random((len(pitch), 1))
    turns *= 2 * np.pi
    return np.sin(turns, out=turns) * volume


def _beat(rng: np.random.Generator, count: int, pace: float) -> np.ndarray:
    turns = pace * rng.uniform(0.85, 1.15, (count, 1)) * np.arange(CALL_SAMPLES) / RATE
    return np.sin(2 * np.pi * (turns + rng.random((count, 1))))


def _glide(rng: np.random.Generator, count: int, steep: float) -> np.ndarray:
    place, volume = _swell(rng, count, 0.22)
    way = steep * rng.uniform(0.7, 1.3, (count, 1)) * (np.minimum(place, 1) - 0.5)
    return _sing(rng, _pitch(rng, 600, 2400, count) * np.exp(way), volume)


def _waver(rng: np.random.Generator, count: int, pace: float, depth: float) -> np.ndarray:
    _, volume = _swell(rng, count, 0.32)
    return _sing(rng, _pitch(rng, 600, 2400, count) * (1 + depth * _beat(rng, count, pace)), volume)


def _pulse(rng: np.random.Generator, count: int, pace: float) -> np.ndarray:
    _, volume = _swell(rng, count, 0.32)
    return _sing(rng, _pitch(rng, 600, 2400, count), volume * (0.5 + 0.5 * _beat(rng, count, pace)))


def _chord(rng: np.random.Generator, interval: np.ndarray) -> np.ndarray:
    _, volume = _swell(rng, len(interval), 0.3)
    low = _pitch(rng, 500, 1600, len(interval))
    return 0.7 * (_sing(rng, low, volume) + _sing(rng, low * interval[:, None], volume))


def _ticks(rng: np.random.Generator, gap: np.ndarray, uneven: float) -> np.ndarray:
    """Seven short rings; unevenness leaves their number and span alone."""
    gaps = rng.uniform(1 - uneven, 1 + uneven, (len(gap), 6))
    gaps *= gap[:, None] / gaps.mean(axis=1, keepdims=True)
    start = (np.pad(np.cumsum(gaps, axis=1), ((0, 0), (1, 0))) * RATE).astype(int)
    time = np.arange(72) / RATE
    ring = np.exp(-time / 0.002) * np.sin(2 * np.pi * _pitch(rng, 1800, 3400, len(gap)) * time)
    sound = np.zeros((len(gap), CALL_SAMPLES))
    where = np.minimum(start[:, :, None] + np.arange(72), CALL_SAMPLES - 1)
    np.add.at(sound, (np.arange(len(gap))[:, None, None], where), ring[:, None] * rng.uniform(3, 4, (len(gap), 7, 1)))
    return sound


def _recorded(rng: np.random.Generator, scene: np.ndarray, recorder: np.ndarray) -> np.ndarray:
    """Background noise of varied colour, the recorder's tilt and resonance, its hum, its gain; as 16 bit."""
    frequency = np.maximum(np.fft.rfftfreq(SAMPLES, 1 / RATE), 60)
    colour = np.exp(np.outer(-rng.uniform(0.2, 0.7, len(scene)), np.log(frequency / 800))) * np.sqrt(SAMPLES / 2)
    noise = rng.normal(size=(len(scene), len(frequency), 2)).view(complex)[:, :, 0]
    tilt = (frequency / 1000) ** rng.normal(0, 0.4, (RECORDERS, 1))
    offset = np.log(frequency / _pitch(rng, 500, 3000, RECORDERS)) / rng.uniform(0.15, 0.4, (RECORDERS, 1))
    response = tilt * (1 + rng.uniform(0.5, 2.5, (RECORDERS, 1)) * np.exp(-(offset**2)))
    spectrum = np.fft.rfft(scene)
    spectrum += np.multiply(noise, colour, out=noise)
    spectrum *= response[recorder]
    sound = np.fft.irfft(spectrum, SAMPLES)
    sound += _hum(rng, rng.uniform(0, 1.2, RECORDERS)[recorder])
    gain = rng.lognormal(5.5, 0.5, RECORDERS)[recorder] * rng.lognormal(0, 0.2, len(scene))
    sound *= gain[:, None]
    return np.clip(np.round(sound, out=sound), -(2**15), 2**15 - 1, out=sound).astype(np.int16)


def _hum(rng: np.random.Generator, strength: np.ndarray) -> np.ndarray:
    """Mains hum with overtones; every clip meets it at another moment."""
    overtones = np.array([1, 2, 3, 5])
    swing = strength[:, None] / overtones * np.exp(2j * np.pi * rng.random((len(strength), len(overtones))))
    wave = np.exp(2j * np.pi * 50 / RATE * np.outer(overtones, np.arange(SAMPLES)))
    return swing.real @ wave.real + swing.imag @ wave.imag


@dataclass(frozen=True)
class Recordings:
    """The public data as arrays over all clips, those of train first."""

    labels: np.ndarray
    """The annotations of the train clips, a column per caller."""
    sound: np.ndarray
    recorder: np.ndarray
    temperature: np.ndarray

    @cached_property
    def spectrogram(self) -> np.ndarray:
        """Power by clip, moment (8 ms) and frequency (31 Hz)."""
        from scipy.fft import rfft

        frames = np.lib.stride_tricks.sliding_window_view(self.sound, 256, axis=1)[:, ::64]
        return np.abs(rfft(frames * np.hanning(256).astype(np.float32), axis=2)) ** 2


def read_recordings(data: PublicData) -> Recordings:
    """Both tables and their sound files as one."""
    paths = [f"train/{clip}.wav" for clip in data.train["clip"]] + [f"test/{clip}.wav" for clip in data.test["clip"]]
    both = pd.concat([data.train, data.test])
    return Recordings(
        labels=data.train[list(CALLERS)].to_numpy(),
        sound=np.stack([data.payload[path] for path in paths]).astype(np.float32),
        recorder=both["recorder"].astype("category").cat.codes.to_numpy(),
        temperature=both["temperature"].to_numpy(),
    )


def _bands(spectrogram: np.ndarray, count: int, low: float = 400, high: float = 3600) -> np.ndarray:
    """Logarithm of the power in overlapping bands at even musical distance."""
    centres, frequency = np.linspace(np.log(low), np.log(high), count), np.arange(1, 129) * RATE / 256
    distance = np.abs(np.log(frequency)[:, None] - centres) / (centres[1] - centres[0])
    return np.log(spectrogram[:, :, 1:] @ np.clip(1.2 - distance, 0, None).astype(np.float32) + 1)


def _standing_out(values: np.ndarray, threshold: float = 0.0) -> np.ndarray:
    """How far values rise above the clip's usual level in their band."""
    return np.clip(values - np.median(values, axis=1, keepdims=True) - threshold, 0, 4)


def _self_similarity(signal: np.ndarray, lags: int) -> np.ndarray:
    """The autocorrelation of every row."""
    size = 2 * signal.shape[1]
    power = np.abs(np.fft.rfft(signal - signal.mean(axis=1, keepdims=True), size)) ** 2
    similarity = np.fft.irfft(power, size)[:, :lags]
    return similarity[:, 1:] / (similarity[:, :1] + 1e-9)


def raw_samples(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    return recordings.sound[:, :: int(rng.choice([16, 20, 32]))]


def mean_spectrum(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    return recordings.spectrogram.mean(axis=1)


def band_statistics(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    """Mean, spread and peak of each band over time."""
    bands = _bands(recordings.spectrogram, int(rng.integers(20, 36)), 150, 3900)
    return np.hstack([bands.mean(axis=1), bands.std(axis=1), bands.max(axis=1)])


def levelled_statistics(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    """Statistics of bands relative to the recorder's usual sound, and of what stands out in the clip."""
    bands = _bands(recordings.spectrogram, int(rng.integers(20, 36)), 150, 3900)
    levelled = np.empty_like(bands)
    for number in np.unique(recordings.recorder):
        rows = recordings.recorder == number
        levelled[rows] = bands[rows] - np.median(bands[rows], axis=(0, 1))
    peaks = np.sort(_standing_out(bands), axis=1)[:, [-2, -8, -16]]
    return np.hstack([levelled.mean(axis=1), levelled.std(axis=1), *np.moveaxis(peaks, 1, 0)])


def ridge_track(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    """How the loudest band moves from moment to moment, weighted by how much it stands out."""
    bands = _standing_out(_bands(recordings.spectrogram, int(rng.integers(40, 64))), 0.5)
    track, weight = bands.argmax(axis=2), bands.max(axis=2)
    columns = [weight.mean(axis=1), weight.std(axis=1)]
    for gap in (1, 2, 4, 7):
        step = track[:, gap:] - track[:, :-gap]
        both = np.minimum(weight[:, gap:], weight[:, :-gap])
        columns += [(both * (step == move)).mean(axis=1) for move in range(-5, 6)]
    return np.column_stack(columns)


def motion(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    """How sound that stands out resembles itself some moments later and some bands higher or lower."""
    bands = _standing_out(_bands(recordings.spectrogram, 48), float(rng.uniform(0.6, 1.0)))
    columns = []
    for later in (0, 1, 2, 3, 5, 7, 9):
        for higher in range(1 if later == 0 else -7, 8):
            before = bands[:, : bands.shape[1] - later, max(0, -higher) : 48 - max(0, higher)]
            after = bands[:, later:, max(0, higher) : 48 + min(0, higher)]
            columns.append(np.einsum("ctf,ctf->c", before, after))
    similarity = np.column_stack(columns)
    return np.hstack([np.log1p(similarity), similarity / ((bands**2).sum(axis=(1, 2)) + 1)[:, None]])


def rhythm(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    """The autocorrelation of the volume of the highest pitches, in steps of 2.5 ms, and the temperature."""
    edges = np.abs(np.diff(recordings.sound, 2, axis=1))[:, : SAMPLES - 20]
    volume = np.log(edges.reshape(len(edges), -1, 20).mean(axis=2) + 1)
    ticks = _standing_out(volume[:, :, None], float(rng.uniform(0.0, 0.3)))[:, :, 0]
    similarity = _self_similarity(ticks, 40)
    return np.column_stack([similarity, ticks.mean(axis=1), ticks.std(axis=1), recordings.temperature])


def intervals(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    """The autocorrelation of the peaks of the whole clip's spectrum along musical pitch."""
    from scipy.fft import rfft
    from scipy.ndimage import uniform_filter1d

    power = np.log(np.abs(rfft(recordings.sound * np.hanning(SAMPLES).astype(np.float32), axis=1)) ** 2 + 1)
    peaks = np.clip(power - uniform_filter1d(power, 201, axis=1) - 1, 0, 4)
    pitch = np.searchsorted(np.fft.rfftfreq(SAMPLES, 1 / RATE), np.geomspace(450, 3000, 480))
    blurred = uniform_filter1d(peaks, int(rng.choice([3, 5, 7])), axis=1)[:, pitch]
    return _self_similarity(blurred, 150)[:, 30:]


def everything(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    return np.hstack([group(recordings, rng) for group in GROUPS])


def second_hand(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    """What models that know one group of columns each would say; on train clips, without having seen them."""
    from sklearn.model_selection import KFold, cross_val_predict

    known, said = len(recordings.labels), []
    folds = KFold(int(rng.integers(4, 7)), shuffle=True, random_state=int(rng.integers(2**31)))
    for group in (*GROUPS, ridge_track):
        columns = group(recordings, rng)
        for model in (ridge(rng), kernel(rng)):
            inside = cross_val_predict(model, columns[:known], recordings.labels, cv=folds)
            outside = model.fit(columns[:known], recordings.labels).predict(columns[known:])
            said.append(np.vstack([inside, outside]))
    return np.hstack(said)


GROUPS = (levelled_statistics, motion, rhythm, intervals)
Hearing = Callable[[Recordings, np.random.Generator], np.ndarray]
Model = Callable[[np.random.Generator], Any]
"""Makes a model that is fitted to all five columns of annotations at once."""


def hears(model: Model, columns: Hearing) -> Callable[[PublicData, np.random.Generator], np.ndarray]:
    """A pipeline that trains a model on columns."""

    def predict(data: PublicData, rng: np.random.Generator) -> np.ndarray:
        recordings = read_recordings(data)
        return _chances(model(rng), columns(recordings, rng), recordings)

    return predict


def _chances(model: Any, columns: np.ndarray, recordings: Recordings) -> np.ndarray:
    """What the model gives each caller in each test clip, between 0 and 1."""
    known = len(recordings.labels)
    model.fit(columns[:known], recordings.labels)
    if hasattr(model, "predict_proba"):
        return np.column_stack([chance[:, 1] for chance in model.predict_proba(columns[known:])])
    return 1 / (1 + np.exp(2 - 4 * model.predict(columns[known:])))


def _scaled(model: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


def _per_caller(model: Any) -> Any:
    from sklearn.multioutput import MultiOutputClassifier

    return MultiOutputClassifier(model)


def default(module: str, name: str) -> Model:
    """A classifier of scikit-learn as it comes."""
    return lambda rng: _per_caller(getattr(import_module(f"sklearn.{module}"), name)(random_state=0))


def logistic(strength: float) -> Model:
    """Logistic regression, regularised about as much as `strength` says."""

    def model(rng: np.random.Generator) -> Any:
        from sklearn.linear_model import LogisticRegression

        return _scaled(_per_caller(LogisticRegression(C=strength * 10 ** rng.uniform(-0.5, 0.5), max_iter=300)))

    return model


def ridge(rng: np.random.Generator) -> Any:
    from sklearn.linear_model import Ridge

    return _scaled(Ridge(10 ** rng.uniform(1.7, 2.5)))


def kernel(rng: np.random.Generator) -> Any:
    """Ridge regression on columns and their products."""
    from sklearn.kernel_ridge import KernelRidge

    return _scaled(KernelRidge(10 ** rng.uniform(-0.2, 0.6), kernel="poly", degree=2))


def nearest(rng: np.random.Generator) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return _scaled(_per_caller(KNeighborsClassifier(int(rng.integers(5, 60)))))


def trees(kind: str) -> Model:
    """A forest of one of scikit-learn's kinds."""

    def model(rng: np.random.Generator) -> Any:
        count, leaf, seed = (int(rng.integers(*span)) for span in ((60, 140), (1, 6), (0, 2**31)))
        maker = getattr(import_module("sklearn.ensemble"), kind)
        return maker(count, min_samples_leaf=leaf, random_state=seed)

    return model


def boosted(rng: np.random.Generator) -> Any:
    """Boosting on the columns that tell most about each caller."""
    from sklearn.feature_selection import SelectKBest
    from sklearn.pipeline import make_pipeline

    model = boosting(rng, classify=True, max_iter=int(rng.integers(50, 90)), max_leaf_nodes=6, max_features=0.3)
    return _per_caller(make_pipeline(SelectKBest(k=int(rng.choice([40, 60, 80]))), model))


def custom_of_the_recorder(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """How often each caller is heard by the recorder, in part of the clips."""
    part = data.train.iloc[subsample(len(data.train), rng.uniform(0.3, 1), rng)]
    rates = [
        target_encoding(part["recorder"], part[caller].to_numpy(), data.test["recorder"], smoothing=5, rng=rng)[1]
        for caller in CALLERS
    ]
    return np.column_stack(rates)


def blend(data: PublicData, rng: np.random.Generator) -> np.ndarray:
    """Two models on second-hand opinions and one on everything, averaged by rank."""
    recordings = read_recordings(data)
    said = second_hand(recordings, rng)
    opinions = [_chances(model(rng), said, recordings) for model in (logistic(0.1), EXTRA_TREES)]
    opinions.append(_chances(kernel(rng), everything(recordings, rng), recordings))
    return np.column_stack([rank_average(*columns) for columns in zip(*(o.T for o in opinions), strict=True)])


FOREST, EXTRA_TREES = trees("RandomForestClassifier"), trees("ExtraTreesClassifier")

family = Family(
    name="audio",
    title="Voices of the reed bed",
    kind="sound event detection",
    metric=roc_auc,
    submission=Columns(id="clip", target=CALLERS, values=Number(0, 1)),
    draw=draw,
    pipelines=(
        Pipeline("custom of the recorder", "naive", custom_of_the_recorder, 3),
        Pipeline("random forest on samples", "naive", hears(FOREST, raw_samples), 4),
        Pipeline("nearest neighbours by spectrum", "naive", hears(nearest, mean_spectrum), 4),
        Pipeline("linear on mean spectrum", "plain", hears(logistic(0.01), mean_spectrum), 5),
        Pipeline("random forest on mean spectrum", "plain", hears(FOREST, mean_spectrum), 6),
        Pipeline("random forest on bands", "plain", hears(FOREST, band_statistics), 5),
        Pipeline("linear on bands", "plain", hears(logistic(0.01), band_statistics), 4),
        Pipeline("extra trees on levelled bands", "plain", hears(EXTRA_TREES, levelled_statistics), 4),
        Pipeline("linear on ridge track", "good", hears(ridge, ridge_track), 4),
        Pipeline("boosting on ridge track", "good", hears(boosted, ridge_track), 3),
        Pipeline("extra trees on motion", "good", hears(EXTRA_TREES, motion), 4),
        Pipeline("linear on motion", "good", hears(ridge, motion), 4),
        Pipeline("linear on everything", "good", hears(logistic(0.001), everything), 3),
        Pipeline("boosting on everything", "expert", hears(boosted, everything), 3),
        Pipeline("kernel on everything", "expert", hears(kernel, everything), 3),
        Pipeline("extra trees on second hand", "expert", hears(EXTRA_TREES, second_hand), 3),
        Pipeline("linear on second hand", "expert", hears(logistic(0.1), second_hand), 3),
        Pipeline("blend", "expert", blend, 3),
    ),
    defaults=tuple(
        Pipeline(f"{name}() on mean spectrum", "plain", hears(default(module, name), mean_spectrum), 0)
        for module, name in (
            ("ensemble", "HistGradientBoostingClassifier"),
            ("ensemble", "RandomForestClassifier"),
            ("linear_model", "LogisticRegression"),
        )
    ),
)
