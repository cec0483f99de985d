"""Real coding agents, as their registries have them, in the sandbox: run with make test-coding-agents."""

from __future__ import annotations

import json
import os
import random
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import driving
import pytest
from model_server import Behaviour, Call, Fault, ModelServer, Reply, Request, last_text, serving, text_of, tool_names
from talkers import TASK, TRAIN

from podium import api
from podium.agents.coding.coding_agent import CodingAgent
from podium.agents.coding.find_python import find_python, missing_python_message
from podium.agents.coding.install_agent import install
from podium.agents.coding.presets import FOLDER, preset_agent, preset_names
from podium.data.home import home
from podium.integrity.scan_runs import scan
from podium.runs.drive.driver import FollowedRun
from podium.runs.records import Plan
from podium.runs.steps import Steps
from podium.workspace.budget import Budget
from podium.workspace.journal.observations import Refusal

pytestmark = pytest.mark.coding

SHELLS = {
    "Bash": "command",
    "bash": "command",
    "exec_command": "cmd",
    "run_shell_command": "command",
    "terminal": "command",
}
"""The tools by which agents run commands, and what they call the command."""
BESIDE_COMMANDS: dict[str, dict[str, object]] = {
    "exec_command": {},
    "terminal": {"timeout": 1200, "security_risk": "LOW"},  # without a time OpenHands asks back after 30 s
}
"""Their further arguments, where they take no description."""
COMPETITION, RESEARCH = TASK, "house-price"
PRICES = """
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

train, test = pd.read_csv("/home/data/train.csv"), pd.read_csv("/home/data/test.csv")
columns = [name for name in test.select_dtypes("number") if name != "Id"]
model = HistGradientBoostingRegressor(max_iter=50, random_state=0).fit(train[columns], train["SalePrice"])
test["SalePrice"] = model.predict(test[columns])
test[["Id", "SalePrice"]].to_csv("/home/submission/submission.csv", index=False)
"""
SCRIPTS = {
    COMPETITION: TRAIN.replace('"data/', '"/home/data/').replace('"submission/', '"/home/submission/'),
    RESEARCH: PRICES,
}
LOOK = "head -3 /home/data/*.csv; cat /home/remaining_time.txt; env"
RUN = "python /home/code/train.py && sh /home/validate_submission.sh /home/submission/submission.csv"
SECRET = "sk-never-inside"


def commands(task: str) -> list[str]:
    """What a coder types: it looks at the data, writes a script and runs it."""
    return [LOOK, f"cat > /home/code/train.py <<'END'\n{SCRIPTS[task]}END", RUN]


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("data")
    api.prepare(COMPETITION, data_dir=folder)
    api.prepare(RESEARCH, data_dir=folder, miniature=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PODIUM_API_KEY", SECRET)
        yield folder


@pytest.fixture(scope="session")
def installations() -> None:
    """What an earlier call has installed is found again, where a folder is named for it."""
    if kept := os.environ.get("PODIUM_CODING_AGENTS"):
        Path(kept).mkdir(parents=True, exist_ok=True)
        (home() / "agents").symlink_to(kept)


@pytest.fixture(params=preset_names())
def coder(request: pytest.FixtureRequest, installations: None) -> type[CodingAgent]:
    """Each agent, installed."""
    agent = preset_agent(FOLDER / f"{request.param}.toml")
    wanted = agent.preset.install.python
    if find_python(wanted) is None:
        pytest.skip(missing_python_message(agent.preset.name, wanted))
    install(agent.preset)
    return agent


def working(task: str) -> Behaviour:
    """A model that does the task with the tools of whichever agent asks, or in the form that it wants answers in."""

    def answer(request: Request, rng: random.Random) -> Reply:
        offered = tool_names(request)
        if "submit_review" in offered:  # AIDE has its model judge what a script printed
            review = {"is_bug": "Traceback" in text_of(request), "summary": "It works.", "metric": 0.9}
            return Reply(calls=(Call("submit_review", {**review, "lower_is_better": False}),))
        if shell := next((name for name in offered if name in SHELLS), None):
            return by_shell(request, shell, commands(task))
        if "/home/code/run.sh" in text_of(request):
            return Reply(f"/home/code/run.sh\n```\n{chr(10).join(commands(task)[1:])}\n```")
        if "```" in text_of(request) and not offered:
            return Reply(f"As it should be.\n```python\n{SCRIPTS[task].replace('/home/submission/', 'working/')}\n```")
        return Reply("All done.")

    return answer


def commands_run(request: Request, wanted: list[str]) -> int:
    """How many of some commands a conversation has; Gemini CLI repeats results when it takes one up again."""
    calls = [call["function"] for message in request["messages"] for call in message.get("tool_calls") or ()]
    said = [value for call in calls for value in json.loads(call["arguments"]).values()]
    return sum(command in said for command in wanted)


def by_shell(request: Request, shell: str, wanted: list[str]) -> Reply:
    number = commands_run(request, wanted)
    if waits := re.search(r"Process running with session ID (\d+)", last_text(request)):  # Codex waits no longer
        return Reply("", calls=(Call("write_stdin", {"session_id": int(waits[1]), "chars": ""}),))
    if number < len(wanted):
        command = wanted[number]
    elif "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" in text_of(request):  # how mini-swe-agent is told to end
        command = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    else:
        return Reply("All done.")
    arguments = {SHELLS[shell]: command, **BESIDE_COMMANDS.get(shell, {"description": "what is next"})}
    return Reply("Next.", calls=(Call(shell, arguments),), input_tokens=500 + number)


def compete(agent: type[CodingAgent], task: str, server: ModelServer, data_dir: Path, folder: Path) -> FollowedRun:
    name = agent.preset.name
    plan = Plan(
        agent=name,
        options={"arguments": "agent.steps=1"} if name == "aideml" else {},
        model="openai-api/podium/scripted",
        model_base_url=server.url,
        data_dir=data_dir,
        miniature=task == RESEARCH,
        budget=Budget(wall_s=1800),
    )
    return driving.drive(folder / "experiment", plan, task)


def typed(row: FollowedRun) -> list[str]:
    """The commands that are steps of a run, but for one whose result was lost when the run was killed."""
    done = [step for step in Steps(row.folder).all if step.action.name == "run_command"]
    return [str(step.action.arguments["command"]) for step in done if not isinstance(step.observation, Refusal)]


@pytest.mark.parametrize("task", [COMPETITION, RESEARCH])
def test_it_works_on_a_task_with_its_own_tools(
    coder: type[CodingAgent], task: str, prepared: Path, tmp_path: Path
) -> None:
    with serving(working(task)) as server:
        row = compete(coder, task, server, prepared, tmp_path)
    record = row.record
    assert record is not None and record.ended_by == "the agent", record
    assert record.valid and (record.medal or task == RESEARCH), Steps(row.folder).all
    assert record.usage.tokens == server.tokens > 0
    assert coder.preset.name in record.versions
    if coder.preset.tools:
        assert typed(row) == commands(task)
    page = driving.page_of(row.folder, tmp_path / "index.sqlite")
    assert "Program end" in page and ("validate_submission.sh" in page or not coder.preset.tools)
    assert [(found.problems, found.findings) for found in scan([row.folder.path])] == [((), ())]
    kept = [path for path in row.folder.path.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in kept) < 20_000_000  # the program's own files are elsewhere
    everywhere = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in path.read_bytes() for path in everywhere)


def test_a_killed_agent_resumes_or_restarts_and_ends_in_order(
    coder: type[CodingAgent], prepared: Path, tmp_path: Path
) -> None:
    if not coder.preset.tools:
        pytest.skip("it has no tool calls to be killed between")
    behaviour, killed = working(COMPETITION), []

    def deadly(request: Request, rng: random.Random) -> str | Reply | Fault:
        if commands_run(request, commands(COMPETITION)) == 2 and not killed:
            (lock,) = tmp_path.glob("experiment/*/*/.lock")
            killed.append(int(lock.read_text()))
            os.kill(killed[0], signal.SIGKILL)
        return behaviour(request, rng)

    with serving(deadly) as server:
        assert compete(coder, COMPETITION, server, prepared, tmp_path).record is None
        row = compete(coder, COMPETITION, server, prepared, tmp_path)
    assert killed and row.record is not None and row.record.ended_by == "the agent", row.record
    assert row.record.valid and row.record.medal, Steps(row.folder).all
    done, wanted = typed(row), commands(COMPETITION)
    assert done == wanted if coder.preset.resume else done[-3:] == wanted
    assert not driving.verified(row.folder).problems
