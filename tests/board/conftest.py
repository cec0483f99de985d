"""A small experiment of a scripted coder, registered and anchored on a board before and while it really ran."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from boards import PUBLISHER, SCRIPT, TASK, Registered

from podium import api
from podium.board.anchoring import Anchoring
from podium.board.client import FolderBoard
from podium.board.ledger import make_board
from podium.board.registration import register
from podium.runs.driver import Driver
from podium.runs.executors import make_executor
from podium.runs.experiment import open_experiment
from podium.runs.models import Plan
from podium.workspace.budget import Budget


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    api.prepare(TASK, data_dir=folder, miniature=True)
    return folder


def make_plan(folder: Path, data_dir: Path) -> Plan:
    """A coder that writes a script and runs it."""
    actions = [
        {"action": "write_file", "arguments": {"file_name": "code/train.py", "content": SCRIPT}},
        {"action": "execute_script", "arguments": {"script_name": "code/train.py"}},
    ]
    (folder / "script.json").write_text(json.dumps(actions))
    options = {"script": str(folder / "script.json")}
    return Plan(agent="scripted", options=options, data_dir=data_dir, miniature=True, budget=Budget(time_s=600.0))


@pytest.fixture(scope="session")
def registered(tmp_path_factory: pytest.TempPathFactory, data_dir: Path) -> Registered:
    """Two seeds. To be copied, not changed."""
    folder = tmp_path_factory.mktemp("registered")
    experiment = open_experiment(folder / "experiment", make_plan(folder, data_dir), [TASK], 2)
    make_board(folder / "board", "Tests").close()
    board = FolderBoard(folder / "board")
    registration = register(experiment, board, PUBLISHER)
    with Anchoring(experiment, board, PUBLISHER, registration) as anchoring:
        Driver(experiment).carry_out(make_executor(parallel=2), anchoring.note)
    assert not anchoring.unsent
    return Registered(experiment, board, registration)


@pytest.fixture(scope="session")
def other(registered: Registered, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same plan carried out again, without a registration."""
    experiment = open_experiment(tmp_path_factory.mktemp("other") / "experiment", registered.experiment.plan, [TASK], 2)
    Driver(experiment).carry_out(make_executor(parallel=2))
    return experiment.folder
