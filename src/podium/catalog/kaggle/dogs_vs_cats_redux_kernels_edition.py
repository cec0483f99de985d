"""Dogs vs. Cats Redux: is there a dog or a cat in the picture?"""

from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    find_files,
    link_file,
    pictures,
    sample_of,
    split_rows,
    unpacked,
    write_csv,
    write_zip,
)
from podium.metrics import log_loss
from podium.task import Columns, Number, competition

task = competition(
    "dogs-vs-cats-redux-kernels-edition",
    title="Dogs vs. Cats Redux: Kernels Edition",
    kind="image classification",
    metric=log_loss,
    submission=Columns(id="id", target="label", values=Number(0, 1), answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    with unpacked(raw / "train.zip", public) as folder:
        train, test = split_rows(find_files(folder / "train", "*.jpg"), 0.1)
        numbers = {"cat": count(), "dog": count()}
        for old in train:
            link_file(old, public / f"train/{old.name[:3]}.{next(numbers[old.name[:3]])}.jpg")
        for number, old in enumerate(test, 1):
            link_file(old, public / f"test/{number}.jpg")
    answers = pd.DataFrame(
        {"id": np.arange(1, len(test) + 1), "label": [int(old.name.startswith("dog")) for old in test]}
    )
    write_csv(answers, private / "answers.csv")
    write_csv(sample_of(answers, "id", label=0.5), public / "sample_submission.csv")
    # The archives hold the pictures of the folders once more, as MLE-bench has it.
    for part in ("train", "test"):
        write_zip(public / f"{part}.zip", ((path.name, path) for path in sorted((public / part).iterdir())))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    names = [f"train/{species}.{number}.jpg" for species in ("cat", "dog") for number in range(80)]
    write_zip(raw / "train.zip", pictures(rng, names, np.repeat([0, 1], 80), size=(16, 12)))
