"""Metadata tells nothing of the answers, even where raw data lies in the order of its classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import mode
from typing import Any

import numpy as np
import pytest
from few import few
from leaks import CERTAIN, CLOSER, SUSPICIOUS, examine, examine_with, table_tasks

import podium
from podium.grading.table_submission import read_answers
from podium.task import Edition

NEIGHBOURS = 5
EDITIONS: list[tuple[str, Edition]] = [
    (name, edition) for name in table_tasks() for edition in podium.load(name).editions
]


@pytest.mark.parametrize("task_id", few(table_tasks(), every=16))
def test_metadata_does_not_predict_the_answers(task_id: str) -> None:
    task = podium.load(task_id).in_edition()
    finding = examine(task)
    assert finding.of_files.p > CERTAIN, f"files tell the answers by {finding.of_files}"
    if task.parts.known_leaks:
        assert finding.of_rows.p < SUSPICIOUS, "the known leak is not there"
    else:
        assert finding.of_rows.p > CERTAIN, f"rows tell the answers by {finding.of_rows}"


@pytest.mark.slow
@pytest.mark.parametrize(("task_id", "edition"), EDITIONS)
def test_metadata_of_miniatures_does_not_predict_the_answers(task_id: str, edition: Edition) -> None:
    task = podium.load(task_id).in_edition(edition)
    finding = examine_with(task, [*CLOSER, *range(len(CLOSER), 10)], shuffles=10_000)
    assert finding.of_files.p > CERTAIN, finding.of_files
    assert task.parts.known_leaks or finding.of_rows.p > CERTAIN, finding.of_rows


@pytest.mark.parametrize(
    ("task_id", "train_files", "test_folder", "label"),
    [
        ("dogs-vs-cats-redux-kernels-edition", "train/*.jpg", "test", lambda path: int(path.name.startswith("dog"))),
        ("alaska2-image-steganalysis", "[CJU]*/*.jpg", "Test", lambda path: int(path.parent.name != "Cover")),
        ("paddy-disease-classification", "train_images/*/*.jpg", "test_images", lambda path: path.parent.name),
    ],
)
def test_a_file_is_not_labelled_as_those_beside_it(
    task_id: str, train_files: str, test_folder: str, label: Callable[[Path], Any], tmp_path: Path
) -> None:
    """The attack: a picture whose inode number or time lies among those of cats shows a cat."""
    task = podium.load(task_id)
    place = podium.prepare(task, data_dir=tmp_path, miniature=True).place
    train = sorted(place.public.glob(train_files))
    labels = np.array([label(path) for path in train])
    answers = read_answers(place.private / task.form.answers, task.form)
    names = [name if name.endswith(".jpg") else f"{name}.jpg" for name in answers[task.form.ids[0]].astype(str)]
    for fact in ("st_ino", "st_mtime_ns", "st_ctime_ns"):
        known = np.array([getattr(path.stat(), fact) for path in train])
        tested = [getattr((place.public / test_folder / name).stat(), fact) for name in names]
        guesses = [mode(labels[np.argsort(np.abs(known - value), kind="stable")[:NEIGHBOURS]]) for value in tested]
        assert np.mean(np.array(guesses) == answers[task.form.targets[0]].to_numpy()) < 0.75, fact
