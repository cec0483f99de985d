"""The command line's contract: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from podium.cli import COMMANDS, main

Run = Callable[..., "Result"]


class Result:
    """Exit code, standard output and standard error of one call."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: object) -> Result:
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
            raise SystemExit(0)
        captured = capsys.readouterr()
        return Result(int(stop.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def spaceship(run: Run, tmp_path: Path) -> Path:
    """A data folder with the miniature of one competition."""
    assert run("prepare", "spaceship-titanic", "--miniature", "--data-dir", tmp_path).code == 0
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.code == 0
    assert result.out.startswith(f"Usage: podium {command}")


@pytest.mark.parametrize(("command", "summary"), COMMANDS.items())
def test_overview_repeats_each_summary(run: Run, command: str, summary: str) -> None:
    assert summary in " ".join(run(command, "--help").out.split())


def test_unknown_command_suggests_the_closest(run: Run) -> None:
    result = run("grdae")
    assert result.code == 2
    assert "Did you mean 'grade'?" in result.err


def test_unknown_task_suggests_the_closest(run: Run) -> None:
    result = run("show", "spaceship-titanik")
    assert result.code == 2
    assert "spaceship-titanic" in result.err
    assert "Traceback" not in result.err


def test_unknown_suite_lists_the_suites(run: Run) -> None:
    result = run("tasks", "--suite", "quik")
    assert result.code == 2
    assert "quick" in result.err


def test_tasks_as_json_is_one_document(run: Run) -> None:
    listings = json.loads(run("tasks", "--json").out)
    assert {"id", "title", "kind", "metric", "editions", "suites"} <= listings[0].keys()
    assert "spaceship-titanic" in {listing["id"] for listing in listings}


def test_show_prints_metric_and_columns(run: Run) -> None:
    facts = json.loads(run("show", "spaceship-titanic", "--json").out)
    assert facts["metric"] == "Accuracy"
    assert facts["targets"] == ["Transported"]
    assert facts["reference"]["teams"] > 1000
    assert facts["brief"].startswith("# Spaceship Titanic")


def test_prepare_keeps_prepared_data(run: Run, spaceship: Path) -> None:
    again = run("prepare", "spaceship-titanic", "--miniature", "--data-dir", spaceship, "--json")
    assert json.loads(again.out)[0]["status"] == "kept"


def test_prepare_with_a_missing_raw_folder_fails(run: Run, tmp_path: Path) -> None:
    result = run("prepare", "spaceship-titanic", "--raw", tmp_path / "nowhere", "--data-dir", tmp_path)
    assert result.code == 1
    assert "There is no folder" in result.err


def test_raw_requires_a_single_task(run: Run, tmp_path: Path) -> None:
    result = run("prepare", "spaceship-titanic", "aerial-cactus-identification", "--raw", tmp_path)
    assert result.code == 2


def test_grade_prints_the_documented_fields(run: Run, spaceship: Path) -> None:
    sample = spaceship / "spaceship-titanic@miniature" / "public" / "sample_submission.csv"
    grade = json.loads(run("grade", "spaceship-titanic", sample, "--data-dir", spaceship, "--json").out)
    documented = {"task", "valid", "score", "score_rounded", "medal", "above_median", "percentile", "error", "edition"}
    assert documented <= grade.keys()
    assert grade["valid"]
    assert grade["miniature"]
    assert 0 < grade["score"] < 1


def test_infinite_score_is_valid_json(run: Run, tmp_path: Path) -> None:
    """Perfect predictions in champs-scalar-coupling score the logarithm of 0."""
    assert run("prepare", "champs-scalar-coupling", "--miniature", "--data-dir", tmp_path).code == 0
    best = tmp_path / "champs-scalar-coupling@miniature" / "private" / "answers.csv"
    result = run("grade", "champs-scalar-coupling", best, "--data-dir", tmp_path, "--json")
    grade = json.loads(result.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert (grade["score"], grade["medal"], grade["percentile"]) == ("-Infinity", "gold", 100.0)


def test_invalid_submission_is_a_result(run: Run, spaceship: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("PassengerId,Transportd\n0001_01,True\n", encoding="utf-8")
    for command, code in (("grade", 0), ("validate", 3)):
        result = run(command, "spaceship-titanic", wrong, "--data-dir", spaceship, "--json")
        assert result.code == code
        assert json.loads(result.out)["valid"] is False
        assert "'Transported' is missing" in json.loads(result.out)["error"]


def test_grading_an_unprepared_task_names_the_command(run: Run, tmp_path: Path) -> None:
    result = run("grade", "spaceship-titanic", tmp_path / "x.csv", "--data-dir", tmp_path)
    assert result.code == 1
    assert "podium prepare spaceship-titanic" in result.err


def test_forge_lists_the_families_for_an_unknown_family(run: Run) -> None:
    result = run("forge", "tabular")
    assert result.code == 2
    assert "tabular-regression" in result.err


def test_doctor_reports_every_check(run: Run) -> None:
    findings = json.loads(run("doctor", "--json").out)
    names = {finding["name"] for finding in findings}
    assert {"python", "cores", "memory", "disk", "gpu", "sandbox", "kaggle", "model keys"} <= names
    assert all(finding["advice"] for finding in findings if finding["status"] != "ok")


def test_task_after_network_option_is_not_a_host(run: Run) -> None:
    result = run("run", "--network", "spaceship-titanic")
    assert result.code == 2
    assert "'spaceship-titanic' is not a host" in result.err and "--network=all" in result.err


def test_doctor_reports_a_missing_sandbox_with_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from podium.cli.machines.doctor import check_sandbox

    monkeypatch.setenv("PATH", str(tmp_path))
    assert (check_sandbox().status, check_sandbox().advice) == ("problem", "Install the package bubblewrap")
    (tmp_path / "dnf").touch(mode=0o755)
    assert check_sandbox().advice == "Run: sudo dnf install bubblewrap"
