"""A small task, and runs on it by way of the driver, as `podium run` does them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from running import TASK, drive, write_script
from s3_server import Relay, s3_server

from podium import api
from podium.runs.attempt.grade_run import write_curve
from podium.runs.drive.driver import Driver, FollowedRun
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan
from podium.workspace.budget import Budget

Run = Callable[..., FollowedRun]

os.environ.setdefault("PODIUM_API_KEY", "none")  # the key of the model "openai-api/podium/..."; workers inherit it


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the miniature of a task has been prepared."""
    folder = tmp_path_factory.mktemp("data")
    api.prepare(TASK, data_dir=folder, miniature=True)
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Callable[[list[tuple[str, dict[str, Any]]]], Path]:
    """Writes a list of actions for the scripted agent."""
    return lambda actions: write_script(tmp_path / "script.json", actions)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, data_dir: Path, perfect: str) -> Path:
    """A small experiment that was really run: two seeds, a curve, long texts. To be copied, not changed."""
    folder = tmp_path_factory.mktemp("finished")
    sample = (data_dir / f"{TASK}@miniature" / "public" / "sample_submission.csv").read_text()
    actions: list[tuple[str, dict[str, Any]]] = [
        ("write_file", {"file_name": "submission/submission.csv", "content": sample}),
        ("write_file", {"file_name": "code/notes.txt", "content": "\x1b[31mlong " * 2000}),
        ("write_file", {"file_name": "submission/submission.csv", "content": perfect}),
    ]
    script = write_script(folder / "script.json", actions)
    budget = Budget(time_s=500.0)
    options = {"script": str(script)}
    plan = Plan(agent="scripted", options=options, data_dir=data_dir, miniature=True, budget=budget)
    experiment = open_experiment(folder / "experiment", plan, [TASK], 2)
    Driver(experiment).run_all(make_executor(parallel=2))
    for run in experiment.runs():
        write_curve(run, TASK, plan)
    return experiment.folder


@pytest.fixture
def play(tmp_path: Path, data_dir: Path) -> Run:
    """Runs an agent on the task in the experiment `out`, or continues it; the row of the run."""

    def play_(
        agent: str = "scripted", out: str = "experiment", budget: Budget | None = None, **options: Any
    ) -> FollowedRun:
        plan_options = {name: options.pop(name) for name in list(options) if name in Plan.model_fields}
        texts = {name: str(value) for name, value in options.items()}
        plan_options = {"data_dir": data_dir, "miniature": True, "budget": budget or Budget()} | plan_options
        plan = Plan(agent=agent, options=texts, **plan_options)
        return drive(tmp_path / out, plan)

    return play_


@pytest.fixture(scope="session")
def perfect(data_dir: Path) -> str:
    """A submission that is right in every row."""
    answers = pd.read_csv(data_dir / f"{TASK}@miniature" / "private" / "test.csv")
    return answers[["PassengerId", "Transported"]].to_csv(index=False)


@pytest.fixture(scope="session")
def s3() -> Iterator[Relay]:
    """The way to an S3 server with an empty bucket."""
    pytest.importorskip("moto")
    with s3_server() as relay:
        yield relay
