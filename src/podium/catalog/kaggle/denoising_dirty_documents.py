"""Denoising Dirty Documents: what did a stained page look like when it was clean?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import find_files, link_files, picture_of, pixels_of, sample_of, split_rows, write_csv
from podium.data.formats.archives import unpacked, write_zip
from podium.metrics import rmse
from podium.task import Columns, competition

task = competition(
    "denoising-dirty-documents",
    title="Denoising Dirty Documents",
    kind="image denoising",
    metric=rmse,
    submission=Columns(id="id", target="value", values=float, sample="sampleSubmission.csv", answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    with unpacked(raw / "train.zip", public) as dirty, unpacked(raw / "train_cleaned.zip", public) as clean:
        train, test = split_rows([path.name for path in find_files(dirty / "train", "*.png")], 0.2)
        link_files(dirty / "train", public / "train", train)
        link_files(clean / "train_cleaned", public / "train_cleaned", train)
        link_files(dirty / "train", public / "test", test)
        answers = pd.concat([_pixels(clean / "train_cleaned" / name) for name in sorted(test)])
    write_csv(answers, private / "answers.csv")
    write_csv(sample_of(answers, "id", value=1), public / "sampleSubmission.csv")


def _pixels(path: Path) -> pd.DataFrame:
    """Return a row per pixel: page, row and column, both from 1, and how white it is."""
    page = pixels_of(path)
    ids = [f"{path.stem}_{row + 1}_{column + 1}" for row, column in np.ndindex(page.shape)]
    return pd.DataFrame({"id": ids, "value": page.ravel() / 255.0})


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    dirty, clean = [], []
    for number in np.sort(rng.choice(np.arange(1, 217), 30, replace=False)):
        page = np.where(rng.random((rng.choice([8, 10]), 14)) < 0.3, 40, 255)
        shade = np.linspace(rng.uniform(0.5, 1), 1, 14)
        clean.append((f"train_cleaned/{number}.png", picture_of(page)))
        dirty.append((f"train/{number}.png", picture_of(page * shade + rng.normal(0, 12, page.shape))))
    write_zip(raw / "train.zip", dirty)
    write_zip(raw / "train_cleaned.zip", clean)
