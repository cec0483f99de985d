"""Honest experiments of many kinds are never refused; honest code reproduces, smuggled submissions do not."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from boards import PUBLISHER, TASK

from podium.board.anchor import Anchoring
from podium.board.board_client import FolderBoard
from podium.board.board_rules import Rules
from podium.board.bundle import Disclosures, write_bundle
from podium.board.check.check_bundle import check
from podium.board.keys import write_key
from podium.board.ledger.ledger import make_board
from podium.board.register import register
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import Experiment, open_experiment, read_experiment
from podium.runs.records import Plan
from podium.verify.reproduce_run import reproduce
from podium.workspace.budget import Budget

pytestmark = pytest.mark.slow
RULES = Rules.model_validate({"name": "Tests", "suite": [TASK], "miniature": True})
RESULT = "/home/submission/submission.csv"
Actions = list[tuple[str, dict[str, Any]]]


def write(name: str, content: str) -> tuple[str, dict[str, Any]]:
    return "write_file", {"file_name": name, "content": content}


def execute(name: str) -> tuple[str, dict[str, Any]]:
    return "execute_script", {"script_name": name}


def coder(column: str, threshold: float) -> str:
    """One of many honest scripts."""
    return f"""
import pandas as pd
test = pd.read_csv("/home/data/test.csv")
test["Transported"] = test["{column}"].fillna(0) > {threshold}
test[["PassengerId", "Transported"]].to_csv("{RESULT}", index=False)
"""


def plan_of(folder: Path, data_dir: Path, actions: Actions, **settings: Any) -> Plan:
    folder.mkdir(parents=True, exist_ok=True)
    document = [{"action": name, "arguments": arguments} for name, arguments in actions]
    (folder / "script.json").write_text(json.dumps(document))
    common: dict[str, Any] = {"data_dir": data_dir, "miniature": True, "budget": Budget(time_s=600.0)}
    return Plan(agent="scripted", options={"script": str(folder / "script.json")}, **common | settings)


def carry_out(experiment: Experiment) -> None:
    Driver(experiment).run_all(make_executor(parallel=2))


COLUMNS = ("Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck")
HONEST: dict[str, tuple[Actions, dict[str, Any], int]] = {
    **{
        f"{seeds} seeds of a coder on {column}": (
            [write("code/a.py", coder(column, 20.0)), execute("code/a.py")],
            {},
            seeds,
        )
        for column, seeds in zip(COLUMNS, (1, 2, 3, 1, 2, 3), strict=True)
    },
    "nothing submitted": ([write("code/a.py", "print(1)"), execute("code/a.py")], {}, 2),
    "an invalid submission": ([write("submission/submission.csv", "a,b\n1,2\n")], {}, 1),
    "a script that crashes": ([write("code/a.py", "1/0"), execute("code/a.py")], {}, 1),
    "a refused action": ([("read_file", {"file_name": "nothing"})], {}, 1),
    "steps as the budget": (
        [write("code/a.py", coder("Age", 20.0)), execute("code/a.py")],
        {"budget": Budget(steps=1)},
        1,
    ),
    "an agent that fails": ([], {"options": {"script": "/nowhere.json"}}, 1),
    "more cores": ([write("code/a.py", coder("Age", 20.0)), execute("code/a.py")], {"cores": 2}, 1),
    "the sample submission": ([], {"agent": "baseline", "options": {}}, 2),
    "recipes": ([], {"agent": "recipes", "options": {}, "budget": Budget(steps=3)}, 1),
    "a command": ([], {"agent": "command", "options": {"command": f"cp /home/data/sample_submission.csv {RESULT}"}}, 1),
}


def judged(experiment: Experiment, board: FolderBoard, registration: str, data_dir: Path) -> list[str]:
    bundle = write_bundle(
        experiment, experiment.folder.parent / "b.zip", PUBLISHER, disclosures=Disclosures(), registration=registration
    )
    return check(bundle.path, RULES, ledger=board.read(), data_dir=data_dir).reasons


@pytest.fixture
def board(tmp_path: Path) -> FolderBoard:
    make_board(tmp_path / "board", "Tests").close()
    return FolderBoard(tmp_path / "board")


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_experiment_is_not_refused(name: str, board: FolderBoard, data_dir: Path, tmp_path: Path) -> None:
    actions, settings, seeds = HONEST[name]
    settings = {"options": {"script": str(tmp_path / "script.json")}} | settings
    plan = plan_of(tmp_path, data_dir, actions).model_copy(update=settings)
    experiment = open_experiment(tmp_path / "experiment", plan, [TASK], seeds)
    registration = register(experiment, board, PUBLISHER)
    with Anchoring(experiment, board, PUBLISHER, registration) as anchoring:
        Driver(experiment).run_all(make_executor(parallel=2), anchoring.note)
    assert judged(experiment, board, registration.id, data_dir) == []


@pytest.mark.parametrize("kills", [1, 2, 3, 4])
def test_a_killed_and_resumed_experiment_is_not_refused(
    kills: int, board: FolderBoard, data_dir: Path, tmp_path: Path
) -> None:
    steps = [write(f"code/{n}.py", f"import time; time.sleep(0.2); print({n})") for n in range(6)]
    actions = [action for n, step in enumerate(steps) for action in (step, execute(f"code/{n}.py"))]
    actions += [write("code/a.py", coder("Age", 20.0)), execute("code/a.py")]
    plan = plan_of(tmp_path, data_dir, actions)
    experiment = open_experiment(tmp_path / "experiment", plan, [TASK], 1)
    write_key(PUBLISHER, tmp_path / "key.pem")
    options = ["--register", str(board.folder), "--key", str(tmp_path / "key.pem")]
    command = [sys.executable, "-m", "podium", "resume", str(experiment.folder), *options]
    registration = register(experiment, board, PUBLISHER)
    journal = experiment.run(TASK, 0).journal
    for kill in range(kills):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            while (
                not (journal.exists() and journal.read_bytes().count(b"\n") > 2 * kill + 2) and process.poll() is None
            ):
                time.sleep(0.05)
            os.kill(process.pid, signal.SIGKILL)
    subprocess.run(command, check=True, capture_output=True)
    assert judged(read_experiment(experiment.folder), board, registration.id, data_dir) == []


def test_honest_code_reproduces(data_dir: Path, tmp_path: Path) -> None:
    """60 runs: 12 scripts with 4 seeds each, and 12 searches."""
    folders = []
    for number in range(12):
        script = coder(COLUMNS[number % 6], 5.0 * number)
        plan = plan_of(tmp_path / f"c{number}", data_dir, [write("code/a.py", script), execute("code/a.py")])
        experiment = open_experiment(tmp_path / f"c{number}" / "experiment", plan, [TASK], 4)
        carry_out(experiment)
        folders += list(experiment.runs())
    search = Plan(agent="recipes", data_dir=data_dir, miniature=True, budget=Budget(steps=4, time_s=300.0))
    experiment = open_experiment(tmp_path / "search", search, [TASK], 12)
    carry_out(experiment)
    folders += list(experiment.runs())
    outcomes = [reproduce(run, data_dir=data_dir).outcome for run in folders]
    assert len(outcomes) == 60
    assert sum(outcome in ("identical", "equivalent") for outcome in outcomes) >= 57, outcomes


def smuggled(table: str) -> list[Actions]:
    """Ways to bring a table of answers along."""
    encoded = base64.b64encode(zlib.compress(table.encode())).decode()
    unpack = f"import base64, zlib; open({RESULT!r}, 'wb').write(zlib.decompress(base64.b64decode({encoded!r})))"
    values = [line.rpartition(",")[2] for line in table.splitlines()[1:]]
    bits = "".join(str(int(value == "True")) for value in values)
    by_place = (
        f"import pandas as pd; t = pd.read_csv('/home/data/sample_submission.csv'); "
        f"t['Transported'] = [c == '1' for c in {bits!r}]; t.to_csv({RESULT!r}, index=False)"
    )
    in_command = f"cat > {RESULT} <<'END'\n{table}END\n"
    return [
        [write("submission/submission.csv", table)],
        [write("code/a.py", f"open({RESULT!r}, 'w').write({table!r})"), execute("code/a.py")],
        [write("code/a.py", unpack), execute("code/a.py")],
        [write("code/a.py", by_place), execute("code/a.py")],
        [("run_command", {"command": in_command})],
        [write("code/t.csv", table), ("run_command", {"command": f"cp code/t.csv {RESULT}"})],
        [write("code/t", table), ("copy_file", {"source": "code/t", "destination": "submission/submission.csv"})],
        [("python_session", {"command": f"open({RESULT!r}, 'w').write({table!r})"})],
        [write("code/reproduce.sh", in_command), ("run_command", {"command": "sh code/reproduce.sh"})],
        [
            write("code/a.py", f"import time; time.sleep(0.1)\n{unpack}"),
            ("run_command", {"command": "python code/a.py"}),
        ],
    ]


def test_smuggled_submissions_do_not_reproduce(data_dir: Path, tmp_path: Path) -> None:
    sample = pd.read_csv(next(data_dir.rglob("sample_submission.csv")))
    outcomes = []
    for number in range(20):
        rng = random.Random(number)
        table = sample.assign(Transported=[rng.random() < 0.5 for _ in range(len(sample))]).to_csv(index=False)
        folder = tmp_path / str(number)
        plan = plan_of(folder, data_dir, smuggled(table)[number % 10])
        experiment = open_experiment(folder / "experiment", plan, [TASK], 1)
        carry_out(experiment)
        outcomes += [reproduce(run, data_dir=data_dir).outcome for run in experiment.runs()]
        shutil.rmtree(folder)
    assert outcomes == ["not reproducible"] * 20
