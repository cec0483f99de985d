"""The miniature that runs of these tests work on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from corpus_runs import carry_out, load_cases, prepare_data

from podium.runs.run_folder import RunFolder

os.environ.setdefault("PODIUM_API_KEY", "none")  # the key of the model "openai-api/podium/..."; workers inherit it


@pytest.fixture(scope="session")
def spaceship_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    prepare_data(folder, ["spaceship-titanic"])
    return folder


@pytest.fixture(scope="session")
def caught(tmp_path_factory: pytest.TempPathFactory, spaceship_data: Path) -> RunFolder:
    """A run that looked for the answers, not scanned yet."""
    case = next(each for each in load_cases("cheats") if each.name == "cheats/find_answers")
    return carry_out(case, tmp_path_factory.mktemp("caught"), spaceship_data)[0]
