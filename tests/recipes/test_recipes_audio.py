"""Recipes for audio."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recipe_scripts import profile_of, recipe_for, run_recipe
from scipy.io import wavfile
from sklearn.metrics import roc_auc_score

from podium.metrics import roc_auc
from podium.recipes.kit.inputs.audio_clips import glide_features, mel_filters, read_aiff, read_clip, spectrograms

RATE, LENGTH, TRAIN, TEST = 4000, 2000, 90, 40


def tone(rng: np.random.Generator, *, rising: bool, ticking: bool) -> np.ndarray:
    """A gliding tone in noise, maybe with clicks."""
    time = np.arange(LENGTH) / RATE
    start, change = rng.uniform(400, 900), rng.uniform(500, 900) * (1 if rising else -0.5)
    clip = 0.4 * np.sin(2 * np.pi * (start * time + change * time**2)) + 0.2 * rng.normal(size=LENGTH)
    if ticking:
        clip[:: LENGTH // 8] += 1.5
    return clip


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    public, rng = tmp_path_factory.mktemp("tones"), np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(0, 2, (TRAIN + TEST, 2)), columns=["rising", "ticking"])
    rows.insert(0, "clip", [f"c{number}" for number in range(len(rows))])
    for folder in ("train", "test"):
        (public / folder).mkdir()
    for number, row in rows.iterrows():
        clip = tone(rng, rising=bool(row["rising"]), ticking=bool(row["ticking"]))
        path = public / ("train" if int(str(number)) < TRAIN else "test") / f"{row['clip']}.wav"
        wavfile.write(path, RATE, (np.clip(clip / 3, -1, 1) * 32767).astype(np.int16))
    rows[:TRAIN].to_csv(public / "train.csv", index=False)
    rows[TRAIN:].assign(rising=0.5, ticking=0.5).to_csv(public / "sample_submission.csv", index=False)
    return public, rows[TRAIN:].reset_index(drop=True)


@pytest.mark.parametrize(
    ("name", "settings"),
    [("quick audio", {}), ("audio", {"patches": [8], "count": 30, "folds": 3})],
)
def test_each_label_is_learnt(
    tones: tuple[Path, pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    settings: dict[str, object],
) -> None:
    public, answers = tones
    profile = profile_of(public, roc_auc, ids=("clip",), targets=("rising", "ticking"))
    assert (profile.modality, profile.goal) == ("audio", "multilabel")
    outcome = run_recipe(recipe_for(profile, name), profile, public, tmp_path, monkeypatch, settings)
    for label in ("rising", "ticking"):
        assert roc_auc_score(answers[label], outcome.submission[label]) > 0.9
    assert outcome.metric > 0.9


def test_a_tone_is_loud_in_its_band() -> None:
    clip = np.sin(2 * np.pi * 1000 * np.arange(4000) / 8000)[None].astype(np.float32)
    spectra = spectrograms(clip, 8000, bands=20, frames=30)
    centres = mel_filters(8000, 256, 20).argmax(axis=1) * 8000 / 256
    assert abs(centres[spectra[0].mean(axis=1).argmax()] - 1000) < 150


def test_rising_and_falling_tones_have_different_features() -> None:
    bands = np.zeros((2, 40, 40), dtype=np.float32)
    bands[0, np.arange(40), np.arange(40)] = 20
    bands[1, np.arange(40)[::-1], np.arange(40)] = 20
    rising, falling = glide_features(bands)
    assert np.abs(rising - falling).max() > 1


def test_aiff_is_read_as_well() -> None:
    samples = np.arange(-50, 50, dtype=">i2")
    rate = struct.pack(">HQ", 16383 + 12, 8000 << 51)  # 8000 as a number of 80 bits
    form = struct.pack(">hIh", 1, len(samples), 16) + rate
    chunks = struct.pack(">4sI", b"COMM", 18) + form + struct.pack(">4sIII", b"SSND", 208, 0, 0) + samples.tobytes()
    content = struct.pack(">4sI4s", b"FORM", len(chunks) + 4, b"AIFF") + chunks
    found_rate, found = read_aiff(content)
    assert found_rate == 8000
    np.testing.assert_array_equal(found, samples)


def test_clips_are_brought_to_one_channel_rate_and_length(tmp_path: Path) -> None:
    path = tmp_path / "stereo.wav"
    wavfile.write(path, 16_000, np.zeros((8000, 2), dtype=np.int16))
    assert read_clip(str(path), 8000, 6000).shape == (6000,)
    assert read_clip(str(tmp_path / "missing.wav"), 8000, 6000).shape == (6000,)
