"""Packages of examples/: installed like third-party packages and used without changes to Podium."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PACKAGES = sorted(path for path in EXAMPLES.iterdir() if (path / "pyproject.toml").exists())


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all example packages installed."""
    folder, build = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("build")
    subprocess.run(["cp", "-r", *PACKAGES, build], check=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    packages = [build / path.name for path in PACKAGES]
    subprocess.run([*pip, "--no-index", "--no-build-isolation", "--target", folder, *packages], check=True)
    return folder


def podium(installed: Path, home: Path, *arguments: str | Path) -> str:
    """Return the output of a command with the packages installed."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "PODIUM_HOME": str(home)}
    command = [sys.executable, "-m", "podium", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_package_per_kind() -> None:
    names = [path.name.removeprefix("podium-example-") for path in PACKAGES]
    assert names == ["agent", "backend", "executor", "suite", "task"]


def test_plugins_of_packages_are_listed(installed: Path, tmp_path: Path) -> None:
    assert "frequent" in podium(installed, tmp_path, "agents")
    assert "example-orchard" in podium(installed, tmp_path, "tasks")
    starters = podium(installed, tmp_path, "tasks", "--suite", "starters", "--json")
    listed = {task["id"] for task in json.loads(starters)}
    assert listed == {"spaceship-titanic", "forge-tabular-classification-medium-101"}


def test_run_with_plugins_of_packages(installed: Path, tmp_path: Path) -> None:
    options = ["--agent", "frequent", "--sandbox", "polite", "--on", "sequential", "--miniature", "--json"]
    (record,) = json.loads(
        podium(installed, tmp_path, "run", "example-orchard", *options, "--out", tmp_path / "experiment")
    )
    assert (record["status"], record["valid"], record["score"]) == ("finished", True, 0.5)
    assert record["medal"] is None
    verdict = json.loads(podium(installed, tmp_path, "verify", tmp_path / "experiment", "--json"))
    assert verdict["passed"] and [run["passed"] for run in verdict["runs"]] == [True]


CONFORMANCE = """
from pathlib import Path
from podium_example_executor import SequentialExecutor
from podium.runs.drive.executors.executor_conformance import check_executor
from podium import prepare
data = Path({data!r})
prepare("spaceship-titanic", miniature=True, data_dir=data)
check_executor(SequentialExecutor, Path({out!r}), "spaceship-titanic", data)
"""


@pytest.mark.packaging
def test_executor_conforms(installed: Path, tmp_path: Path) -> None:
    code = CONFORMANCE.format(data=str(tmp_path / "data"), out=str(tmp_path / "out"))
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
