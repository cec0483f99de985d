"""Contrails, MLAgentBench's way: which pixels of a satellite picture belong to the trail of an aircraft?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    link_file,
    link_files,
    link_tree,
    read_array,
    write_answers,
    write_array,
    write_json,
)
from podium.data.fetch.kaggle_download import download
from podium.grading.check_submission import name_rows
from podium.metrics import rle_dice
from podium.metrics.run_length import area, overlap, parse_runs, write_runs
from podium.safefs.atomic_files import missing_raw_file
from podium.task import Columns, Starter, Text, research_task

COMPETITION = "google-research-identify-contrails-reduce-global-warming"
BANDS = [f"band_{number:02d}.npy" for number in range(8, 17)]
MASK, OPINIONS = "human_pixel_masks.npy", "human_individual_masks.npy"
SIZE, TIMES, LABELLED = 256, 8, 4
"""Pixels a side, pictures of a record, and which of them people have labelled."""
SMOOTH = 1e-6

task = research_task(
    "identify-contrails",
    title="Identify contrails (MLAgentBench)",
    kind="image segmentation",
    metric=rle_dice.using(pooled=True, title="Global Dice"),
    submission=Columns(id="record_id", target="encoded_pixels", values=Text(blank=False), answers="answers.csv"),
    starter=Starter(folder=Path(__file__).with_suffix(""), script="train.py"),
)


@task.fetch
def fetch(raw: Path) -> None:
    download(COMPETITION, raw)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    """Use Kaggle's validation part as the test part; Kaggle's own test part has no answers and is left out."""
    records = sorted(path for path in (raw / "validation").glob("*") if path.is_dir())
    if not records:
        raise missing_raw_file(raw / "validation")
    write_answers(task.form, pd.DataFrame(map(_answer, records)), public, private, guess="-")
    for record in records:
        link_files(record, public / "test" / record.name, BANDS)
    link_tree(raw / "train", public / "train")
    link_file(raw / "train_metadata.json", public / "train_metadata.json")
    link_file(raw / "validation_metadata.json", public / "test_metadata.json")


def _answer(folder: Path) -> dict[str, object]:
    """Return the true mask as runs that go down the columns."""
    return {"record_id": folder.name, "encoded_pixels": write_runs(read_array(folder / MASK)[:, :, 0].T) or "-"}


@task.score
def score_first(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Return the mean over records of the smoothed Dice coefficient; correct empty masks count like all others."""
    names = name_rows(answers[["record_id"]])
    truth, predicted = (parse_runs(runs, names=names, size=SIZE**2) for runs in _runs(answers, submission))
    total = area(truth) + area(predicted)
    return float(np.mean((2 * overlap(truth, predicted) + SMOOTH) / (total + SMOOTH)))


def score_fixed(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    names = name_rows(answers[["record_id"]])
    return task.metric.using(size=SIZE**2, names=names)(*_runs(answers, submission))


def _runs(*tables: pd.DataFrame) -> tuple[pd.Series, ...]:
    return tuple(table["encoded_pixels"].str.strip().replace("-", "") for table in tables)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    """Fabricate a few records of the real size; trails are thin cold lines, most visible in a difference of bands."""
    for part, count in (("train", 8), ("validation", 4)):
        names = [str(number) for number in rng.integers(10**17, 9 * 10**18, count)]
        facts = [{"record_id": name, "row_min": rng.uniform(-2e6, 2e6), "timestamp": 1.55e9} for name in names]
        write_json(facts, raw / f"{part}_metadata.json")
        for number, name in enumerate(names):
            trail = _trail(rng) & (number % 2 == 0)  # half of the records have none
            _write_record(raw / part / name, trail, rng)
            if part == "train":
                opinions = trail[:, :, None, None] & (rng.random((SIZE, SIZE, 1, 4)) < 0.95)
                write_array(opinions.astype(np.int32), raw / part / name / OPINIONS)


def _trail(rng: np.random.Generator) -> np.ndarray:
    rows, columns = np.mgrid[:SIZE, :SIZE] - SIZE / 2
    angle = rng.uniform(0, np.pi)
    away = rows * np.cos(angle) + columns * np.sin(angle) - rng.uniform(-80, 80)
    along = columns * np.cos(angle) - rows * np.sin(angle)
    line: np.ndarray = (np.abs(away) < rng.uniform(1.5, 4)) & (np.abs(along) < rng.uniform(50, 120))
    return line


def _write_record(folder: Path, trail: np.ndarray, rng: np.random.Generator) -> None:
    strength = np.minimum(np.arange(TIMES, dtype=np.float32) / LABELLED, 1)  # it comes up over time
    shown = trail[:, :, None] * strength
    ground = 275 + 8 * rng.normal(0, 1, (8, 8)).repeat(SIZE // 8, axis=0).repeat(SIZE // 8, axis=1)
    for band in BANDS:
        offset = {"band_11.npy": -1.5, "band_14.npy": 0.0, "band_15.npy": -2.5}.get(band, -20.0)
        cold = {"band_11.npy": -1.0, "band_14.npy": -4.0, "band_15.npy": -1.5}.get(band, -2.0)
        pixels = rng.standard_normal((SIZE, SIZE, TIMES), np.float32)
        pixels += (ground + offset).astype(np.float32)[:, :, None]
        pixels += np.float32(cold) * shown
        write_array(pixels, folder / band)
    write_array(trail[:, :, None].astype(np.int32), folder / MASK)


task.fixed(
    "The Dice coefficient of all pixels together, as the task has always been described; the original takes the mean "
    "over pictures, so that predicting nothing gains a full point for every picture without a contrail.",
    score=score_fixed,
)
task.editions["v1"].metric = rle_dice.using(title="Mean Dice")
