"""Folders for Harbor: its verifier scores as Podium does, and an agent's own reward files have no effect."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from harbor_container import Container, reason_against

import podium
from podium.catalog.authoring.code_folder import FolderTaskSpec, register
from podium.catalog.listing import builtin_listings
from podium.cli import podium as cli
from podium.data.formats.archives import extract_tar
from podium.errors import UsageError
from podium.grading.grade import Grade
from podium.interop.harbor_export import export_task
from podium.interop.harbor_import import import_harbor
from podium.report.results import read_results

FORGED = "forge-tabular-classification-tiny-1"
COMPETITION = "spaceship-titanic"
PROGRAM = "bibtex-generation"
REWARD = "/logs/verifier/reward.json"


@pytest.fixture(scope="module", params=[FORGED, COMPETITION])
def task(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def exported(task: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_task(task, tmp_path_factory.mktemp("harbor"), miniature=True)


def submit(sample: Path, workspace: Path) -> Path:
    """A workspace with a copy of a file as its submission."""
    (workspace / "submission").mkdir(parents=True)
    shutil.copyfile(sample, workspace / "submission" / "submission.csv")
    return workspace


def verify(folder: Path, workspace: Path, logs: Path) -> dict[str, Any]:
    """Run the verifier with its own copy of Podium, as its container does."""
    with tarfile.open(folder / "tests" / "podium.tar.gz") as archive:
        extract_tar(archive, logs / "opt")
    called = (folder / "tests" / "test.sh").read_text().split("/tests/grade.py ")[1].split()
    command = [
        sys.executable,
        folder / "tests" / "grade.py",
        *called[:2],
        workspace,
        logs / "verifier" / "reward.json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(logs / "opt")})
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((logs / "verifier" / "reward.json").read_text())
    return found


def same_as(theirs: dict[str, Any], ours: Grade) -> bool:
    names = ("score", "percentile", "improvement")
    expected = {name: getattr(ours, name) for name in names if getattr(ours, name) is not None}
    assert {name: theirs[name] for name in expected} == pytest.approx(expected, abs=1e-5)
    return theirs["valid"] == float(ours.valid)


def test_the_verifier_scores_as_podium_does(task: str, exported: Path, tmp_path: Path) -> None:
    submission = exported / "environment" / "data" / "sample_submission.csv"
    ours = podium.grade(task, submission)
    theirs = verify(exported, submit(submission, tmp_path / "home"), tmp_path)
    assert ours.percentile is not None and same_as(theirs, ours)
    assert theirs["reward"] == pytest.approx(ours.percentile / 100)
    assert (theirs["submitted"], theirs["miniature"]) == (1.0, float(task == COMPETITION))


@pytest.mark.parametrize("linked", ["submission", "submission/submission.csv"])
def test_link_to_the_answers_is_not_a_submission(exported: Path, tmp_path: Path, linked: str) -> None:
    (answers,) = (exported / "tests" / "data").glob("*/private/test.csv")
    place = tmp_path / "home" / linked
    place.parent.mkdir(parents=True)
    place.symlink_to(answers if linked.endswith(".csv") else submit(answers, tmp_path / "other") / "submission")
    found = verify(exported, tmp_path / "home", tmp_path)
    assert (found["reward"], found["valid"], found["submitted"]) == (0.0, 0.0, 1.0)


def test_reward_files_that_are_there_already_have_no_effect(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "verifier").mkdir()
    for name, text in {"reward.txt": "1.0", "reward.json": '{"reward": 1.0}'}.items():
        (tmp_path / "verifier" / name).write_text(text)
    found = verify(exported, tmp_path / "nothing", tmp_path)
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


def test_unsupported_export_is_explained(exported: Path) -> None:
    with pytest.raises(UsageError, match="already exists"):
        export_task(exported.name, exported.parent, miniature=True)
    with pytest.raises(podium.PodiumError, match="not prepared"):
        export_task("dogs-vs-cats-redux-kernels-edition", exported.parent)


needs_containers = pytest.mark.skipif(reason_against() is not None, reason=str(reason_against()))


@pytest.fixture(scope="module")
def exported_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_task(PROGRAM, tmp_path_factory.mktemp("harbor"), miniature=True)


@pytest.fixture(scope="module")
def ours(exported_program: Path) -> Grade:
    """Return Podium's grade of the starter's program."""
    return podium.grade(PROGRAM, exported_program / "environment" / "starter")


def hand_over(folder: Path, root: Path, program: str = "") -> dict[str, Any]:
    """Return the rewards of the starter's program plus some lines of an agent, through both containers."""
    agent = Container.build(folder / "environment", root / "agent")
    script = agent.host("/home/cite.py")
    script.write_text(script.read_text() + program)
    assert agent.run(["ls", "/home/data"]).stdout
    verifier = Container.build(folder / "tests", root / "verifier")
    for artifact in tomllib.loads((folder / "task.toml").read_text())["artifacts"]:
        shutil.copyfile(agent.host(artifact), verifier.host(artifact))
    verifier.host("/logs/verifier").mkdir()
    verifier.host("/logs/verifier").chmod(0o777)  # as Harbor's are
    done = verifier.run(["/tests/test.sh"])
    assert done.returncode == 0, done.stderr
    left = [path.name for path in verifier.host("/logs/verifier").iterdir()]
    assert left == ["reward.json"]
    found: dict[str, Any] = json.loads(verifier.host(REWARD).read_text())
    assert found["valid"], done.stdout
    return found


@needs_containers
def test_submitted_programs_score_as_in_podium(exported_program: Path, ours: Grade, tmp_path: Path) -> None:
    assert same_as(hand_over(exported_program, tmp_path), ours)


HOSTILE = r"""
import os, pathlib, subprocess, sys
for folder in ("/tests", "/opt/podium", "/tests/data", "/proc/1/root/tests"):
    try:
        found = os.listdir(folder)
    except OSError:
        continue
    sys.exit(f"readable: {folder} {found}")
for name in ("reward.json", "reward.txt", "other"):
    pathlib.Path("/logs/verifier", name).write_text('{"reward": 1.0, "score": 1.0}')
again = "while True: open('/logs/verifier/reward.json', 'w').write('{}')"
subprocess.Popen([sys.executable, "-c", again], start_new_session=True)
pathlib.Path("/tmp/left-behind").open("x").close()
"""


@needs_containers
def test_submitted_programs_read_no_answers_and_write_no_rewards(
    exported_program: Path, ours: Grade, tmp_path: Path
) -> None:
    """The hostile lines end the program where they reach something: then its score would be another."""
    assert same_as(hand_over(exported_program, tmp_path, HOSTILE), ours)


@needs_containers
@pytest.mark.slow
@pytest.mark.parametrize("name", [listing.id for listing in builtin_listings()])
def test_every_task_scores_as_in_podium(name: str, tmp_path: Path) -> None:
    task = podium.load(name)
    if not task.is_table:
        pytest.skip("programs have tests of their own")
    folder = export_task(name, tmp_path, miniature=True)
    agent = Container.build(folder / "environment", tmp_path / "agent")
    if task.starter is None:
        shutil.copytree(folder / "solution", agent.host("/solution"), dirs_exist_ok=True)
        agent.run(["/solution/solve.sh"], check=True)
    else:  # what its starter code would be trained for
        shutil.copyfile(agent.host(f"/home/data/{task.form.sample}"), agent.host("/home/submission/submission.csv"))
    verifier = Container.build(folder / "tests", tmp_path / "verifier")
    shutil.copytree(agent.host("/home/submission"), verifier.host("/home/submission"))
    done = verifier.run(["/tests/test.sh"])
    assert done.returncode == 0, done.stderr
    ours = podium.grade(task, agent.host("/home/submission/submission.csv"))
    assert same_as(json.loads(verifier.host(REWARD).read_text()), ours), done.stdout


SCRIPT = "values = [float(line) for line in open('data/values.txt')]\nprint('total:', sum(values) + OFFSET)\n"


@needs_containers
def test_custom_task_folder_is_exported(tmp_path: Path) -> None:
    (tmp_path / "mine" / "data").mkdir(parents=True)
    (tmp_path / "mine" / "data" / "values.txt").write_text("1\n2\n")
    (tmp_path / "mine" / "sum.py").write_text(SCRIPT.replace("OFFSET", "1"))
    name = register(tmp_path / "mine", FolderTaskSpec(goal="Raise the total", script="sum.py", score="total"))
    folder = export_task(name, tmp_path)
    assert tomllib.loads((folder / "task.toml").read_text())["artifacts"] == [{"source": "/home", "exclude": ["data"]}]
    verifier = Container.build(folder / "tests", tmp_path / "verifier")
    verifier.host("/home/sum.py").write_text(SCRIPT.replace("OFFSET", "5"))
    done = verifier.run(["/tests/test.sh"])
    assert json.loads(verifier.host(REWARD).read_text())["score"] == 8.0, done


def test_custom_task_file_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = Path(__file__).parents[2] / "examples/podium-example-task/src/podium_example_task"
    monkeypatch.setenv("PODIUM_TASKS", str(tasks))
    folder = export_task("example-orchard", tmp_path, miniature=True)
    submission = folder / "environment" / "data" / "sample_submission.csv"
    assert same_as(
        verify(folder, submit(submission, tmp_path / "home"), tmp_path), podium.grade("example-orchard", submission)
    )


def trial(folder: Path, number: int, agent: str, task: str = COMPETITION, steps: int = 0, **rewards: float) -> None:
    document = {
        "task_name": f"podium/{task}",
        "trial_name": f"{task}__{number}",
        "agent_info": {"name": agent, "version": "1", "model_info": {"name": "m"}},
        "agent_result": {"n_input_tokens": 70, "n_cache_tokens": 5, "n_output_tokens": 30, "cost_usd": 0.25},
        "agent_execution": {"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:01:30Z"},
        "verifier_result": {"rewards": rewards} if rewards else None,
        "finished_at": "2026-01-01T00:00:00Z",
    }
    place = folder / f"{task}__{agent}{number}"
    (place / "agent").mkdir(parents=True)
    (place / "result.json").write_text(json.dumps(document))
    said = [{"step_id": 1, "source": "user", "message": "go"}, *[{"source": "agent", "message": "ls"}] * steps]
    (place / "agent" / "trajectory.json").write_text(json.dumps({"schema_version": "ATIF-v1.7", "steps": said}))


def test_trials_become_an_experiment_that_reports_read(tmp_path: Path) -> None:
    job = tmp_path / "job"
    trial(job, 0, "coder", steps=3, valid=1.0, submitted=1.0, score=0.9, percentile=97.5, gold_medal=1.0)
    trial(job, 1, "coder")
    trial(job, 0, "coder", "BabyLM", valid=1.0, submitted=1.0, score=20.0, improvement=12.5, success=1.0, miniature=1.0)
    out = tmp_path / "imported"
    done = CliRunner().invoke(cli, ["import", str(job), "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {
        "experiment": str(out),
        "agent": "coder (m)",
        "tasks": 2,
        "runs": 3,
        "missing": 1,
    }
    improved, _, first, second = read_results(out).rows
    assert (first.medal, first.score, first.valid, first.percentile) == ("gold", 0.9, True, 97.5)
    assert (first.steps, first.tokens, first.cached_tokens, first.cost, first.wall_s) == (3, 100, 5, 0.25, 90.0)
    assert (second.medal, second.score, second.submitted) == (None, None, False)
    assert (improved.improvement, improved.success, improved.miniature) == (12.5, True, True)
    assert "gold" in CliRunner().invoke(cli, ["report", str(out)]).output


def test_impossible_numbers_of_an_import_are_refused(tmp_path: Path) -> None:
    trial(tmp_path / "job", 0, "coder", valid=1.0, improvement=1e300)
    import_harbor(tmp_path / "job", tmp_path / "out")
    with pytest.raises(podium.PodiumError, match="improvement is 1e"):
        read_results(tmp_path / "out")


def test_trials_of_several_agents_need_a_name(tmp_path: Path) -> None:
    trial(tmp_path / "job", 0, "coder", valid=1.0)
    trial(tmp_path / "job", 1, "writer", valid=1.0)
    done = CliRunner().invoke(cli, ["import", str(tmp_path / "job"), "--out", str(tmp_path / "out")])
    assert "several agents" in str(done.exception)
    trial(tmp_path / "other", 0, "coder", task="nothing-of-ours")
    done = CliRunner().invoke(cli, ["import", str(tmp_path / "other"), "--out", str(tmp_path / "out")])
    assert "is not from Podium" in str(done.exception)
