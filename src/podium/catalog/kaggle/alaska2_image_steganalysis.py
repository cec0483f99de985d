"""ALASKA2 Image Steganalysis: does the picture hide a message?"""

import random
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_file, pictures, split_rows, write_answers, write_files
from podium.metrics import weighted_auc
from podium.safefs.atomic_files import sha256_all
from podium.task import Columns, competition

METHODS = ["JMiPOD", "JUNIWARD", "UERD"]

task = competition(
    "alaska2-image-steganalysis",
    title="ALASKA2 Image Steganalysis",
    kind="image classification",
    metric=weighted_auc,
    submission=Columns(id="Id", target="Label", values=float),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, known_seed: bool = True) -> None:
    train, test = split_rows(sorted(path.name for path in (raw / "Cover").glob("*.jpg")), 5_000, random_state=42)
    # The originals of the test pictures, half of which nobody sees, make a seed that nobody knows.
    chance = random.Random(0 if known_seed else "".join(sha256_all([raw / "Cover" / name for name in test])))
    for number, name in enumerate(train, 1):
        for folder in ("Cover", *METHODS):
            link_file(raw / folder / name, public / folder / f"{number:05d}.jpg")
    chance.shuffle(test)
    shown = ["Cover" if chance.choice([True, False]) else chance.choice(METHODS) for _ in test]
    answers = pd.DataFrame({"Id": [f"{number:04d}.jpg" for number in range(1, len(test) + 1)]})
    answers["Label"] = [int(folder != "Cover") for folder in shown]
    for name, folder, new in zip(test, shown, answers["Id"], strict=True):
        link_file(raw / folder / name, public / "Test" / new)
    write_answers(task.form, answers, public, private, guess=0)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    names = [f"{number:05d}.jpg" for number in range(1, 201)]
    for tint, folder in enumerate(["Cover", *METHODS]):
        write_files(raw / folder, pictures(rng, names, [tint] * len(names)))


task.fixed(
    "Labels are drawn from the data; those of v1 come from a constant seed alone, so that whoever knows it has them.",
    prepare=partial(prepare, known_seed=False),
)
