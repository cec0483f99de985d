"""ML2021Spring hw2: which phoneme is spoken in a frame of speech?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import read_array, split_rows, write_answers, write_array
from podium.metrics import accuracy
from podium.task import Columns, competition

TRAIN, LABELS, TEST = (f"timit_11/timit_11/{name}.npy" for name in ("train_11", "train_label_11", "test_11"))
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
    frames, labels, unlabelled = (read_array(raw / path) for path in (TRAIN, LABELS, TEST))
    share = len(unlabelled) / (len(frames) + len(unlabelled))
    train, test = split_rows(list(range(len(frames))), share)
    if not shuffle:
        train, test = list(range(len(train))), list(range(len(train), len(frames)))
    for path, array, rows in ((TRAIN, frames, train), (LABELS, labels, train), (TEST, frames, test)):
        write_array(array[rows], public / path)
    answers = pd.DataFrame({"Id": range(len(test)), "ClassId": labels[test]})
    write_answers(task.form, answers, public, private, guess=0)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    voices = rng.normal(0, 1, (PHONEMES, FEATURES))
    labels = np.repeat(rng.integers(0, PHONEMES, 80), 4)
    frames = (voices[labels] + rng.normal(0, 2, (len(labels), FEATURES))).astype(np.float32)
    write_array(frames[:240], raw / TRAIN)
    write_array(labels[:240].astype("<U2"), raw / LABELS)
    write_array(frames[240:], raw / TEST)


task.fixed(
    "The last frames are the test set: v1 draws single frames, whose windows overlap with those of training frames.",
    prepare=partial(prepare, shuffle=False),
    known_leaks="Ids follow the speech, whose neighbouring frames are mostly of one sound.",
)
