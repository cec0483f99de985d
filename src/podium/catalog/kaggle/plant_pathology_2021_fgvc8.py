"""Plant Pathology 2021: which diseases does the apple leaf have?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, picture, write_bytes
from podium.data.files import link_files
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import label_micro_f1
from podium.task import Columns, competition

task = competition(
    "plant-pathology-2021-fgvc8",
    title="Plant Pathology 2021 - FGVC8",
    kind="image tagging",
    # As in MLE-bench, a label that no test picture has costs nothing.
    metric=label_micro_f1.using(ignore_unknown=True, title="Micro F1"),
    submission=Columns(id="image", target="labels", values=str, answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train.csv"), 0.2)
    write_csv(train, public / "train.csv")
    write_csv(sample_of(test, "image", labels="healthy"), public / "sample_submission.csv")
    write_csv(test, private / "answers.csv")
    for part, folder in ((train, "train_images"), (test, "test_images")):
        link_files(raw / "train_images", public / folder, part["image"])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    diseases = ["scab", "frog_eye_leaf_spot", "rust", "powdery_mildew"]
    found = np.array(["healthy", "complex", *diseases, "scab frog_eye_leaf_spot complex", "rust frog_eye_leaf_spot"])
    kinds = rng.integers(len(found), size=150)
    names = [f"{name}.jpg" for name in sorted(hex_ids(rng, 150, 16))]
    write_csv(pd.DataFrame({"image": names, "labels": found[kinds]}), raw / "train.csv")
    for name, kind in zip(names, kinds, strict=True):
        write_bytes(raw / "train_images" / name, picture(rng, tint=int(kind)))


task.fixed(
    "Every wrong label counts, even one that no test picture has.",
    metric=label_micro_f1.using(title="Micro F1"),
)
