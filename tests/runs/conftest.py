"""A small task, and runs on it by way of the driver, as `podium run` does them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from running import TASK, drive, write_script

from podium import api
from podium.runs.driver import FollowedRun
from podium.runs.models import Plan
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
