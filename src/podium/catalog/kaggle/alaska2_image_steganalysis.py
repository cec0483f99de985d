"""ALASKA2 Image Steganalysis: does the picture hide a message?"""

import random
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import picture, write_bytes
from podium.data.files import link_file, sha256_all
from podium.data.split import split_rows
from podium.data.tables import sample_of, write_csv
from podium.metrics.curves import weighted_auc
from podium.task import Columns, competition

TEST_PICTURES = 5_000
MINIATURE_TEST_PICTURES = 24
METHODS = ["JMiPOD", "JUNIWARD", "UERD"]

task = competition(
    "alaska2-image-steganalysis",
    title="ALASKA2 Image Steganalysis",
    kind="image classification",
    metric=weighted_auc,
    submission=Columns(id="Id", target="Label", values=float),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    _prepare(raw, public, private, *_split(raw), chance=random.Random(0))


def prepare_fixed(raw: Path, public: Path, private: Path) -> None:
    """Draws from the originals of the test pictures, half of which nobody sees."""
    train, test = _split(raw)
    seed = "".join(sha256_all([raw / "Cover" / name for name in test]))
    _prepare(raw, public, private, train, test, chance=random.Random(seed))


def _split(raw: Path) -> tuple[list[str], list[str]]:
    names = sorted(path.name for path in (raw / "Cover").glob("*.jpg"))
    size = TEST_PICTURES if len(names) > TEST_PICTURES else MINIATURE_TEST_PICTURES
    return split_rows(names, size, random_state=42)


def _prepare(
    raw: Path, public: Path, private: Path, train: list[str], test: list[str], *, chance: random.Random
) -> None:
    for number, name in enumerate(train, 1):
        for folder in ("Cover", *METHODS):
            link_file(raw / folder / name, public / folder / f"{number:05d}.jpg")
    chance.shuffle(test)
    shown = ["Cover" if chance.choice([True, False]) else chance.choice(METHODS) for _ in test]
    for number, (name, folder) in enumerate(zip(test, shown, strict=True), 1):
        link_file(raw / folder / name, public / f"Test/{number:04d}.jpg")
    ids = [f"{number:04d}.jpg" for number in range(1, len(test) + 1)]
    answers = pd.DataFrame({"Id": ids, "Label": [int(folder != "Cover") for folder in shown]})
    write_csv(answers, private / "test.csv")
    write_csv(sample_of(answers, "Id", Label=0), public / "sample_submission.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    for number in range(1, 65):
        for tint, folder in enumerate(["Cover", *METHODS]):
            write_bytes(raw / folder / f"{number:05d}.jpg", picture(rng, tint=tint))


task.fixed(
    "Labels are drawn from the data; those of v1 come from a constant seed alone, so that whoever knows it has them.",
    prepare=prepare_fixed,
)
