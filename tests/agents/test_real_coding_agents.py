"""Real coding agents, as their registries have them, in the sandbox: run with make test-coding-agents."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from talkers import TASK, TRAIN

import driving
from model_server import Call, Reply, Request, serving, tool_names
from podium import api
from podium.agents.presets import FOLDER, preset_agent, preset_names
from podium.agents.presets.install import install
from podium.runs.models import Plan
from podium.runs.steps import Steps
from podium.workspace.budget import Budget

pytestmark = pytest.mark.coding

PRESETS = [name for name in preset_names() if preset_agent(FOLDER / f"{name}.toml").preset.tools]
"""Those that can be installed, and drive a shell."""
SHELLS = {"Bash": "command", "bash": "command", "exec_command": "cmd", "run_shell_command": "command"}
COMPETITION, RESEARCH = TASK, "vectorization"
WORK = {
    COMPETITION: [
        "head -3 /home/data/*.csv; cat /home/remaining_time.txt",
        f"cat > /home/code/train.py <<'END'\n{TRAIN}END",
        "python /home/code/train.py && sh /home/validate_submission.sh /home/submission/submission.csv",
    ],
    RESEARCH: [
        "ls /home",
        "cat /home/data/description.md | head -20; env; cat /proc/self/mountinfo",
        "touch /home/code/x",
    ],
}
SECRET = "sk-never-inside"


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("data")
    api.prepare(COMPETITION, data_dir=folder)
    api.prepare(RESEARCH, data_dir=folder, miniature=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PODIUM_API_KEY", SECRET)
        yield folder


def working(task: str) -> Any:
    """A model that drives the shell of whichever agent asks."""

    def answer(request: Request, rng: random.Random) -> Reply:
        shell = next((name for name in tool_names(request) if name in SHELLS), None)
        number = sum(message["role"] == "tool" for message in request["messages"])
        if shell is None or number >= len(WORK[task]):
            return Reply("All done.")
        arguments = {SHELLS[shell]: WORK[task][number]}
        if shell in ("Bash", "bash", "run_shell_command"):
            arguments["description"] = "what is next"
        return Reply("Next.", calls=(Call(shell, arguments),), input_tokens=500 + number)

    return answer


@pytest.mark.parametrize("task", [COMPETITION, RESEARCH])
@pytest.mark.parametrize("name", PRESETS)
def test_it_works_on_a_task_with_its_own_tools(name: str, task: str, prepared: Path, tmp_path: Path) -> None:
    if preset_agent(FOLDER / f"{name}.toml").preset.protocol == "google":
        pytest.importorskip("google.genai")
    install(preset_agent(FOLDER / f"{name}.toml").preset)
    with serving(working(task)) as server:
        plan = Plan(
            agent=name,
            model="openai-api/podium/scripted",
            model_base_url=server.url,
            data_dir=prepared,
            miniature=task == RESEARCH,
            budget=Budget(wall_s=300),
        )
        row = driving.drive(tmp_path / "experiment", plan, task)
    record, steps = row.record, Steps(row.folder)
    assert record is not None and record.ended_by == "the agent", record
    typed = [step.action.arguments["command"] for step in steps.all if step.action.name == "run_command"]
    assert typed == WORK[task]
    assert record.usage.tokens == server.tokens
    assert name in record.versions
    if task == COMPETITION:
        assert record.valid and record.medal, record.error
    stored = sum(path.stat().st_size for path in row.folder.path.rglob("*") if path.is_file())
    assert stored < 20_000_000
    assert SECRET not in json.dumps(server.requests)  # what it saw of its variables is there
    for path in row.folder.path.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
