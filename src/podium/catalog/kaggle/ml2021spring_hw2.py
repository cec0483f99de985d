"""ML2021Spring hw2: which phoneme is spoken in a frame of speech?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.split import split_rows
from podium.data.tables import sample_of, write_csv
from podium.errors import RawDataError
from podium.metrics import accuracy
from podium.task import Columns, competition

FOLDER = Path("timit_11") / "timit_11"
FEATURES, PHONEMES = 429, 39

task = competition(
    "ml2021spring-hw2",
    title="ML2021Spring-hw2",
    kind="audio classification",
    metric=accuracy,
    submission=Columns(id="Id", target="ClassId", values=int, sample="sampleSubmission.csv", answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, shuffle: bool = True) -> None:
    frames, labels, unlabelled = (_load(raw, name) for name in ("train_11", "train_label_11", "test_11"))
    share = len(unlabelled) / (len(frames) + len(unlabelled))
    train, test = split_rows(list(range(len(frames))), share)
    if not shuffle:
        train, test = list(range(len(train))), list(range(len(train), len(frames)))
    (public / FOLDER).mkdir(parents=True)
    for name, array, rows in (
        ("train_11", frames, train),
        ("train_label_11", labels, train),
        ("test_11", frames, test),
    ):
        np.save(public / FOLDER / f"{name}.npy", array[rows])
    answers = pd.DataFrame({"Id": range(len(test)), "ClassId": labels[test]})
    write_csv(sample_of(answers, "Id", ClassId=0), public / "sampleSubmission.csv")
    write_csv(answers, private / "answers.csv")


def _load(raw: Path, name: str) -> np.ndarray:
    path = raw / FOLDER / f"{name}.npy"
    if not path.exists():
        raise RawDataError(f"The raw data lacks {path.name}: there is no {path}.")
    array: np.ndarray = np.load(path, mmap_mode="r")
    return array


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    voices = rng.normal(0, 1, (PHONEMES, FEATURES))
    labels = np.repeat(rng.integers(0, PHONEMES, 80), 4)
    frames = (voices[labels] + rng.normal(0, 2, (len(labels), FEATURES))).astype(np.float32)
    (raw / FOLDER).mkdir(parents=True)
    np.save(raw / FOLDER / "train_11.npy", frames[:240])
    np.save(raw / FOLDER / "train_label_11.npy", labels[:240].astype("<U2"))
    np.save(raw / FOLDER / "test_11.npy", frames[240:])


task.fixed(
    "The last frames are the test set: v1 draws single frames, whose windows overlap with those of training frames.",
    prepare=partial(prepare, shuffle=False),
)
