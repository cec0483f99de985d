"""Programs as agents: MLE-bench's contract, and model access without a key or a network."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from model_server import Call, Reply, Request, serving, tool_names

from podium.agents.base import Assignment, Remaining
from podium.agents.command import task_environment
from podium.catalog.registry import load
from podium.runs.steps import Steps
from podium.workspace.budget import Budget

ASK = """
import os
from openai import OpenAI
client = OpenAI()
answer = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "How many?"}])
print("the model says", answer.choices[0].message.content, answer.usage.total_tokens)
for part in client.chat.completions.create(model="x", messages=[{"role": "user", "content": "More?"}], stream=True):
    print("streamed", part.choices[0].delta.content)
choice = {"type": "function", "name": "count"}
count = {**choice, "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}
found = client.responses.create(model="x", input="Count!", tools=[count], tool_choice=choice)
print("responded", [(part.name, part.arguments) for part in found.output if part.type == "function_call"])
print("key", os.environ["OPENAI_API_KEY"])
"""


def answer(request: Request, rng: random.Random) -> str | Reply:
    return Reply(calls=(Call("count", {"n": 42}),)) if tool_names(request) else "forty-two"


def test_mle_bench_agents_find_their_folders_and_variables(play: Any, tmp_path: Path) -> None:
    files = tmp_path / "agent"
    files.mkdir()
    (files / "start.sh").write_text(
        "echo $GREETING $COMPETITION_ID $AGENT_DIR $CODE_DIR $LOGS_DIR $PWD\n"
        "echo proxy $HTTPS_PROXY; grep -c 'limited to these hosts.* pypi.org' /home/instructions.txt\n"
        "cp /home/data/sample_submission.csv $SUBMISSION_DIR/submission.csv\n"
    )
    row = play(agent="command", command="bash start.sh", files=files, variables="GREETING=hello", network=("pypi.org",))
    assert row.record.valid
    sandbox = row.folder.read_record().sandbox
    assert (sandbox.hosts, sandbox.network) == (("pypi.org",), "hosts")
    assert "proxy http://localhost:3128\n1" in Steps(row.folder).observation(1).text
    assert (
        "hello spaceship-titanic /home/agent /home/code /home/logs /home/agent" in Steps(row.folder).observation(1).text
    )


def test_obfuscated_competition_hides_its_origin() -> None:
    def told(task: str) -> dict[str, str]:
        assignment = Assignment(task=load(task), seed=0, instructions="", public=Path("/nowhere"), remaining=Remaining)
        return task_environment(assignment, "")

    assert told("spaceship-titanic")["COMPETITION_ID"] == "spaceship-titanic"
    assert "titanic" not in str(told("obfuscated-spaceship-titanic"))


def test_models_are_reached_through_the_real_client_and_counted(play: Any, tmp_path: Path) -> None:
    files = tmp_path / "agent"
    files.mkdir()
    (files / "ask.py").write_text(ASK)
    with serving(answer) as server:
        row = play(
            agent="command",
            command="python ask.py",
            files=files,
            model="openai-api/podium/scripted",
            model_base_url=server.url,
        )
    observation = Steps(row.folder).observation(1).text
    assert "the model says forty-two 120" in observation
    assert "streamed forty-two" in observation
    assert """responded [('count', '{"n": 42}')]""" in observation
    assert "key podium" in observation
    assert len(server.requests) == 3
    assert row.record.usage.tokens == 360
    assert row.record.usage.output_tokens == 60


INSISTING = """
import openai
client = openai.OpenAI(max_retries=0)
for _ in range(50):
    try:
        client.chat.completions.create(model="x", messages=[{"role": "user", "content": "?"}])
    except openai.APIError:
        pass
"""


def test_model_requests_are_refused_after_the_token_limit(play: Any, tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "ask.py").write_text(INSISTING)
    with serving(answer) as server:
        row = play(
            agent="command",
            command="python ask.py",
            files=tmp_path / "agent",
            model="openai-api/podium/scripted",
            model_base_url=server.url,
            budget=Budget(tokens=200),
        )
    assert row.record.ended_by == "tokens"
    assert len(server.requests) == 2, "each takes 120"


def test_a_program_without_a_model_has_no_endpoint(play: Any) -> None:
    row = play(
        agent="command", command="env | grep -c OPENAI; python -c 'import openai; openai.OpenAI()' 2>&1 | tail -1"
    )
    assert "0" in Steps(row.folder).observation(1).text.splitlines()[1]
