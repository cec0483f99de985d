"""Every competition, from its miniature: prepared as ever, sample valid, perfect submission best, junk refused."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
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
from few import few

import podium
from podium.task import Integer, Number, Task

NO_SAMPLE_SCORE = {"us-patent-phrase-to-phrase-matching"}
"""Competitions whose constant sample has no score."""
half_of_them = pytest.mark.parametrize("task", few(competition_ids(), every=2), indirect=True)
sixth_of_them = pytest.mark.parametrize("task", few(competition_ids(), every=6), indirect=True)


@pytest.fixture(scope="module")
def vectors() -> dict[str, dict[str, object]]:
    loaded: dict[str, dict[str, object]] = json.loads(VECTORS.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def task(request: pytest.FixtureRequest) -> Task:
    return podium.load(request.param)


@pytest.fixture(scope="module")
def data_dir(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where all tests of one competition find what the first of them has prepared; editions lie apart."""
    folder = tmp_path_factory.mktemp("data")
    yield folder
    shutil.rmtree(folder)


def test_all_competitions_of_mle_bench_are_here() -> None:
    counts = {name: len(podium.tasks(name)) for name in ("mle-bench", "mle-bench-lite", "mle-bench-dev")}
    assert counts == {"mle-bench": 75, "mle-bench-lite": 22, "mle-bench-dev": 7}


@half_of_them
def test_preparation_and_scores_are_as_recorded(
    task: Task, vectors: dict[str, dict[str, object]], data_dir: Path
) -> None:
    assert summary(task, data_dir / "v1") == vectors[task.id]


@sixth_of_them
def test_sample_is_valid_and_perfection_is_best(task: Task, data_dir: Path, tmp_path: Path) -> None:
    for edition in task.editions:
        place = podium.prepare(task, data_dir=data_dir / edition, miniature=True, edition=edition).place
        chosen = task.in_edition(edition)
        sample = read_sample(chosen, place)
        sample.to_csv(tmp_path / "sample.csv", index=False)
        check = podium.validate(task, tmp_path / "sample.csv", data_dir=data_dir / edition, edition=edition)
        assert check.valid, check.error
        perfect = perfect_submission(chosen, place)
        best, noisy, first = (
            grade_table(task, table, tmp_path, data_dir / edition, edition)
            for table in (perfect, noisy_submission(perfect, chosen), sample)
        )
        assert best.valid, best.error
        assert noisy.valid, noisy.error
        assert best.score == noisy.score or chosen.metric.is_better(best.score, noisy.score)
        assert first.valid or task.id in NO_SAMPLE_SCORE, first.error
        if first.valid and not math.isclose(first.score, best.score):
            assert chosen.metric.is_better(best.score, first.score)


@sixth_of_them
def test_malformed_submissions_get_a_message(task: Task, data_dir: Path, tmp_path: Path) -> None:
    place = podium.prepare(task, data_dir=data_dir / "v1", miniature=True).place
    sample = read_sample(task, place)
    for name, table in _malformed(task, sample).items():
        grade = grade_table(task, table, tmp_path, data_dir / "v1")
        assert not grade.valid, f"{name} was scored {grade.score}"
        assert grade.error
        assert "Traceback" not in grade.error
    for junk in (b"", b"\0\1\2", b"PK\x03\x04", b'"', b"\xff\xfe", b"a\n" * 50):
        (tmp_path / "junk.csv").write_bytes(junk)
        assert not podium.grade(task, tmp_path / "junk.csv", data_dir=data_dir / "v1").valid


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
