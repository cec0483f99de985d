"""Coding agents of presets in real runs: their tools are steps, their tokens counted, cores leased as they compute."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from driving import page_of, story, verified
from model_server import Behaviour, Call, Fault, Reply, Request, serving
from running import TASK
from tiny_agent import write_preset

from podium.agents.coding.find_python import find_python
from podium.agents.coding.install_agent import folder_of, install, installed, uninstall
from podium.agents.coding.presets import FOLDER, preset_agent, preset_names
from podium.cli.agents.agents import command
from podium.errors import PodiumError, UsageError
from podium.integrity.scan_runs import scan
from podium.leases import default_pool
from podium.runs.steps import Steps
from podium.workspace.budget import Budget
from podium.workspace.journal.events import Step
from podium.workspace.journal.observations import ProgramOutput

AGENT = "tiny_preset:agent"
MODEL = {"agent": AGENT, "model": "openai-api/podium/scripted"}
COPY = "cp /home/data/sample_submission.csv /home/submission/submission.csv"


@pytest.fixture(scope="session")
def preset_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A preset of a package, as its users would offer one."""
    folder = tmp_path_factory.mktemp("package")
    path = write_preset(folder)
    module = "from pathlib import Path\nfrom podium.agents.coding.presets import preset_agent\n"
    (folder / "tiny_preset.py").write_text(f"{module}agent = preset_agent(Path({str(path)!r}))\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", f"{folder}:{os.environ.get('PYTHONPATH', '')}")
        yield path
    sys.modules.pop("tiny_preset", None)


@pytest.fixture
def ready(preset_file: Path) -> Path:
    """The same, installed."""
    install(preset_agent(preset_file).preset)
    return preset_file


def number_of(request: Request) -> int:
    return sum(message["role"] == "tool" for message in request["messages"])


def typing(*commands: str) -> Behaviour:
    """Types commands one after the other, then says that it is done."""

    def answer(request: Request, rng: random.Random) -> Reply:
        number = number_of(request)
        if number < len(commands):
            return Reply(calls=(Call("Shell", {"cmd": commands[number]}),), input_tokens=100 + number)
        return Reply("All done.", input_tokens=1000)

    return answer


def test_missing_preset_names_the_install_command(preset_file: Path) -> None:
    agent = preset_agent(preset_file)
    uninstall(agent.preset)
    with pytest.raises(UsageError, match="podium agents install tiny-agent"):
        agent.check(agent.Options())


def test_installation_is_recorded_and_happens_once(ready: Path) -> None:
    preset = preset_agent(ready).preset
    found = installed(preset)
    assert found is not None and found.versions["tiny-agent"] == "1.0" and found.size_bytes > 0
    assert install(preset) == found
    changed = preset.model_copy(update={"files": {"a": "b"}})
    assert folder_of(changed) != folder_of(preset) and installed(changed) is None


def test_every_tool_call_is_a_step_with_its_own_snapshot_and_the_tokens_are_the_servers(
    play: Callable[..., Any], ready: Path, tmp_path: Path
) -> None:
    commands = (
        "ls /home/data; env | grep -c TINY; ls /private/answers.csv",
        f"echo 1 > /home/code/note && {COPY}",
        "exit 3",
        "ls $HOME/settings; printf 'cur%s' 'l http://example.org' > $HOME/.tiny/mine.sh",
    )
    with serving(typing(*commands)) as server:
        row = play(**MODEL, model_base_url=server.url, budget=Budget(wall_s=1200))
    record, steps = row.record, Steps(row.folder)
    assert record.valid and record.ended_by == "the agent", record.error
    names = [step.action.name for step in steps.all]
    assert names == ["run_command"] * 4 + ["message", "program_end"]
    assert steps.all[1].action.arguments == {"command": commands[1]}
    results = [text for _, text in story(row.folder)]
    assert "sample_submission.csv" in results[0] and "\n1" in results[0]
    assert results[2].startswith("exit code 3") and "tiny.json" in results[3]
    assert "All done." in results[-1]
    assert record.usage.tokens == server.tokens and record.usage.steps == 6
    assert "sha256:" in record.versions["tiny-agent"]
    snapshots = [step.snapshot for step in row.folder.read_journal().all_of(Step)]
    with row.folder.read_history() as history:
        written = ["code/note" in history.contents(snapshot) for snapshot in snapshots]
    assert written == [False, True, True, True, True, True]
    stored = sum(path.stat().st_size for path in row.folder.path.rglob("*") if path.is_file())
    assert stored < 1_000_000  # the program's own files are elsewhere
    assert not verified(row.folder).problems
    (scanned,) = scan([row.folder.path])
    found = {finding.kind: finding for finding in scanned.findings}
    assert found["private data sought"].step == 1 and found["network tried"].file == "agent/.tiny/mine.sh"
    assert "external model called" not in found  # its own program in its own folder
    page = page_of(row.folder, tmp_path / "index.sqlite")
    assert ">private data sought</strong>" in page and "echo 1 > /home/code/note" in page and "Program end" in page


def test_cores_are_held_while_it_computes_and_not_while_its_model_thinks(play: Callable[..., Any], ready: Path) -> None:
    held: list[int] = []
    patience_s = 300.0

    def thinking(request: Request, rng: random.Random) -> Reply:
        deadline = time.monotonic() + patience_s
        while default_pool().holders() and time.monotonic() < deadline:
            time.sleep(0.01)
        held.append(len(default_pool().holders()))
        return typing("python3 -c 'sum(range(10**6))'", COPY)(request, rng)

    with serving(thinking) as server:
        row = play(**MODEL, model_base_url=server.url, budget=Budget(wall_s=1200))
        assert row.record.valid and held == [0, 0, 0], row.record.error
        held.clear()
        patience_s = 0.5
        row = play(**MODEL, model_base_url=server.url, out="kept", lease="always", budget=Budget(wall_s=1200))
    assert row.record.valid and held == [1, 1, 1]


def test_killed_run_continues_its_conversation(play: Callable[..., Any], ready: Path, tmp_path: Path) -> None:
    commands = ("echo one >> /home/code/log", "echo two >> /home/code/log", f"{COPY}; cat /home/code/log")
    killed: list[int] = []

    def deadly(request: Request, rng: random.Random) -> Reply:
        if number_of(request) == 2 and not killed:
            (lock,) = tmp_path.glob(f"experiment/{TASK}/*/.lock")
            killed.append(int(lock.read_text()))
            os.kill(killed[0], signal.SIGKILL)
        return typing(*commands)(request, rng)

    with serving(deadly) as server:
        row = play(**MODEL, model_base_url=server.url, budget=Budget(wall_s=1200))
        assert killed and row.record is None
        row = play(**MODEL, model_base_url=server.url, budget=Budget(wall_s=1200))
    assert row.record.valid, row.record.error
    done = [step for step in Steps(row.folder).all if isinstance(step.observation, ProgramOutput)][:-1]
    assert [step.action.arguments["command"] for step in done] == list(commands)  # nothing is recorded twice
    assert done[-1].observation.text.endswith("one\ntwo")  # nor done
    assert not verified(row.folder).problems


def test_unresponsive_model_fails_the_run_with_its_error(play: Callable[..., Any], ready: Path) -> None:
    def refusing(request: Request, rng: random.Random) -> Fault:
        return Fault(status=401, message="this key is not known")

    with serving(refusing) as server:
        row = play(**MODEL, model_base_url=server.url, budget=Budget(wall_s=1200))
    assert row.record.status == "failed"
    assert "this key is not known" in row.record.error and "--retry" in row.record.error


def test_steps_end_the_program_in_order(play: Callable[..., Any], ready: Path) -> None:
    with serving(typing(COPY, *["echo again"] * 50)) as server:
        row = play(**MODEL, model_base_url=server.url, budget=Budget(steps=3, wall_s=1200))
    assert row.record.valid and row.record.ended_by == "steps" and row.record.usage.steps == 3


@pytest.mark.parametrize(
    ("typo", "said"),
    [
        (("protocol", "protcol"), "protocol is missing; protcol is unknown"),
        (("megabytes = 20", "megabytes = 'few'"), "install.megabytes: Input should be a valid integer"),
        (
            ("run_command", "run_comand"),
            "tools: .*the action 'run_comand' of the tool 'Shell' is unknown; known actions: .*run_command",
        ),
        (('"messages"', '"messages'), r"Illegal character .* \(at line 3"),
    ],
)
def test_a_typo_in_a_preset_is_named(typo: tuple[str, str], said: str, tmp_path: Path) -> None:
    path = write_preset(tmp_path)
    path.write_text(path.read_text().replace(*typo))
    with pytest.raises(UsageError, match=f"tiny-agent.toml is not a valid preset: {said}"):
        preset_agent(path)


def test_a_broken_agent_of_a_package_does_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_preset(tmp_path)
    path.write_text(path.read_text().replace("protocol", "protcol"))
    code = "from pathlib import Path\nfrom podium.agents.coding.presets import preset_agent\n"
    (tmp_path / "broken_preset.py").write_text(f"{code}agent = preset_agent(Path({str(path)!r}))\n")
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[podium.agents]\nbroken = broken_preset:agent\n")
    monkeypatch.syspath_prepend(tmp_path)
    printed = CliRunner().invoke(command, []).output
    assert "protcol is unknown" in printed and "codex" in printed


def test_required_python_version_is_found_in_pyenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shims, versions = tmp_path / "shims", tmp_path / "versions" / "3.99.2" / "bin"
    for folder, script in ((shims, "exit 127"), (versions, "echo /somewhere/python3.99 3.99.2")):
        folder.mkdir(parents=True)
        (folder / "python3.99").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "python3.99").chmod(0o755)
    monkeypatch.setenv("PATH", str(shims))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert find_python("3.99") == ("/somewhere/python3.99", "3.99.2")
    assert find_python("3.98") is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "requires Python 3.98, which was not found.*--python"),
        (Path("/nowhere/python"), "--python /nowhere/python is not a working Python"),
        (Path(sys.executable), "is Python 3.*but tiny-agent requires Python 3.98"),
    ],
)
def test_missing_python_version_is_reported_with_instructions(given: Path | None, said: str, preset_file: Path) -> None:
    preset = preset_agent(preset_file).preset
    preset = preset.model_copy(update={"install": preset.install.model_copy(update={"python": "3.98"})})
    with pytest.raises(UsageError, match=said):
        install(preset, python=given)


@pytest.mark.parametrize(("kind", "variable"), [("pypi", "PIP_INDEX_URL"), ("npm", "npm_config_registry")])
def test_unresponsive_registry_is_named_as_the_reason(
    kind: str, variable: str, preset_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "npm" and shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    for name in ("PIP_RETRIES", "npm_config_fetch_retries"):
        monkeypatch.setenv(name, "0")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]  # the port has no listener after it is closed
    monkeypatch.setenv(variable, f"http://127.0.0.1:{port}/")
    preset = preset_agent(preset_file).preset
    wanted = preset.install.model_copy(update={"kind": kind, "packages": ("tiny-agent-of-nobody",)})
    with pytest.raises(PodiumError, match=r"(ECONNREFUSED|No matching distribution)[\s\S]*Check the network"):
        install(preset.model_copy(update={"install": wanted}))


def test_missing_npm_is_reported_with_instructions(preset_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preset = preset_agent(preset_file).preset
    wanted = preset.install.model_copy(update={"kind": "npm", "packages": ("tiny-agent-of-nobody",)})
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PodiumError, match=r"npm is not installed\. It comes with Node\.js"):
        install(preset.model_copy(update={"install": wanted}))


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_that_comes_with_podium_can_be_read(name: str) -> None:
    assert preset_agent(FOLDER / f"{name}.toml").preset.name == name
