"""Finding agents, and refusing what they cannot be run with before anything is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from podium.agents import AGENTS, agent_class, agent_names, check_agent
from podium.errors import UsageError
from podium.runs.plan.start_experiment import make_plan

WITH_MODEL = ("aide", "mcts", "evolve", "frontier", "research", "react")


def test_every_agent_is_found_and_has_a_description() -> None:
    assert set(AGENTS) <= set(agent_names())
    for name in AGENTS:
        assert agent_class(name).__doc__
        assert agent_class(name).needs_model == (name in WITH_MODEL)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("reserch", "There is no agent 'reserch'. Did you mean 'research'?"),
        ("nowhere.module:Agent", "cannot be loaded from nowhere.module:Agent: No module named 'nowhere'"),
        ("podium.agents.react:Reactor", "cannot be loaded from podium.agents.react:Reactor"),
        ("os.path:join", "'os.path:join' is not an agent: its class does not inherit from podium.agents.base.Agent"),
    ],
)
def test_unknown_and_invalid_agents_are_named(name: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        agent_class(name)
    assert message in str(error.value)


def test_any_class_can_be_named() -> None:
    assert agent_class("podium.agents.react:React") is agent_class("react")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"agent": "recipes", "options": {"drafts": "3"}},
            "'recipes' has no option 'drafts'. Available options: parallel",
        ),
        ({"agent": "baseline", "options": {"a": ""}}, "has no option 'a'. Available options: none"),
        ({"agent": "command"}, "The agent 'command' requires -A command=VALUE. See: podium agents command"),
        (
            {"agent": "recipes", "options": {"nodes": "0"}},
            "The option -A nodes of the agent 'recipes' is invalid: Input should be greater than or equal to 1",
        ),
        ({"agent": "research", "options": {"show": "fly"}}, "there is no action 'fly'"),
        ({"agent": "recipes", "model_roles": {"fast": "a/b"}}, "'recipes' has no role 'fast'. Available roles: none"),
        (
            {"agent": "aide", "model": "a/b", "model_roles": {"coder": "a/c", "fast": "a/b"}},
            "The agent 'aide' has no role 'fast'. Available roles: coder, reviewer",
        ),
        (
            {"agent": "aide", "model": "a/b", "options": {"role_settings": '{"cook": {}}'}},
            "-A role_settings: there is no role 'cook'. The roles are: coder, reviewer",
        ),
        (
            {"agent": "aide", "model": "a/b", "options": {"role_settings": '{"coder": {"temperature": "hot"}}'}},
            "'temperature' of the role 'coder' is invalid: Input should be a valid number",
        ),
        *(({"agent": name}, f"The agent '{name}' needs a model. Add --model") for name in WITH_MODEL),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        make_plan([], **settings)
    assert message in str(error.value)


def test_roles_that_an_agent_has_are_accepted() -> None:
    for name in WITH_MODEL:
        check_agent(name, {}, has_model=True, roles=agent_class(name).roles)


def podium(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CALL, *arguments], capture_output=True, text=True)


CALL = """
import sys
from podium.cli import main
try:
    main(sys.argv[1:])
finally:
    print("inspect_ai" in sys.modules, file=sys.stderr)
"""


def test_the_command_line_explains_options_and_roles() -> None:
    explained = podium("agents", "aide")
    assert "This agent needs a model: --model MODEL" in explained.stdout
    assert "--role reviewer=MODEL\n      The model that reviews outputs without a score" in explained.stdout
    assert "-A drafts=...  [default: 5]" in explained.stdout


def test_agents_are_listed_without_importing_inspect() -> None:
    done = podium("agents", "--json")
    listed = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert set(AGENTS) <= set(listed)
    assert list(listed["react"]["roles"]) == ["main", "fast", "edit"] and listed["react"]["needs_model"] is True
    assert done.stderr.endswith("False\n")


def test_an_unknown_role_is_wrong_usage() -> None:
    done = podium("run", "quick", "--agent", "react", "--model", "a/b", "--role", "cook=a/b")
    assert done.returncode == 2
    assert "has no role 'cook'. Available roles: main, fast, edit" in done.stderr


ODD = """
from pathlib import Path
from podium.agents.base import Options
from podium.agents.baseline import BaselineAgent
from pydantic import Field

class OddOptions(Options):
    names: tuple[str, ...] = Field(default_factory=lambda: ("a",), description="Some names.")
    folder: Path = Field(Path("here"), description="A folder.")

class Odd(BaselineAgent):
    \"\"\"An agent of another package.\"\"\"
    Options = OddOptions
"""


def test_a_broken_package_hides_no_other_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[podium.agents]\nbroken = broken_agents:X\nodd = odd_agents:Odd\n")
    (tmp_path / "broken_agents.py").write_text("def broken(:\n")
    (tmp_path / "odd_agents.py").write_text(ODD)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    listed = {entry["name"]: entry for entry in json.loads(podium("agents", "--json").stdout)}
    assert "SyntaxError" in listed["broken"]["missing"] and listed["react"]["missing"] is None
    assert [option["default"] for option in listed["odd"]["options"]] == [["a"], "here"]
    said = podium("run", "CLRS", "--agent", "recipes").stderr
    assert "Suitable agents: " in said and "broken" not in said
