"""Every competition, from its miniature: prepared as ever, sample valid, perfect submission best, junk refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from competitions import (
    VECTORS,
    competition_ids,
    grade_table,
    noisy_submission,
    perfect_submission,
    read_sample,
    summary,
)

import podium
from podium.task import Edition, Integer, Number, Task

EDITIONS = [(task_id, edition) for task_id in competition_ids() for edition in podium.load(task_id).editions]
NO_SAMPLE_SCORE = {"us-patent-phrase-to-phrase-matching"}
"""Competitions whose constant sample has no score."""


@pytest.fixture(scope="module")
def vectors() -> dict[str, dict[str, object]]:
    loaded: dict[str, dict[str, object]] = json.loads(VECTORS.read_text(encoding="utf-8"))
    return loaded


def test_all_competitions_of_mle_bench_are_here() -> None:
    counts = {name: len(podium.tasks(name)) for name in ("mle-bench", "mle-bench-lite", "mle-bench-dev")}
    assert counts == {"mle-bench": 75, "mle-bench-lite": 22, "mle-bench-dev": 7}


@pytest.mark.parametrize("task_id", competition_ids())
def test_preparation_and_scores_are_as_recorded(
    task_id: str, vectors: dict[str, dict[str, object]], tmp_path: Path
) -> None:
    assert summary(podium.load(task_id), tmp_path) == vectors[task_id]


@pytest.mark.parametrize(("task_id", "edition"), EDITIONS)
def test_sample_is_valid_and_perfection_is_best(task_id: str, edition: Edition, tmp_path: Path) -> None:
    whole = podium.load(task_id)
    place = podium.prepare(whole, data_dir=tmp_path, miniature=True, edition=edition).place
    task = whole.in_edition(edition)
    sample = read_sample(task, place)
    (tmp_path / "sample.csv").write_text(sample.to_csv(index=False), encoding="utf-8")
    check = podium.validate(whole, tmp_path / "sample.csv", data_dir=tmp_path, edition=edition)
    assert check.valid, check.error
    perfect = perfect_submission(task, place)
    best = grade_table(whole, perfect, tmp_path, tmp_path, edition)
    assert best.valid, best.error
    noisy = grade_table(whole, noisy_submission(perfect, task), tmp_path, tmp_path, edition)
    assert noisy.valid, noisy.error
    assert best.score == noisy.score or task.metric.is_better(best.score, noisy.score)
    first = grade_table(whole, sample, tmp_path, tmp_path, edition)
    assert first.valid or task_id in NO_SAMPLE_SCORE, first.error
    if first.valid and not math.isclose(first.score, best.score):
        assert task.metric.is_better(best.score, first.score)


@pytest.mark.parametrize("task_id", competition_ids())
def test_malformed_submissions_get_a_message(task_id: str, tmp_path: Path) -> None:
    task = podium.load(task_id)
    place = podium.prepare(task, data_dir=tmp_path, miniature=True).place
    sample = read_sample(task, place)
    for name, table in _malformed(task, sample).items():
        grade = grade_table(task, table, tmp_path, tmp_path)
        assert not grade.valid, f"{name} was scored {grade.score}"
        assert grade.error
        assert "Traceback" not in grade.error
    for junk in (b"", b"\0\1\2", b"PK\x03\x04", b'"', b"\xff\xfe", b"a\n" * 50):
        (tmp_path / "junk.csv").write_bytes(junk)
        assert not podium.grade(task, tmp_path / "junk.csv", data_dir=tmp_path).valid


def _malformed(task: Task, sample: pd.DataFrame) -> dict[str, pd.DataFrame]:
    form = task.submission
    first_id, first_target = form.ids[0], form.targets[0]
    tables = {
        "a missing target column": sample.drop(columns=first_target),
        "a missing id column": sample.drop(columns=first_id),
        "no rows": sample.head(0),
        "unknown ids": sample.assign(**{first_id: "no such id"}),
    }
    if not form.missing_rows and not form.extra_rows:
        tables["a missing row"] = sample.iloc[:0] if len(sample) == 1 else sample.iloc[1:]
    if not form.repeated_rows and not form.extra_rows:
        tables["a repeated row"] = pd.concat([sample, sample.head(1)])
    if isinstance(form.rule(first_target), Number | Integer):
        tables["words for numbers"] = sample.assign(**{first_target: "many"})
        tables["infinities"] = sample.assign(**{first_target: "inf"})
    return tables
