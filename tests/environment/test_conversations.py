"""Exported conversations contain messages and rewards, and nothing that the agent never saw."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from driving import drive
from model_server import Reply, Request, serving

import podium
from podium.cli import podium as cli
from podium.environment.conversations import REMOVED, conversations, redact_keys
from podium.environment.environment import Environment
from podium.environment.export_conversations import export_run
from podium.runs.experiment import find_run
from podium.runs.records import Plan

pq = pytest.importorskip("pyarrow.parquet")

TASK = "forge-tabular-classification-tiny-t1"
KEY = "very-secret-value-of-a-key"
SUBMIT = "cp data/sample_submission.csv submission/submission.csv"
ACTIONS = [
    {"action": "run_command", "arguments": {"command": f"{SUBMIT}; echo {KEY}"}},
    {"action": "read_file", "arguments": {"file_name": "data/description.md"}},
    {"action": "final_answer", "arguments": {"final_answer": "done"}},
]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of an environment."""
    with Environment(out=tmp_path_factory.mktemp("out")) as environment:
        environment.reset(TASK)
        for action in ACTIONS:
            environment.step(action)
        return environment.run


def test_an_episode_is_one_conversation_with_its_reward_at_the_last_step(played: Path) -> None:
    (talk,) = conversations(find_run(played))
    said = [json.loads(message.content) for message in talk.messages if message.generated]
    assert [entry["action"] for entry in said] == [entry["action"] for entry in ACTIONS]
    assert [message.role for message in talk.messages] == ["assistant", "user"] * 3
    assert "area under the ROC curve" in talk.messages[3].content
    record = find_run(played).read_record()
    assert record is not None and record.percentile is not None
    assert [message.reward for message in talk.messages if message.generated] == [0, 0, record.percentile / 100]


def test_neither_answers_nor_keys_are_exported(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    target = tmp_path / "messages.parquet"
    assert export_run(find_run(played), target, "messages") == 1
    text = json.dumps(pq.read_table(target).to_pylist())
    assert KEY not in text
    assert REMOVED in text
    answers = podium.prepare(TASK).place.private / "test.csv"
    assert not [line for line in answers.read_text().splitlines()[1:] if line in text]


@pytest.mark.parametrize(
    "key", ["sk-abcdefghijklmnopqrstuvwx", "hf_ABCDEFGHIJKLMNOPqrstuv", "ghp_0123456789abcdefghij"]
)
def test_text_that_looks_like_a_key_is_redacted(key: str) -> None:
    assert redact_keys(f"my key is {key}.") == f"my key is {REMOVED}."


@pytest.mark.parametrize("word", ["<skills_instructions>", "skateboarding_championships", "hfs_partition_table_reader"])
def test_words_that_start_like_a_key_are_kept(word: str) -> None:
    assert redact_keys(word) == word


def answer(request: Request, rng: Random) -> Reply:
    first = not any(message["role"] == "assistant" for message in request["messages"])
    text = "I copy the sample.\n" if first else "Done.\n"
    script = f"```bash\n{SUBMIT}\n```" if first else "I am finished."
    return Reply(text + script, logprobs=(("I", -0.1), (" copy", -0.7)))


def test_calls_of_a_model_become_conversations_with_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_API_KEY", "none")
    with serving(answer) as server:
        podium.prepare(TASK)
        plan = Plan(
            agent="react",
            model="openai-api/podium/scripted",
            model_base_url=server.url,
            budget=podium.Budget(steps=3, time_s=60.0),
        )
        drive(tmp_path / "experiment", plan, TASK)
        asked = len(server.served)
    run = find_run(tmp_path / "experiment" / TASK / "0")
    talks = conversations(run)
    generated = [message for talk in talks for message in talk.messages if message.generated]
    assert len(generated) == asked
    target = tmp_path / "tokens.parquet"
    export_run(run, target, "tokens")
    rows = pq.read_table(target).to_pylist()
    assert rows[0]["tokens"] == ["I", " copy"]
    assert rows[0]["logprobs"] == pytest.approx([-0.1, -0.7])
    assert rows[0]["mask"] == [1, 1]
    assert rows[0]["token_ids"] is None


def test_the_command_writes_beside_the_run_and_says_where(played: Path) -> None:
    done = CliRunner().invoke(cli, ["export", str(played), "--format", "tokens", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {"file": str(played / "tokens.parquet"), "rows": 3}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "--format", "messages"], "is not a run"),
        (["nowhere", "--format", "messages", "--out", "rows.jsonl"], "Give a name that ends with .parquet"),
        (["nowhere", "--format", "csv"], "Invalid value for '--format'"),
        (["nowhere", "--format", "harbor"], "There is no task or suite 'nowhere'"),
    ],
)
def test_mistakes_are_explained(arguments: list[str], said: str) -> None:
    done = CliRunner().invoke(cli, ["export", *arguments])
    assert done.exit_code != 0
    assert said in done.output + str(done.exception)
