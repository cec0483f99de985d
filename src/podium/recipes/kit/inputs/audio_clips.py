"""Audio: reading clips, and features of them."""

import io
import struct
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import dct
from scipy.io import wavfile
from scipy.ndimage import gaussian_filter1d

from podium.recipes.kit.inputs.image_features import (
    in_chunks,
    normalise_locally,
    orientation_histograms,
    patch_features,
    spectrum_features,
)
from podium.tables.packed_files import read_all, read_file
from podium.tables.script_settings import CORES, SEED, time_used


def read_samples(path: str) -> tuple[int, np.ndarray]:
    """The sample rate and the samples of a clip, with a column per channel if there are several."""
    content = read_file(path)
    return read_aiff(content) if content[:4] == b"FORM" else wavfile.read(io.BytesIO(content))


def read_aiff(content: bytes) -> tuple[int, np.ndarray]:
    """The sample rate and the samples of an AIFF file.

    Raises:
        ValueError: it is compressed, or its samples are of an unusual size.
    """
    chunks, offset = {}, 12
    while offset + 8 <= len(content):
        name, size = struct.unpack(">4sI", content[offset : offset + 8])
        chunks[name] = content[offset + 8 : offset + 8 + size]
        offset += 8 + size + size % 2
    channels, _, bits, exponent, mantissa = struct.unpack(">hIhHQ", chunks[b"COMM"][:18])
    if bits not in (8, 16, 32) or content[8:12] != b"AIFF":
        raise ValueError("unsupported AIFF format")
    rate = int(mantissa * 2.0 ** (exponent - 16383 - 63))
    samples = np.frombuffer(chunks[b"SSND"][8:], dtype=f">i{bits // 8}")
    samples = samples[: len(samples) // channels * channels].astype(f"i{bits // 8}")
    return rate, samples if channels == 1 else samples.reshape(-1, channels)


def read_clip(path: str, rate: int, length: int) -> np.ndarray:
    """A mono clip at a rate and length: its middle if it is longer; silence if it cannot be read."""
    try:
        own_rate, samples = read_samples(path)
    except (OSError, KeyError, ValueError, struct.error):
        return np.zeros(length, dtype=np.float32)
    samples = samples.astype(np.float32) / (np.iinfo(samples.dtype).max if samples.dtype.kind in "iu" else 1.0)
    samples = samples.mean(axis=1) if samples.ndim > 1 else samples
    if own_rate >= 2 * rate:
        step = own_rate // rate
        samples = samples[: len(samples) // step * step].reshape(-1, step).mean(axis=1)
    start = max(0, (len(samples) - length) // 2)
    samples = samples[start : start + length]
    return np.pad(samples, (0, length - len(samples)))


def clip_rate_and_length(paths: list[str], longest_s: float = 30.0) -> tuple[int, int]:
    """The sample rate and the length in samples at which to read clips, chosen from a sample of them."""
    rates, lengths = [], []
    for path in paths[:: max(1, len(paths) // 40)]:
        try:
            rate, samples = read_samples(path)
        except (OSError, KeyError, ValueError, struct.error):
            continue
        rates.append(rate)
        lengths.append(len(samples) / rate)
    rate = int(np.median(rates)) if rates else 8000
    while rate >= 32_000:
        rate //= 2
    # Very short clips are padded with silence.
    return rate, int(rate * min(longest_s, max(0.25, np.quantile(lengths, 0.9) if lengths else 1.0)))


def read_clips(paths: list[str], rate: int, length: int, until: float = 1.0) -> np.ndarray:
    """Read clips in order, as far as time allows."""
    return read_all(lambda path: read_clip(path, rate, length), paths, until)


def spectrograms(
    clips: np.ndarray, rate: int, *, bands: int = 40, frames: int = 64, window_s: float = 0.032
) -> np.ndarray:
    """Loudness in decibels by mel band (lowest first) and time."""
    size = int(2 ** np.round(np.log2(window_s * rate)))
    hop = max(1, (clips.shape[1] - size) // frames)
    weights = mel_filters(rate, size, bands)
    taper = np.hanning(size + 2)[1:-1].astype(np.float32)

    def measure(clip: np.ndarray) -> np.ndarray:
        pieces = sliding_window_view(clip, size)[::hop][: frames + 1]
        power = np.abs(np.fft.rfft(pieces * taper, axis=1)) ** 2
        return np.asarray(10 * np.log10(weights @ power.T + 1e-7), dtype=np.float32)

    with ThreadPoolExecutor(CORES) as pool:
        return np.stack(list(pool.map(measure, clips)))


def mel_filters(rate: int, size: int, bands: int) -> np.ndarray:
    """Overlapping triangular filters on the frequencies of a spectrum, spaced on the mel scale."""
    top = 2595 * np.log10(1 + rate / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, bands + 2) / 2595) - 1) * size / rate
    edges = np.maximum.accumulate(np.maximum(edges, np.arange(bands + 2) * 0.75))
    at = np.arange(size // 2 + 1)
    rise = (at - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - at) / (edges[2:] - edges[1:-1])[:, None]
    return np.asarray(np.clip(np.minimum(rise, fall), 0, None))


def subtract_noise_floor(spectra: np.ndarray) -> np.ndarray:
    """Spectrograms minus the median of each band in the same clip, which removes steady noise and hum."""
    return np.asarray(spectra - np.median(spectra, axis=2, keepdims=True))


def band_statistics(spectra: np.ndarray) -> np.ndarray:
    """Mean, standard deviation and quantiles of each band over time, and how much it changes."""
    change = np.abs(np.diff(spectra, axis=2))
    parts = [spectra.mean(axis=2), spectra.std(axis=2), *np.quantile(spectra, [0.1, 0.5, 0.9, 1.0], axis=2)]
    return np.hstack([*parts, change.mean(axis=2), change.max(axis=2)])


def cepstral_statistics(spectra: np.ndarray, count: int = 20) -> np.ndarray:
    """Mean and standard deviation of cepstral coefficients and of their differences."""
    cepstra = dct(spectra, axis=1, norm="ortho")[:, :count]
    change = cepstra[:, :, 2:] - cepstra[:, :, :-2]
    return np.hstack([cepstra.mean(axis=2), cepstra.std(axis=2), change.std(axis=2), np.abs(change).max(axis=2)])


def rhythm_features(spectra: np.ndarray, groups: int = 8) -> np.ndarray:
    """Return the periodicity of loudness in groups of bands: strength of every tempo, and of onsets."""
    rise = np.maximum(np.diff(spectra, axis=2), 0)
    parts = np.array_split(rise, groups, axis=1)
    onsets = np.stack([part.mean(axis=1) for part in parts] + [rise.mean(axis=1)], axis=1)
    centred = onsets - onsets.mean(axis=2, keepdims=True)
    paces = np.abs(np.fft.rfft(centred, axis=2)) / (centred.std(axis=2, keepdims=True) + 1e-3)
    return np.hstack(
        [part.reshape(len(spectra), -1) for part in (np.log1p(paces), onsets.max(axis=2), onsets.std(axis=2))]
    )


def spectral_peaks(spectra: np.ndarray) -> np.ndarray:
    """Return the loudness of each band above the bands around it, relative to the mean of the clip."""
    peaks = np.maximum(spectra - gaussian_filter1d(spectra, 3, axis=1), 0)
    return np.asarray(peaks / (peaks.mean(axis=(1, 2), keepdims=True) + 1e-6))


def glide_features(spectra: np.ndarray, reach: int = 3) -> np.ndarray:
    """Return the continuation of peaks in bands above and below, some frames later: rising and falling tones."""
    peaks = spectral_peaks(spectra)
    products = []
    for later in (1, 2, 4, 8):
        early, late = peaks[:, :, :-later], peaks[:, :, later:]
        for up in range(-reach, reach + 1):
            bands = peaks.shape[1]
            low, high = early[:, max(0, -up) : bands - max(0, up)], late[:, max(0, up) : bands - max(0, -up)]
            product = low * high
            products += [part.mean(axis=(1, 2)) for part in np.array_split(product, 4, axis=1)]
    return np.asarray(np.log1p(np.stack(products, axis=1)))


def chord_features(spectra: np.ndarray, reach: int = 16) -> np.ndarray:
    """Return the joint loudness of bands some distance apart: tones at fixed intervals."""
    peaks = spectral_peaks(spectra)
    pairs = [(peaks[:, :-apart] * peaks[:, apart:]).mean(axis=(1, 2)) for apart in range(1, reach + 1)]
    return np.asarray(np.log1p(np.stack(pairs, axis=1)))


def audio_features(clips: np.ndarray, rate: int, *, patches: list[int], count: int) -> np.ndarray:
    """All features of clips: bands, cepstra, rhythm, glides, chords, and patches of spectrograms.

    Args:
        patches: sizes of patches.
        count: the number of patches of each size.
    """
    short, long = spectrograms(clips, rate), spectrograms(clips, rate, bands=64, window_s=0.064)
    clear, fine = subtract_noise_floor(short), subtract_noise_floor(long)
    parts = [band_statistics(short), band_statistics(clear), cepstral_statistics(clear), rhythm_features(short)]
    parts += [glide_features(fine), chord_features(fine)]
    normalised = in_chunks(lambda some: normalise_locally(some, 6.0), fine)
    parts += [
        in_chunks(partial(orientation_histograms, cells=1, bins=16, blur=blur), normalised) for blur in (0.0, 1.0)
    ]
    parts += [in_chunks(spectrum_features, normalised)] if patches else []
    for number, size in enumerate(patches):
        if time_used() < 0.5:
            parts.append(patch_features(normalised, size=size, count=count, seed=SEED + number))
    return np.hstack(parts)
