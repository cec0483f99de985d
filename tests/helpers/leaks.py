"""What metadata tells of the answers when the raw data of a task lies in the order of its classes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from class_order import Labels, answer_columns, order_files, order_rows

import podium
from podium.catalog.registry import listings
from podium.data.scrub_metadata import publish
from podium.grading.table_submission import read_answers
from podium.integrity.audit.file_metadata import Rows, as_numbers, observe
from podium.integrity.audit.metadata_leaks import MetadataPrediction, predict
from podium.task import Task

SUSPICIOUS, CERTAIN = 0.01, 0.0002
"""Of the share of shuffled answers that are predicted as well: below the first a closer look is taken, with more
miniatures; below the second it is a leak. Over the whole catalogue that goes wrong by chance once in fifty times.
"""
CLOSER = range(4)
"""Seeds of the miniatures for a closer look."""


@dataclass(frozen=True)
class Finding:
    """How well the order of rows and ids, and how well the metadata of files, predict the answers."""

    of_rows: MetadataPrediction
    of_files: MetadataPrediction


def table_tasks() -> list[str]:
    """Every task of the catalogue with an answer per row; forged ones are drawn in random order."""
    ids = [listing.id for listing in listings() if not listing.id.startswith("forge-")]
    return [task_id for task_id in ids if podium.load(task_id).is_table]


def examine(task: Task) -> Finding:
    """One miniature in class order, and a closer look where it tells what is not known, or not what is known."""
    quick = examine_with(task, CLOSER[:1], shuffles=1000)
    suspicious = quick.of_files.p < SUSPICIOUS or (quick.of_rows.p < SUSPICIOUS) != bool(task.parts.known_leaks)
    return examine_with(task, CLOSER, shuffles=10_000) if suspicious else quick


def examine_with(task: Task, seeds: Sequence[int], *, shuffles: int) -> Finding:
    """Prepares class-ordered miniatures and predicts their answers from metadata."""
    rows = [prepare_in_class_order(task, seed) for seed in seeds]
    return Finding(*(predict(rows, files=files, shuffles=shuffles) for files in (False, True)))


def prepare_in_class_order(task: Task, seed: int) -> Rows:
    """The test rows of a miniature whose raw rows, and then whose raw files, were put in the order of the answers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fabricated, ordered, by_class = (folder / name for name in ("fabricated", "ordered", "by_class"))
        for made in (fabricated, ordered, by_class):
            made.mkdir()
        assert task.fabricator is not None
        task.fabricator(fabricated, np.random.default_rng(seed))
        order_rows(fabricated, ordered, task)
        place = _prepare(task, ordered, folder / "first")
        ids, answers = _answers(task, place)
        numbers = next(iter(as_numbers(answers.iloc[:, 0]).values())).rank()
        labels = Labels(place / "public", dict(zip(ids, numbers, strict=True)))
        if labels.are_shown:
            order_files(ordered, by_class, labels)
            place = _prepare(task, by_class, folder / "second")
            ids, answers = _answers(task, place)
        return observe(place / "public", ids, answers)


def _prepare(task: Task, raw: Path, place: Path) -> Path:
    for name in ("made", "private", "public"):
        (place / name).mkdir(parents=True)
    assert task.parts.prepare is not None
    task.parts.prepare(raw, place / "made", place / "private")
    publish(place / "made", place / "public")
    return place


def _answers(task: Task, place: Path) -> tuple[list[str], pd.DataFrame]:
    """The ids of the test rows and their answers."""
    form, read = task.form, task.parts.answers
    table = read_answers(place / "private" / form.answers, form) if read is None else read(place / "private")
    table = table.reset_index(drop=True)
    targets = list(answer_columns(form))
    if not set(targets) <= set(table.columns):
        targets = [name for name in table.columns if name not in form.ids]
    ids = table[form.ids[0]].astype(str).tolist() if form.ids else [str(number) for number in range(len(table))]
    return ids, table[targets]
