"""Runs on a user's own folder: `podium run DIR --goal TEXT`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from driving import story

from podium.cli import main
from podium.runs.run_folder import RunFolder
from podium.text import printed_score

TRAIN = """\
from helper import SCALE
numbers = [float(text) for text in open("data/numbers.txt")]
print("accuracy:", sum(numbers) * SCALE)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "my code"
    (folder / "data").mkdir(parents=True)
    (folder / "train.py").write_text(TRAIN)
    (folder / "helper.py").write_text("SCALE = 0.5\n")
    (folder / "data" / "numbers.txt").write_text("1.5\n")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("[secret]")
    return folder


def podium(tmp_path: Path, *arguments: str | Path, say: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("podium")), *map(str, arguments)]
    environment = {**os.environ, "PODIUM_HOME": str(tmp_path / "home")}
    return subprocess.run(command, input=say, capture_output=True, text=True, env=environment, timeout=600)


def scripted(tmp_path: Path, *actions: tuple[str, dict[str, Any]]) -> list[str]:
    path = tmp_path / "actions.json"
    path.write_text(json.dumps([{"action": name, "arguments": arguments} for name, arguments in actions]))
    return ["--agent", "scripted", "-A", f"script={path}", "--json", "--out", str(tmp_path / "out")]


def seen(run: Path) -> list[str]:
    """Return the observations of a run's agent, step by step."""
    return [text for _, text in story(RunFolder(run))]


@pytest.mark.slow
def test_program_is_repeated_with_unchanged_fixed_files(tmp_path: Path, folder: Path) -> None:
    better = TRAIN.replace("SCALE)", "SCALE + 2)")
    actions = scripted(
        tmp_path,
        ("write_file", {"file_name": "helper.py", "content": "SCALE = 99"}),
        ("request_help", {"request": "May I add two?"}),
        ("write_file", {"file_name": "train.py", "content": better}),
        ("list_files", {"dir_path": "."}),
    )
    options = ["--goal", "Raise the accuracy.", "--score", "accuracy", "--editable", "train.py", "--person"]
    done = podium(tmp_path, "run", folder, *options, *actions, say="yes\n")
    assert done.returncode == 0, done.stderr
    (record,) = json.loads(done.stdout)
    assert (record["valid"], record["score"]) == (True, 2.75)
    assert "asks for help:\nMay I add two?" in done.stderr
    observations = seen(tmp_path / "out" / record["task"] / "0")
    assert observations[1] == "yes"
    assert ".git" not in observations[3]
    run = tmp_path / "out" / record["task"] / "0"
    assert podium(tmp_path, "verify", run).returncode == 0
    again = podium(tmp_path, "reproduce", run, "--json")
    assert (json.loads(again.stdout)["outcome"], json.loads(again.stdout)["scores"]) == ("equivalent", [2.75] * 3)


def test_answers_stay_out_of_the_workspace(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "answers.csv").write_text("id,price\na,1.0\nb,3.0\n")
    predict = "open('submission/submission.csv', 'w').write('id,price\\nb,3\\na,2\\n')"
    actions = scripted(
        tmp_path,
        ("write_file", {"file_name": "train.py", "content": predict}),
        ("execute_script", {"script_name": "train.py"}),
        ("run_command", {"command": "cat data/sample_submission.csv data/description.md; find / -name 'answers*'"}),
    )
    options = ["--goal", "Predict prices.", "--answers", tmp_path / "answers.csv", "--metric", "mae"]
    done = podium(tmp_path, "run", folder, *options, *actions)
    assert done.returncode == 0, done.stderr
    (record,) = json.loads(done.stdout)
    assert (record["valid"], record["score"], record["higher_is_better"]) == (True, 0.5, False)
    observation = seen(tmp_path / "out" / record["task"] / "0")[2]
    assert "id,price\na,0\nb,0\n# Goal\n\nPredict prices." in observation
    assert "answers" not in observation


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "The task needs a score"),
        (["--score", "a", "--script", "nope.py"], "There is no nope.py in"),
        (["--score", "a", "--editable", "*.md"], "--editable *.md: no file in"),
        (["--metric", "nope"], "There is no metric 'nope'. The metrics are: accuracy,"),
        (["--metric", "mae"], "--answers and --metric must be used together"),
    ],
)
def test_invalid_executor_settings_are_refused(
    folder: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(capsys, "run", folder, "--goal", "x", *options)


def test_a_folder_without_a_goal_gets_advice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is a folder. Add a goal and a score: --goal TEXT" in refusal(capsys, "run", folder)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Return the output of a wrong command line."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("output", "score"),
    [
        ("accuracy: 0.5\nAccuracy = 0.75\nloss: 3", 0.75),
        ("> accuracy: 91 %", 91.0),
        ("accuracy: nan\n", None),
        ("accuracy: 0.1\naccuracy: lots", 0.1),
        ("the accuracy: 0.5", None),
    ],
)
def test_the_last_line_that_names_the_score_counts(output: str, score: float | None) -> None:
    assert printed_score(output, "accuracy") == score
