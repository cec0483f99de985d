"""`--tasks DIR`: commands and their child processes find the tasks in the folder."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from podium.catalog.prepare_many import prepare_many
from podium.cli import COMMANDS, main, podium

sys.path.append(str(Path(__file__).parents[1] / "helpers"))
from outside_tasks import write_suite, write_task

WITHOUT_TASKS = {
    *(
        "agents",
        "board",
        "cluster",
        "completion",
        "demo",
        "doctor",
        "env",
        "forge",
        "import",
        "integrity",
        "key",
        "new-task",
    ),
    "publish",
}
Call = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "home"))
    write_task(tmp_path / "tasks")
    write_task(tmp_path / "tasks", "vineyard")
    write_suite(tmp_path / "tasks", "fruit", "# Fruit", "orchard", "vineyard")
    return tmp_path / "tasks"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*args: object) -> str:
        """Return the output of a command that succeeds."""
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
            raise SystemExit(0)
        captured = capsys.readouterr()
        assert not stop.value.code, captured.err
        return captured.out

    return call


@pytest.mark.parametrize("name", sorted({*COMMANDS, "integrity audit", "integrity contamination"} - WITHOUT_TASKS))
def test_every_command_with_tasks_has_the_option(name: str) -> None:
    command: click.Command = podium
    for part in name.split():
        assert isinstance(command, click.Group)
        subcommand = command.get_command(click.Context(command), part)
        assert subcommand is not None
        command = subcommand
    assert any("--tasks" in parameter.opts for parameter in command.params)


def test_lists_show_tasks_and_suites_of_the_folder(folder: Path, call: Call) -> None:
    assert "orchard" not in call("tasks")
    listed = call("tasks", "--tasks", folder)
    assert "vineyard" in listed
    assert "fruit                2 tasks  Fruit" in listed
    assert [entry["id"] for entry in json.loads(call("tasks", "--suite", "fruit", "--json", "--tasks", folder))] == [
        "orchard",
        "vineyard",
    ]
    assert os.environ.get("PODIUM_TASKS", "") == "", "the option ends with the command"


def test_show_prints_thresholds_and_brief(folder: Path, call: Call) -> None:
    facts = json.loads(call("show", "orchard", "--json", "--tasks", folder))
    assert facts["reference"]["bronze"] == 0.6
    assert facts["brief"].startswith("# orchard")


def test_suite_is_prepared_in_child_processes(folder: Path, call: Call, tmp_path: Path) -> None:
    done = json.loads(call("prepare", "fruit", "--miniature", "--jobs", 2, "--json", "--tasks", folder))
    assert {outcome["task"]: outcome["error"] for outcome in done} == {"orchard": None, "vineyard": None}
    sample = tmp_path / "home" / "data" / "orchard@miniature" / "public" / "sample_submission.csv"
    assert "Submission is valid" in call("validate", "orchard", sample, "--tasks", folder)
    assert json.loads(call("grade", "orchard", sample, "--json", "--tasks", folder))["score"] == 0.5


def test_killed_process_does_not_stop_other_preparations(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_task(folder, "abyss")
    path.write_text(path.read_text().replace("    age = ", "    import os\n    os._exit(9)\n    age = "))
    monkeypatch.setenv("PODIUM_TASKS", str(folder))
    done = {one.task: one for one in prepare_many(["abyss", "orchard", "vineyard"], jobs=2, miniature=True)}
    assert (done["orchard"].error, done["vineyard"].error) == (None, None)
    assert "The process was killed" in str(done["abyss"].error)


def test_report_and_verify_find_the_task_without_the_option(folder: Path, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "experiment"
    options = ("--agent", "baseline", "--miniature", "--out", out)
    (record,) = json.loads(call("run", "orchard", *options, "--json", "--tasks", folder))
    assert (record["status"], record["valid"], record["score"], record["medal"]) == ("finished", True, 0.5, None)
    assert "verified" in call("verify", out / "orchard" / "0")
    table = next(line for line in call("report", out).splitlines() if "orchard" in line)
    assert "ROC AUC" in table and "0.95" in table, "metric and thresholds come from the task file"
