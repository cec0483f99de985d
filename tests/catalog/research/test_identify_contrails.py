"""Contrails: masks that stay hidden, and what the mean over pictures hides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from trials import grade, needs_torch, play, prepare

from podium.catalog.research import identify_contrails
from podium.catalog.research.identify_contrails import SIZE
from podium.data.home import DataFolder
from podium.errors import RawDataError
from podium.metrics.run_length import write_runs
from podium.runs.steps import Steps
from podium.task import Edition

TASK = "identify-contrails"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    prepare(TASK, data_dir, "v1")
    return prepare(TASK, data_dir)


@pytest.fixture
def perfect(place: DataFolder) -> pd.DataFrame:
    return pd.read_csv(place.private / "answers.csv")


def masks(place: DataFolder, perfect: pd.DataFrame) -> list[np.ndarray]:
    """The true masks of the test records, from where they are not hidden."""
    folders = [place.raw / "validation" / str(name) for name in perfect["record_id"]]
    return [np.load(folder / "human_pixel_masks.npy")[:, :, 0] for folder in folders]


def test_validation_becomes_the_test_part_without_masks(place: DataFolder, perfect: pd.DataFrame) -> None:
    shown = {path.name: sorted(file.name for file in path.iterdir()) for path in (place.public / "test").iterdir()}
    assert sorted(shown) == perfect["record_id"].astype(str).tolist()
    assert all(names == identify_contrails.BANDS for names in shown.values())
    assert not list(place.public.glob("validation*"))
    train = sorted((place.public / "train").iterdir())
    assert len(train) == 8
    assert {path.name for path in train[0].iterdir()} >= {"human_pixel_masks.npy", "human_individual_masks.npy"}
    assert np.load(train[0] / "band_11.npy").shape == (256, 256, 8)


def test_bands_are_those_of_the_raw_data_in_files_of_their_own(place: DataFolder) -> None:
    band = next(place.public.glob("test/*/band_08.npy"))
    raw = place.raw / "validation" / band.parent.name / "band_08.npy"
    assert band.read_bytes() == raw.read_bytes()
    assert not band.samefile(raw)


def test_masks_are_encoded_down_the_columns(place: DataFolder, perfect: pd.DataFrame) -> None:
    for mask, text in zip(masks(place, perfect), perfect["encoded_pixels"], strict=True):
        decoded = np.zeros(SIZE**2, int)
        numbers = [] if text == "-" else [int(number) for number in text.split()]
        for start, length in zip(numbers[::2], numbers[1::2], strict=True):
            decoded[start - 1 : start - 1 + length] = 1
        assert (decoded.reshape(SIZE, SIZE, order="F") == mask).all()


def test_a_better_model_scores_better(place: DataFolder, perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    """A threshold on one band, on a difference of two, and that difference smoothed."""

    def predicted(find: object) -> pd.DataFrame:
        cells = []
        for name in perfect["record_id"]:
            bands = {n: np.load(place.public / "test" / str(name) / f"band_{n}.npy")[..., 4:] for n in (11, 14, 15)}
            cells.append(write_runs(find(bands).T) or "-")  # type: ignore[operator]
        return perfect.assign(encoded_pixels=cells)

    tables = [
        predicted(lambda bands: bands[14][..., 0] < 265),
        predicted(lambda bands: (bands[15] - bands[14])[..., 0] > 0),
        predicted(lambda bands: (bands[15] - bands[14]).mean(axis=2) > -1),
        perfect,
    ]
    scores = [grade(TASK, table, tmp_path, data_dir).score or 0 for table in tables]
    assert scores == sorted(scores)
    assert len(set(scores)) == 4
    assert scores[-1] == 1.0


def test_v1_pays_for_saying_nothing(place: DataFolder, perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    """One submission finds half of every trail, and a stray pixel in each picture; v1 prefers the one without any."""
    found = []
    for mask in masks(place, perfect):
        half = mask.copy()
        half[:, ::2] = 0
        half[0, 0] = 1
        found.append(write_runs(half.T))
    better, nothing = perfect.assign(encoded_pixels=found), perfect.assign(encoded_pixels="-")

    def score(table: pd.DataFrame, edition: Edition) -> float:
        return float(grade(TASK, table, tmp_path, data_dir, edition).score or 0)

    assert score(nothing, "fixed") == 0.0
    assert score(better, "fixed") > 0.6
    assert score(nothing, "v1") == pytest.approx(0.5, abs=1e-6)
    assert score(better, "v1") < 0.4


def test_v1_is_the_smoothed_mean(place: DataFolder, perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    square = np.zeros((SIZE, SIZE), int)
    square[100:150, 100:150] = 1
    expected = [
        (2 * (mask * square).sum() + 1e-6) / (mask.sum() + square.sum() + 1e-6) for mask in masks(place, perfect)
    ]
    table = perfect.assign(encoded_pixels=write_runs(square.T))
    assert grade(TASK, table, tmp_path, data_dir, "v1").score == pytest.approx(np.mean(expected), abs=1e-12)


def test_malformed_submissions_are_explained(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    faults = {
        "in the mask is not a positive whole number": perfect.assign(encoded_pixels="1 many"),
        "pairs of start and length are expected": perfect.assign(encoded_pixels="1 2 3"),
        "is blank; a text is expected": perfect.assign(encoded_pixels=""),
        "1 id is missing": perfect.iloc[1:],
        "runs must be in ascending order and must not overlap": perfect.assign(encoded_pixels="5 10 7 2"),
    }
    for message, table in faults.items():
        for edition in ("v1", "fixed"):
            assert message in str(grade(TASK, table, tmp_path, data_dir, edition).error)  # type: ignore[arg-type]


def test_runs_beyond_the_picture_do_no_harm(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    table = perfect.assign(encoded_pixels=f"1 {10**11}")
    assert 0 < float(grade(TASK, table, tmp_path, data_dir).score or 0) < 0.1


def test_a_download_without_validation_is_named(tmp_path: Path) -> None:
    with pytest.raises(RawDataError, match="lacks validation"):
        identify_contrails.prepare(tmp_path, tmp_path, tmp_path)


@pytest.mark.research
@needs_torch
def test_the_starter_runs_in_the_sandbox(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play(TASK, tmp_path / "run", data_dir)
    assert "validation Dice" in Steps(row.folder).observation(1).text, Steps(row.folder).observation(1).text
    assert row.record.valid, row.record.error
