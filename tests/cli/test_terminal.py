"""Output on terminals: narrow, piped or without Unicode; examples, completion, lists and results."""

from __future__ import annotations

import io
import json
import logging
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import podium
from podium.cli import COMMANDS, main
from podium.cli import podium as group
from podium.cli.follow_experiment import STOPPING
from podium.cli.help_examples import EXAMPLES
from podium.cli.live_table import LiveTable
from podium.cli.options import echo_cut
from podium.cli.progress_bars import show_progress
from podium.cli.run_summary import show_results
from podium.runs.drive.driver import Driver
from podium.runs.experiment import read_experiment
from podium.runs.run_folder import RunFolder

TASK = "spaceship-titanic"
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def call_(*args: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
            raise SystemExit(0)
        shown = capsys.readouterr()
        return int(stop.value.code or 0), shown.out, shown.err

    return call_


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment with a run that submitted nothing, because its program is not there."""
    folder = tmp_path_factory.mktemp("terminal")
    options = {"command": "no-such-program"}
    settings = {"miniature": True, "sandbox": "none", "data_dir": folder / "data", "options": options}
    return podium.run(TASK, agent="command", out=folder / "experiment", **settings).folder  # type: ignore[arg-type]


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines if line.startswith("podium ")])
def test_every_example_of_the_help_can_be_parsed(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        "submissions.jsonl",
        "customers.csv",
        "grading_report.json",
        "bundle.podium",
        "head.json",
        "sales.parquet",
    ):
        Path(name).touch()
    for name in ("my_code", "mle-bench", "board", "pictures", "runs/first"):
        Path(name).mkdir(parents=True)
    _, name, *args = shlex.split(line.partition("|")[0])
    command = group.get_command(click.Context(group), name)
    assert command is not None
    while isinstance(command, click.Group) and args:
        name, command, args = command.resolve_command(click.Context(command), args)
    assert command is not None
    assert command.make_context(name, args).command is command


def test_every_command_has_examples() -> None:
    assert set(COMMANDS) == {name.partition(" ")[0] for name in EXAMPLES}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_shell_and_completes_tasks(shell: str, call: Call) -> None:
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    code, out, _ = call("completion", shell)
    assert code == 0
    assert "_PODIUM_COMPLETE" in out
    variables = {"_PODIUM_COMPLETE": "bash_complete", "COMP_WORDS": "podium show spaceship-", "COMP_CWORD": "2"}
    code_text = "from podium.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code_text], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert f"plain,{TASK}" in done.stdout.splitlines()


def test_tasks_are_filtered_by_kind_size_text_and_preparation(call: Call, tmp_path: Path) -> None:
    podium.prepare(TASK, data_dir=tmp_path, miniature=True)

    def ids(*options: object) -> list[str]:
        return [task["id"] for task in json.loads(call("tasks", "--json", "--data-dir", tmp_path, *options)[1])]

    assert ids("--prepared") == [TASK]
    assert set(ids("--text", "right whale")) == {"the-icml-2013-whale-challenge-right-whale-redux"}
    images, small = set(ids("--kind", "image")), set(ids("--size", "small"))
    assert "aerial-cactus-identification" in images & small
    assert set(ids("--kind", "image", "--size", "small")) == images & small
    assert "(miniature prepared)" in call("tasks", "--prepared", "--data-dir", tmp_path)[1]
    assert "No task matches" in call("tasks", "--text", "zzzz")[1]


def test_run_without_a_submission_gets_one_line_with_the_reason(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show_results(Driver(read_experiment(experiment)).runs)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"{TASK}/0:")]
    assert "no valid submission" in line
    assert "exit code 127" in line
    assert "no-such-program" in line


def test_results_fit_a_narrow_terminal(
    experiment: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show_results(Driver(read_experiment(experiment)).runs)
    table = [line for line in click.unstyle(capsys.readouterr().out).splitlines() if not line.startswith(TASK)]
    assert table
    assert max(map(len, table)) <= 60
    echo_cut("x" * 100)
    assert capsys.readouterr().out == f"{'x' * 59}…\n"


def test_square_brackets_in_progress_messages_are_just_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_progress("Grading", 1) as progress:
        logging.getLogger("podium").info("found [/i]")
        progress.advance("toy: '[/b]' is not a number")
    output = click.unstyle(capsys.readouterr().err)
    assert "found [/i]" in output
    assert "toy: '[/b]' is not a number" in output


def test_steps_are_summarised_after_the_miniature_warning(experiment: Path, call: Call) -> None:
    _, out, _ = call("steps", experiment / TASK / "0")
    first, second, third = out.splitlines()
    assert first.startswith("MINIATURE: fabricated data")
    assert "Run no-such-program" in second
    assert "✗ exit code 127" in third


def test_command_printed_by_fork_works(experiment: Path, call: Call) -> None:
    _, _, message = call("steps", experiment / TASK / "0", 1, "--fork")
    command = shlex.split(message.splitlines()[-1])
    assert command[:2] == ["podium", "resume"]
    code, out, _ = call(*command[1:])
    assert (code, f"{TASK}/0" in out) == (0, True)
    assert Path(command[2]) == experiment.with_name("experiment-step-1")


def test_dry_run_prints_an_estimate_and_writes_nothing(call: Call, tmp_path: Path) -> None:
    task, out = "forge-graph-easy-1", tmp_path / "out"
    where = ("--out", out, "--data-dir", tmp_path / "data")
    options = ("--seeds", 3, "--time", "2h", "--tokens", 1000, *where, "--dry-run")
    facts = json.loads(call("run", task, *options, "--json")[1])
    assert (facts["runs"], facts["working_s"], facts["tokens"], facts["to_prepare"]) == (3, 21600, 3000, [task])
    assert "at most 6 h in total" in call("run", task, *options)[1]
    assert list(tmp_path.iterdir()) == []


def test_report_counts_interrupted_runs(experiment: Path, call: Call, tmp_path: Path) -> None:
    copy = shutil.copytree(experiment, tmp_path / "copy", symlinks=True)
    record = RunFolder(copy / TASK / "0").record
    facts = json.loads(record.read_text())
    record.write_text(
        json.dumps({name: facts[name] for name in ("task", "agent", "model", "seed")} | {"status": "running"})
    )
    assert "1 interrupted" in call("report", copy)[1]


def test_terminal_without_unicode_shows_question_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
    with pytest.raises(SystemExit, match="0"):
        main(["tasks", "--suite", "quick"])
    sys.stdout.flush()
    assert b"ROC AUC" in shown.getvalue()


def test_system_errors_are_one_line(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "file"))
    code, _, err = call("prepare", TASK, "--miniature")
    assert code == 1
    assert "Not a directory" in err
    assert "Traceback" not in err


def test_live_table_fits_a_narrow_terminal_and_shows_the_stop_notice(
    experiment: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    with LiveTable(Driver(read_experiment(experiment)).runs) as table:
        table.say(STOPPING)
    lines = click.unstyle(capsys.readouterr().err).splitlines()
    assert max(map(len, lines)) <= 60
    assert "Press Ctrl-C again to stop immediately" in " ".join(" ".join(lines).split())
