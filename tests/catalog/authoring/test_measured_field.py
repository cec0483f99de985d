"""The field of a new task: measured on whatever table it is, or refused with a reason."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from podium.catalog.authoring import measured_field
from podium.catalog.authoring.make_task import NewTask, make_task
from podium.catalog.authoring.measured_field import measure_pipelines
from podium.catalog.task_files import load_task_file
from podium.data.prepare import prepare_task
from podium.errors import UsageError
from podium.grading.prepared_task import find_prepared

ROWS = 80


def make(folder: Path, columns: dict[str, Any], **options: Any) -> NewTask:
    pd.DataFrame(columns).to_csv(folder / "data.csv", index=False)
    return make_task("things", folder / "data.csv", out=folder / "tasks", on_score=lambda *_: None, **options)


def doses(count: int = ROWS) -> np.ndarray:
    return np.random.default_rng(0).normal(size=count)


@pytest.mark.parametrize(
    ("target", "keys"),
    [
        ("answers", [f"{number}.50" for number in range(ROWS)]),
        ("self", [f"{number:016d}" for number in range(ROWS)]),
        ("ids", [f"{10**16 + number}" for number in range(ROWS)]),
    ],
)
def test_a_field_is_measured_whatever_targets_and_ids_are_called(tmp_path: Path, target: str, keys: list[str]) -> None:
    columns = {"key": keys, "dose": doses(), target: np.where(doses() > 0, "ill", "well")}
    made = make(tmp_path, columns, target=target, id_column="key")
    assert len(made.field) == 10


def test_sampled_training_rows_include_every_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_field, "MAX_ROWS", 20)
    rare = np.where(np.arange(300) % 60 == 0, "yes", "no")
    empty = np.where(np.arange(300) % 60 == 1, 1.5, np.nan)
    made = make(tmp_path, {"dose": doses(300), "seldom": empty, "ill": rare}, target="ill")
    assert len(made.field) == 10


def test_a_task_whose_score_is_never_defined_is_refused(tmp_path: Path) -> None:
    columns = {"soil": "clay", "dose": doses()}
    with pytest.raises(UsageError, match=r"No pipeline of the field could be graded\. .* is undefined for"):
        make(tmp_path, columns, target="dose", metric="pearson")
    assert not list((tmp_path / "tasks").iterdir())


def test_a_task_without_a_valid_submission_is_refused(tmp_path: Path) -> None:
    made = make(tmp_path, {"dose": doses(), "ill": np.where(doses() > 0, "yes", "no")}, target="ill")
    task = load_task_file(made.folder / "task.py")
    sample = prepare_task(task, data_dir=tmp_path / "data").place.public / "sample_submission.csv"
    sample.write_text(sample.read_text().replace("ill", "sick", 1))
    prepared = find_prepared(task, data_dir=tmp_path / "data")
    with pytest.raises(UsageError, match=r"No submission to this task would be valid: .*'ill'.* missing"):
        measure_pipelines(prepared, made.goal, made.table.columns(classes=True), lambda *_: None)


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    gone = 2**22 + 1  # Linux has no such process
    for name in (f".things-making-{gone}", f".things-making-{os.getppid()}", ".things-2024"):
        (tmp_path / "tasks" / name).mkdir(parents=True)
    make(tmp_path, {"dose": doses(), "ill": np.where(doses() > 0, "yes", "no")}, target="ill")
    left = {path.name for path in (tmp_path / "tasks").iterdir()}
    assert left == {"things", f".things-making-{os.getppid()}", ".things-2024"}
