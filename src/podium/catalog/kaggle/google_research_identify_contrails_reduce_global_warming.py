"""Identify Contrails: which pixels of a satellite picture belong to the trail of an aircraft?"""

import random
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_files, link_path, read_json, split_rows, write_csv, write_json
from podium.data.formats.numpy_files import read_array, write_array
from podium.grading.check_submission import name_rows
from podium.metrics import rle_dice
from podium.metrics.run_length import write_runs
from podium.task import Columns, Text, competition

BANDS = [f"band_{number:02d}.npy" for number in range(8, 17)]
MASK, OPINIONS = "human_pixel_masks.npy", "human_individual_masks.npy"

task = competition(
    "google-research-identify-contrails-reduce-global-warming",
    title="Google Research - Identify Contrails to Reduce Global Warming",
    kind="image segmentation",
    metric=rle_dice.using(pooled=True, title="Global Dice"),
    submission=Columns(id="record_id", target="encoded_pixels", values=Text(blank=False), answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    records = read_json(raw / "train_metadata.json")
    train, test = split_rows(records, len(read_json(raw / "validation_metadata.json")))
    answers = pd.DataFrame([_answer(raw / "train" / record["record_id"]) for record in test])
    write_json(train, public / "train_metadata.json")
    choose = random.Random(0)
    guesses = [choose.choice(["1 3 10 5", "-"]) for _ in test]
    write_csv(answers.assign(encoded_pixels=guesses), public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")
    for part, shown, files in (("train", train, [*BANDS, OPINIONS, MASK]), ("test", test, BANDS)):
        for record in shown:
            link_files(raw / "train" / record["record_id"], public / part / record["record_id"], files)
    for name in ("validation", "validation_metadata.json"):
        link_path(raw / name, public / name)


def _answer(folder: Path) -> dict[str, object]:
    """Return the true mask as runs that go down the columns."""
    height, width = read_array(folder / BANDS[0]).shape[:2]
    runs = write_runs(read_array(folder / MASK)[:, :, 0].T)
    return {"record_id": folder.name, "encoded_pixels": runs or "-", "height": height, "width": width}


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    truth, predicted = (table["encoded_pixels"].str.strip().replace("-", "") for table in (answers, submission))
    sizes = (answers["height"] * answers["width"]).to_numpy()
    return task.metric.using(size=sizes, names=name_rows(answers[["record_id"]]))(truth, predicted)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    ids = [str(number) for number in rng.integers(10**17, 9 * 10**18, 23)]
    rows, columns = np.mgrid[:10, :8]
    for part, names in (("train", ids[:17]), ("validation", ids[17:])):
        facts = [{"record_id": name, "row_min": rng.uniform(-2e6, 2e6), "timestamp": 1.55e9} for name in names]
        write_json(facts, raw / f"{part}_metadata.json")
        for number, name in enumerate(names):
            line = np.abs(rows - rng.uniform(2, 8) - rng.uniform(-1, 1) * (columns - 4)) < 1
            mask = (line & (number % 3 > 0))[:, :, None]
            for band in BANDS:
                pixels = rng.normal(270, 2, (10, 8, 2)) - 6 * mask
                write_array(pixels.astype(np.float32), raw / part / name / band)
            write_array(mask.astype(np.int32), raw / part / name / MASK)
            if part == "train":
                opinions = mask[..., None] & (rng.random((10, 8, 1, 4)) < 0.9)
                write_array(opinions.astype(np.int32), raw / part / name / OPINIONS)
