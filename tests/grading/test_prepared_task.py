"""A task that is resolved once says what its callers need to know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from toys import toy_task

import podium
from podium.catalog.registry import resolve
from podium.data.manifest import content_sha256
from podium.errors import NotPreparedError, UsageError
from podium.grading.file_submission import FolderFiles
from podium.grading.prepared_task import find_prepared
from podium.metrics import accuracy, mae
from podium.task import SUBMISSION, Columns, Files, Leaderboard, Starter, Task, research_task


@pytest.fixture
def table() -> Task:
    task = toy_task(Columns("id", "y", float), pd.DataFrame({"id": [1, 2], "y": [0.5, 0.25]}))
    task.fixed("Errors count by their size.", metric=mae, submission=Columns("id", "y", float, max_bytes=1_000))
    return task


@pytest.fixture
def program(tmp_path: Path) -> Task:
    task = research_task(
        "program",
        title="Program",
        kind="code",
        metric=accuracy,
        submission=Files(names=("main.py", "weights/"), max_bytes=10_000, tolerance=0.1),
        starter=Starter(tmp_path, "main.py"),
        first="fixed",
    )
    task.generated = True
    task.prepare(lambda raw, public, private: None)
    task.evaluate(lambda evaluation: 1.0)
    return task


def test_the_edition_is_chosen_and_applied(table: Task, tmp_path: Path) -> None:
    for edition in table.editions:
        podium.prepare(table, data_dir=tmp_path, edition=edition)
    first, fixed = (find_prepared(table, edition=edition, data_dir=tmp_path) for edition in table.editions)
    assert (first.edition, first.place.root) == ("v1", tmp_path / "toy")
    assert (fixed.edition, fixed.place.root, fixed.task.metric) == ("fixed", tmp_path / "toy@fixed", mae)
    assert (first.submission_limit, fixed.submission_limit) == (256 << 20, 1_000)


def test_a_task_is_found_by_its_id(tmp_path: Path) -> None:
    with pytest.raises(NotPreparedError, match=r"spaceship-titanic is not prepared in .* podium prepare spaceship-tit"):
        resolve("spaceship-titanic", data_dir=tmp_path)
    podium.prepare("spaceship-titanic", data_dir=tmp_path, miniature=True)
    prepared = resolve("spaceship-titanic", data_dir=tmp_path)
    assert prepared.miniature
    assert isinstance(prepared.reference, Leaderboard)
    elsewhere = replace(prepared.manifest, versions={}, source="elsewhere")
    assert prepared.data_sha256 == content_sha256(elsewhere)
    assert prepared.data_sha256 != content_sha256(replace(prepared.manifest, miniature=False))
    assert prepared.command == "podium prepare spaceship-titanic --miniature"


def test_a_submission_is_taken_from_a_workspace(table: Task, tmp_path: Path) -> None:
    podium.prepare(table, data_dir=tmp_path / "data")
    prepared = find_prepared(table, data_dir=tmp_path / "data")
    workspace = FolderFiles(tmp_path / "work")
    (tmp_path / "work" / "submission").mkdir(parents=True)
    assert prepared.names == (SUBMISSION,)
    assert not prepared.grade_workspace(workspace, tmp_path / "taken.csv").valid
    (tmp_path / "work" / SUBMISSION).write_text("id,y\n1,0.5\n2,0.25\n")
    assert prepared.grade_workspace(workspace, tmp_path / "taken.csv").score == 0
    assert (tmp_path / "taken.csv").read_text() == "id,y\n1,0.5\n2,0.25\n"


def test_tables_and_files_are_distinguished(table: Task, program: Task, tmp_path: Path) -> None:
    podium.prepare(program, data_dir=tmp_path / "data")
    prepared = find_prepared(program, data_dir=tmp_path / "data")
    assert (table.is_table, program.is_table) == (True, False)
    assert (prepared.names, prepared.submission_limit) == (("main.py", "weights/"), 10_000)
    assert (table.submission.tolerance, program.submission.tolerance) == (0.0, 0.1)
    with pytest.raises(UsageError, match=r"The submission of program is files \(main.py, weights/\), not a table"):
        program.form  # noqa: B018


def test_programs_are_run_only_with_execute(program: Task, tmp_path: Path) -> None:
    podium.prepare(program, data_dir=tmp_path / "data")
    prepared = find_prepared(program, data_dir=tmp_path / "data")
    work = tmp_path / "work"
    (work / "weights").mkdir(parents=True)
    assert prepared.validate(work).error == "The file main.py is missing or empty in the workspace."
    (work / "main.py").write_text("pass")
    (work / "weights" / "w").write_text("1")
    assert prepared.validate(work).valid
    with pytest.raises(UsageError, match=r"Grading program runs submitted programs\. Pass `execute`"):
        prepared.grade(work)
