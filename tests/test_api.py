"""Public Python API."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import podium
from podium.errors import NotPreparedError, UnknownTaskError, UsageError

TASK = "spaceship-titanic"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    podium.prepare(TASK, data_dir=folder, miniature=True)
    return folder


def test_public_names() -> None:
    names = "Budget Environment PodiumError Task grade load prepare report resume run tasks validate verify"
    assert podium.__all__ == names.split()
    assert all(getattr(podium, name) for name in podium.__all__)
    with pytest.raises(AttributeError, match="module 'podium' has no attribute 'gradee'"):
        podium.gradee  # noqa: B018


def test_version_is_that_of_the_installed_package() -> None:
    assert podium.__version__ == version("podium")


def test_load_returns_the_task_with_an_id() -> None:
    task = podium.load(TASK)
    assert isinstance(task, podium.Task)
    assert task.id == TASK
    assert TASK in podium.tasks()


@pytest.mark.parametrize("wrong", ["spaceship-titanik", "Spaceship-Titanic", "spaceship"])
def test_unknown_task_suggests_the_closest(wrong: str) -> None:
    with pytest.raises(UnknownTaskError, match=f"There is no task or suite '{wrong}'. Did you mean .*{TASK}"):
        podium.load(wrong)


@pytest.mark.parametrize("wrong", ["", "..", "../kaggle", "spaceship_titanic/..", "__init__", "_herbarium", "os"])
def test_id_is_not_a_path(wrong: str) -> None:
    with pytest.raises(UnknownTaskError, match="There is no task or suite"):
        podium.load(wrong)


def test_unknown_suite_lists_the_suites() -> None:
    with pytest.raises(UnknownTaskError, match=r"There is no suite 'quik'. The suites are: .*quick"):
        podium.tasks("quik")


def test_tasks_of_a_suite_can_be_loaded() -> None:
    for task_id in podium.tasks("quick"):
        assert podium.load(task_id).id == task_id


def test_paths_may_be_strings(data_dir: Path) -> None:
    sample = f"{data_dir}/{TASK}@miniature/public/sample_submission.csv"
    assert podium.validate(TASK, sample, data_dir=str(data_dir)).valid
    assert podium.grade(TASK, sample, data_dir=str(data_dir)) == podium.grade(
        podium.load(TASK), Path(sample), data_dir=data_dir
    )
    assert podium.prepare(TASK, data_dir=str(data_dir), miniature=True).status == "kept"


def test_errors_inherit_from_podium_error_and_a_builtin(data_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(podium.PodiumError) as unknown:
        podium.load("nonsense")
    assert isinstance(unknown.value, LookupError)
    with pytest.raises(podium.PodiumError) as unprepared:
        podium.grade(TASK, tmp_path / "submission.csv", data_dir=tmp_path)
    assert isinstance(unprepared.value, NotPreparedError | FileNotFoundError)
    with pytest.raises(UsageError):
        podium.prepare(TASK, raw=tmp_path, data_dir=tmp_path, miniature=True)


def test_invalid_submission_is_a_result(data_dir: Path, tmp_path: Path) -> None:
    grade = podium.grade(TASK, tmp_path / "nowhere.csv", data_dir=data_dir)
    assert (grade.valid, grade.score, grade.miniature) == (False, None, True)
    assert grade.error == f"There is no submission at {tmp_path}/nowhere.csv (No such file or directory)."


def test_experiment_is_run_verified_reported_and_resumed(data_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "experiment"
    settings: dict[str, Any] = {"data_dir": data_dir, "miniature": True, "budget": podium.Budget(steps=5)}
    experiment = podium.run(TASK, agent="baseline", out=out, **settings)
    (record,) = experiment.records()
    assert (record.status, record.valid, record.usage.steps) == ("finished", True, 1)
    assert podium.verify(out, data_dir=data_dir).passed
    for _ in range(2):  # once the package podium.report is imported, the name must still be the function
        assert podium.report(out).to_dict()["runs"][0]["valid"]
    assert podium.resume(out).records() == [record]


def test_resume_with_another_budget_records_the_change(data_dir: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"action": "list_files", "arguments": {"dir_path": "."}}] * 3))
    settings: dict[str, Any] = {"options": {"script": str(script)}, "data_dir": data_dir, "miniature": True}
    out = tmp_path / "experiment"
    podium.run(TASK, agent="scripted", out=out, budget=podium.Budget(steps=2), sandbox="none", **settings)
    journal = out / TASK / "0" / "steps.jsonl"  # as a kill just before the end leaves it
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-1]))
    (out / TASK / "0" / "run.json").unlink()
    experiment = podium.resume(out, budget=podium.Budget(steps=5))
    (record,) = experiment.records()
    assert (record.status, record.usage.steps, record.ended_by) == ("finished", 3, "the agent")
    (change,) = record.changes
    assert (change.name, change.before["steps"], change.after["steps"]) == ("budget", 2, 5)
    assert [change.name for change in experiment.document.changes] == ["budget.steps"]
    with pytest.raises(UsageError, match="agent cannot be changed after the start"):
        podium.resume(out, agent="baseline")
    with pytest.raises(UsageError, match="There is no setting 'agnt'"):
        podium.run(TASK, agnt="baseline")
