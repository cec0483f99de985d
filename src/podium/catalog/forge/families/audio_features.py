"""The clips as arrays, and what can be measured in them: bands, movement of pitch, rhythm, intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from podium.catalog.forge.families.audio_data import CALLERS, RATE, SAMPLES
from podium.catalog.forge.family import PublicData


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


def raw_samples(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    return recordings.sound[:, :: int(rng.choice([16, 20, 32]))]


def mean_spectrum(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(recordings.spectrogram.mean(axis=1))


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
    """Return the movement of the loudest band over time, weighted by its prominence."""
    bands = _standing_out(_bands(recordings.spectrogram, int(rng.integers(40, 64))), 0.5)
    track, weight = bands.argmax(axis=2), bands.max(axis=2)
    columns = [weight.mean(axis=1), weight.std(axis=1)]
    for gap in (1, 2, 4, 7):
        step = track[:, gap:] - track[:, :-gap]
        both = np.minimum(weight[:, gap:], weight[:, :-gap])
        columns += [(both * (step == move)).mean(axis=1) for move in range(-5, 6)]
    return np.column_stack(columns)


def motion(recordings: Recordings, rng: np.random.Generator) -> np.ndarray:
    """Return the similarity of prominent sound to itself some frames later and some bands higher or lower."""
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


def _bands(spectrogram: np.ndarray, count: int, low: float = 400, high: float = 3600) -> np.ndarray:
    """Logarithm of the power in overlapping bands at even musical distance."""
    centres, frequency = np.linspace(np.log(low), np.log(high), count), np.arange(1, 129) * RATE / 256
    distance = np.abs(np.log(frequency)[:, None] - centres) / (centres[1] - centres[0])
    return np.asarray(np.log(spectrogram[:, :, 1:] @ np.clip(1.2 - distance, 0, None).astype(np.float32) + 1))


def _standing_out(values: np.ndarray, threshold: float = 0.0) -> np.ndarray:
    """Return the amount by which values exceed the clip's usual level in their band."""
    return np.asarray(np.clip(values - np.median(values, axis=1, keepdims=True) - threshold, 0, 4))


def _self_similarity(signal: np.ndarray, lags: int) -> np.ndarray:
    """The autocorrelation of every row."""
    size = 2 * signal.shape[1]
    power = np.abs(np.fft.rfft(signal - signal.mean(axis=1, keepdims=True), size)) ** 2
    similarity = np.fft.irfft(power, size)[:, :lags]
    return similarity[:, 1:] / (similarity[:, :1] + 1e-9)
