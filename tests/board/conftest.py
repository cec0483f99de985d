"""A small experiment of a scripted coder, registered and anchored on a board before and while it really ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from boards import PUBLISHER, SCRIPT, TASK, Registered, anchor, registration

from podium import api
from podium.board.anchor import Anchoring
from podium.board.board_client import FolderBoard
from podium.board.keys import Signed, make_key
from podium.board.ledger.keeper_decisions import decide
from podium.board.ledger.ledger import Ledger, make_board
from podium.board.ledger.statements import Publication, ReproductionStatement, sign
from podium.board.register import register
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan
from podium.workspace.budget import Budget

STRANGER = make_key()


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
        Driver(experiment).run_all(make_executor(parallel=2), anchoring.note)
    assert not anchoring.unsent
    return Registered(experiment, board, registration)


@pytest.fixture(scope="session")
def other(registered: Registered, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same plan carried out again, without a registration."""
    experiment = open_experiment(tmp_path_factory.mktemp("other") / "experiment", registered.experiment.plan, [TASK], 2)
    Driver(experiment).run_all(make_executor(parallel=2))
    return experiment.folder


def row(agent: str, mean: float, registered: Signed | None, **changes: Any) -> dict[str, Any]:
    """A row as a check computes it."""
    return {
        "agent": agent,
        "model": "openai/gpt-5",
        "measure": "any_medal",
        "mean": mean,
        "sem": 1.5,
        "interval": [mean - 3, mean + 3],
        "per_seed": [mean],
        "tasks": 22,
        "seeds": 3,
        "unfinished": 0,
        "by": "A. Team",
        "publisher": PUBLISHER.public,
        "light": False,
        "licence": "",
        "notes": "",
        "registration": registered.digest if registered else None,
        "podium": "0.1.0",
        "podium_sha256": "0" * 64,
        "class": {"budget": "time_s 86400", "network": False, "sandbox": "bubblewrap", "cores": 8, "gpus": 1},
        "scan": {
            "runs": 1,
            "unread": 0,
            "concerns": {"network tried": 1},
            "practices": {},
            "shown": [{"place": "x/0, step 1", "kind": "network tried", "confidence": 0.9, "reason": "fetches <b>"}],
        },
        "runs": [
            {
                "task": "spaceship-titanic",
                "seed": 0,
                "status": "finished",
                "score": 0.8,
                "medal": "gold",
                "improvement": None,
                "highlights": "9 steps in 2 attempts",
            }
        ],
        "disclosures": {"retrieval": "none"},
        **changes,
    }


@pytest.fixture
def shown_board(tmp_path: Path) -> Ledger:
    """A board with three entries in two classes, one of them removed, and one that attacks its readers."""
    ledger = make_board(tmp_path / "board", "A <board>")
    registered = registration(ledger)
    ledger.append(registered, anchor(ledger, registered))
    hostile = row("<script>alert(1)</script>", 90.0, registered, notes="=1+1 \x1b[31m</table>", by="=cmd()")
    hostile["class"] = {**hostile["class"], "network": True}
    for digit, entry in (("a", row("aide", 40.0, registered)), ("b", hostile), ("c", row("mcts", 50.0, None))):
        bundle = digit * 64
        ledger.append(sign(Publication(board=ledger.key.public, bundle=bundle, registration=None), PUBLISHER))
        decide(ledger.folder, bundle, "accepted", "fine", row=entry)
    for seed in (0, 7):  # the entry has no run with seed 7
        for key in (PUBLISHER, STRANGER, ledger.key):
            said = ReproductionStatement(
                board=ledger.key.public, bundle="a" * 64, task=TASK, seed=seed, outcome="identical", detail="the same"
            )
            ledger.append(sign(said, key))
    again = said.model_copy(update={"seed": 0, "detail": "again"})
    ledger.append(sign(again, STRANGER))
    decide(ledger.folder, "c" * 64, "removed", "its publisher asked")
    return ledger
