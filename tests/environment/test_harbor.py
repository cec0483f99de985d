"""Folders for Harbor: its verifier scores as Podium does, and an agent's own reward files have no effect."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import podium
from podium.cli import podium as cli
from podium.environment.bridges.harbor import export_task
from podium.errors import UsageError
from podium.report.imported import read_import

FORGED = "forge-tabular-classification-tiny-1"
COMPETITION = "spaceship-titanic"


@pytest.fixture(scope="module", params=[FORGED, COMPETITION])
def task(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def exported(task: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_task(task, tmp_path_factory.mktemp("harbor"), miniature=True)


def verify(folder: Path, submission: Path, logs: Path) -> dict[str, Any]:
    """What the verifier's container does, with its own copy of Podium."""
    packed = folder / "tests" / "podium.tar.gz"
    with tarfile.open(packed) as archive:
        archive.extractall(logs / "opt", filter="data")
    command = [sys.executable, folder / "tests" / "grade.py", submission, logs / "verifier" / "reward.json"]
    subprocess.run(command, check=True, capture_output=True, env={"PYTHONPATH": str(logs / "opt")})
    found: dict[str, Any] = json.loads((logs / "verifier" / "reward.json").read_text())
    return found


def test_the_verifier_scores_as_podium_does(task: str, exported: Path, tmp_path: Path) -> None:
    submission = exported / "environment" / "data" / "sample_submission.csv"
    ours = podium.grade(task, submission)
    theirs = verify(exported, submission, tmp_path)
    assert ours.score is not None and ours.percentile is not None
    assert theirs["score"] == pytest.approx(ours.score, abs=1e-5)
    assert theirs["reward"] == pytest.approx(ours.percentile / 100)
    assert (theirs["valid"], theirs["submitted"]) == (1.0, 1.0)


def test_reward_files_that_are_there_already_have_no_effect(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "verifier").mkdir()
    for name, text in {"reward.txt": "1.0", "reward.json": '{"reward": 1.0}'}.items():
        (tmp_path / "verifier" / name).write_text(text)
    found = verify(exported, tmp_path / "nothing.csv", tmp_path)
    assert (found["reward"], found["valid"], found["submitted"]) == (0.0, 0.0, 0.0)
    assert not (tmp_path / "verifier" / "reward.txt").exists()


def test_the_agents_part_holds_no_answers(exported: Path) -> None:
    config = tomllib.loads((exported / "task.toml").read_text())
    assert config["verifier"]["environment_mode"] == "separate"
    assert config["artifacts"] == ["/home/submission"]
    names = {path.name for path in (exported / "environment").rglob("*")}
    assert not names & {"private", "leaderboard.json", "grade.py", "manifest.json", "podium.tar.gz"}
    secrets = {path.read_bytes() for path in (exported / "tests" / "data").glob("*/private/*") if path.is_file()}
    assert not any(path.read_bytes() in secrets for path in (exported / "environment").rglob("*") if path.is_file())
    assert (exported / "tests" / "test.sh").stat().st_mode & 0o111


def test_what_cannot_be_exported_says_why(exported: Path) -> None:
    with pytest.raises(UsageError, match="is there already"):
        export_task(exported.name, exported.parent, miniature=True)
    with pytest.raises(UsageError, match="programs"):
        export_task("vectorization", exported.parent, miniature=True)
    with pytest.raises(podium.PodiumError, match="not prepared"):
        export_task("dogs-vs-cats-redux-kernels-edition", exported.parent)


def trial(folder: Path, number: int, agent: str, task: str = COMPETITION, **rewards: float) -> None:
    document = {
        "task_name": f"podium/{task}",
        "trial_name": f"{task}__{number}",
        "agent_info": {"name": agent, "version": "1", "model_info": {"name": "m"}},
        "verifier_result": {"rewards": rewards} if rewards else None,
        "finished_at": "2026-01-01T00:00:00Z",
    }
    place = folder / f"{task}__{agent}{number}" / "result.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(document))


def test_trials_become_an_experiment_that_reports_read(tmp_path: Path) -> None:
    job = tmp_path / "job"
    trial(job, 0, "coder", valid=1.0, submitted=1.0, score=0.9, gold_medal=1.0, above_median=1.0)
    trial(job, 1, "coder")
    out = tmp_path / "imported"
    done = CliRunner().invoke(cli, ["import", str(job), "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {
        "experiment": str(out),
        "agent": "coder (m)",
        "tasks": 1,
        "runs": 2,
        "missing": 0,
    }
    first, second = read_import(out).reports
    assert (first.medal, first.score, first.valid_submission) == ("gold", 0.9, True)
    assert (second.medal, second.score, second.submission_exists) == (None, None, False)
    assert "gold" in CliRunner().invoke(cli, ["report", str(out)]).output


def test_trials_of_several_agents_need_a_name(tmp_path: Path) -> None:
    trial(tmp_path / "job", 0, "coder", valid=1.0)
    trial(tmp_path / "job", 1, "writer", valid=1.0)
    done = CliRunner().invoke(cli, ["import", str(tmp_path / "job"), "--out", str(tmp_path / "out")])
    assert "several agents" in str(done.exception)
    trial(tmp_path / "other", 0, "coder", task="nothing-of-ours")
    done = CliRunner().invoke(cli, ["import", str(tmp_path / "other"), "--out", str(tmp_path / "out")])
    assert "is not one of Podium's tasks" in str(done.exception)
