"""Whole evaluations by Inspect inside `bubblewrap`, offline, with scripted models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inspect_ai import Task, eval  # noqa: A004 (Inspect's name)
from inspect_ai.agent import Agent, AgentState, agent, react, sandbox_agent_bridge
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessageTool, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, bash, bash_session, python
from inspect_ai.util import SandboxEnvironmentSpec, sandbox

from podium.sandbox.inspect_provider import PodiumSandbox
from podium.sandbox.spec import SandboxSpec


@pytest.fixture(autouse=True)
def inspect_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "inspect"))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


def answer(output: ModelOutput) -> ModelOutput:
    # Without a usage Inspect would count tokens, for which it downloads a vocabulary.
    output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
    return output


def call(tool: str, **arguments: object) -> ModelOutput:
    return answer(ModelOutput.for_tool_call("mockllm/model", tool, dict(arguments)))


def scripted(*outputs: ModelOutput) -> Model:
    return get_model("mockllm/model", custom_outputs=list(outputs), memoize=False)


def run(task: Task, model: Model) -> EvalSample:
    (log,) = eval(task, model=model, display="none")
    assert log.status == "success", log.error
    assert log.samples
    return log.samples[0]


def observations(sample: EvalSample) -> list[str]:
    return [message.text for message in sample.messages if isinstance(message, ChatMessageTool)]


def loop(*tools: Tool) -> Agent:
    return react(tools=list(tools))


def test_an_agent_works_with_files_setup_and_tools(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    task = Task(
        dataset=[
            Sample(
                input="Add the numbers.",
                target="6",
                files={"data/numbers.txt": "1\n2\n3\n"},
                setup="echo prepared > setup.txt",
            )
        ],
        solver=loop(bash(timeout=30), python(timeout=30)),
        scorer=includes(),
        sandbox=SandboxEnvironmentSpec("bubblewrap", SandboxSpec(workspace=workspace)),
    )
    code = "print(sum(map(int, open('data/numbers.txt'))))"
    model = scripted(
        call("bash", command="cat setup.txt; pwd; whoami"), call("python", code=code), call("submit", answer="6")
    )
    sample = run(task, model)
    assert observations(sample)[:2] == ["prepared\n/home\nagent\n", "6\n"]
    assert sample.scores is not None
    assert sample.scores["includes"].value == "C"
    assert (workspace / "data" / "numbers.txt").read_text() == "1\n2\n3\n"


def test_the_command_line_needs_only_the_name() -> None:
    task = Task(dataset=[Sample(input="Look.")], solver=loop(bash()))
    model = scripted(call("bash", command="cat /proc/1/comm; id -u"), call("submit", answer="x"))
    (log,) = eval(task, model=model, display="none", sandbox="bubblewrap")
    assert log.status == "success"
    assert log.samples
    assert observations(log.samples[0])[0].endswith("1000\n")


def test_a_timed_out_tool_shows_its_output_and_the_agent_goes_on() -> None:
    task = Task(dataset=[Sample(input="Wait.")], solver=loop(bash(timeout=5)), sandbox="bubblewrap")
    model = scripted(
        call("bash", command="echo epoch 1; sleep 60"), call("bash", command="echo alive"), call("submit", answer="x")
    )
    sample = run(task, model)
    late, alive, *_ = (message for message in sample.messages if isinstance(message, ChatMessageTool))
    assert late.error is not None
    assert late.error.type == "timeout"
    assert "epoch 1" in late.text + late.error.message
    assert alive.text == "alive\n"


def test_a_time_limit_ends_the_sample_and_its_programs() -> None:
    seen: list[PodiumSandbox] = []

    @solver
    def endless() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            environment = sandbox().as_type(PodiumSandbox)
            seen.append(environment)
            await environment.exec(["sh", "-c", "sleep 3601 & sleep 3602"])
            return state

        return solve

    task = Task(dataset=[Sample(input="Wait.")], solver=endless(), sandbox="bubblewrap", time_limit=1)
    sample = run(task, scripted())
    assert sample.limit is not None
    assert sample.limit.type == "time"
    assert not seen[0].sandbox.is_running
    assert not seen[0].sandbox.workspace.exists()


@pytest.mark.slow
def test_a_shell_session_keeps_its_state() -> None:
    task = Task(dataset=[Sample(input="Count.")], solver=loop(bash_session()), sandbox="bubblewrap")
    model = scripted(
        call("bash_session", action="type_submit", input="cd /tmp; x=41"),
        call("bash_session", action="type_submit", input="echo $((x + 1)) $PWD"),
        call("submit", answer="42"),
    )
    assert "42 /tmp" in observations(run(task, model))[1]


@pytest.mark.slow
def test_programs_inside_reach_a_model_through_the_bridge_without_network() -> None:
    client = """
import json, time, urllib.request
body = json.dumps({"model": "inspect", "messages": [{"role": "user", "content": "hello"}]}).encode()
for attempt in range(50):
    try:
        request = urllib.request.Request("http://localhost:PORT/v1/chat/completions", body,
                                         {"Content-Type": "application/json", "Authorization": "Bearer none"})
        print(urllib.request.urlopen(request, timeout=60).read().decode())
        break
    except urllib.error.URLError as error:
        if not isinstance(error.reason, ConnectionRefusedError):
            raise
        time.sleep(0.2)
"""
    printed: list[str] = []

    @agent
    def program() -> Agent:
        async def execute(state: AgentState) -> AgentState:
            async with sandbox_agent_bridge(state) as bridge:
                done = await sandbox().exec(["python", "-c", client.replace("PORT", str(bridge.port))])
                printed.append(done.stdout + done.stderr)
                return bridge.state

        return execute

    task = Task(dataset=[Sample(input="Talk.")], solver=program(), sandbox="bubblewrap")
    sample = run(task, scripted(answer(ModelOutput.from_content("mockllm/model", "good day"))))
    reply = json.loads(printed[0])
    assert reply["choices"][0]["message"]["content"] == "good day"
    assert "good day" in [message.text for message in sample.messages]
