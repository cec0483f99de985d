"""A reed bed at night: calls that differ by shape, their look-alikes, and the recorders that catch them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

RATE = 8000
SAMPLES = 4000
CALL_SAMPLES = 2600
RECORDERS = 9
CALLERS = ("climber", "diver", "warbler", "piper", "ticker")


def draw_scene(
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
    """Return the sounds of the callers in their order, followed by those of the look-alikes."""
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
    """Return the phase of each call, which starts at 0 and may exceed 1, and its volume, which is 0 after phase 1."""
    place = np.arange(CALL_SAMPLES) / RATE / rng.uniform(0.5 * longest, longest, (count, 1))
    return place, np.clip(np.minimum(place, 1 - place) * 8, 0, 1)


def _sing(rng: np.random.Generator, pitch: np.ndarray, volume: np.ndarray) -> np.ndarray:
    turns = np.cumsum(np.broadcast_to(pitch / RATE, volume.shape), axis=1)
    turns += rng.random((len(pitch), 1))
    turns *= 2 * np.pi
    return np.asarray(np.sin(turns, out=turns) * volume)


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
    return np.asarray(0.7 * (_sing(rng, low, volume) + _sing(rng, low * interval[:, None], volume)))


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


def record(rng: np.random.Generator, scene: np.ndarray, recorder: np.ndarray) -> np.ndarray:
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
    return np.asarray(swing.real @ wave.real + swing.imag @ wave.imag)
