"""The agents that talk to a model, against every behaviour of one: a clear end, and accounts that add up."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from driving import verified
from model_server import Behaviour, dead, dropping, endless_talker, rate_limited, refusing, serving, silent, slow
from talkers import (
    INJECTION,
    SECOND_THOUGHTS,
    SOLUTION,
    TASK,
    WINNER,
    babbling,
    coder,
    compete,
    gullible,
    is_aside,
    malformed,
    story,
)

from podium.cli.follow_experiment import describe
from podium.models.call_recorder import request_sha256
from podium.runs.drive.driver import FollowedRun
from podium.runs.experiment import run_folder
from podium.workspace.budget import Budget
from podium.workspace.journal.events import ModelCall, Step
from podium.workspace.journal.journal import read_journal


def _slow(name: Any) -> Any:
    return pytest.param(name, marks=pytest.mark.slow)


AGENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("research", {}),
    "tools": ("research", {"protocol": "tools"}),
    "react": ("react", {}),
}
agents = pytest.mark.parametrize("name", AGENTS)
in_text = pytest.mark.parametrize("name", [name if name == "text" else _slow(name) for name in AGENTS])
plainly = pytest.mark.parametrize("name", [name if name == "react" else _slow(name) for name in AGENTS])


def play(
    name: str, behaviour: Behaviour, folder: Path, data: Path, budget: Budget | None = None, **further: Any
) -> FollowedRun:
    """A run against a behaviour; what it used must be what was served."""
    agent, options = AGENTS[name]
    with serving(behaviour) as server:
        row = compete(folder, server, data, agent, budget, **{**options, **further})
    assert row.record is not None
    assert row.record.usage.tokens == server.tokens
    calls = model_calls(row)
    assert {call.request_sha256 for call in calls} <= {request_sha256(request) for request in server.requests}
    assert len({call.response_id for call in calls} - {None}) == len(calls)
    assert row.record.usage.output_tokens == sum(reply.output_tokens for reply in server.served)
    return row


def model_calls(row: FollowedRun) -> list[ModelCall]:
    return [call for step in read_journal(row.folder.journal).all_of(Step) for call in step.calls]


def check_finished(row: FollowedRun) -> None:
    assert row.record is not None
    assert (row.record.status, row.record.ended_by, row.record.valid) == ("finished", "the agent", True)
    assert not row.record.fallback


@agents
def test_a_good_coder_wins_a_medal(name: str, tmp_path: Path, data_dir: Path) -> None:
    row = play(name, coder(WINNER), tmp_path / "run", data_dir)
    check_finished(row)
    assert row.record is not None and row.record.medal is not None
    check = "run_command" if name == "react" else "validate_submission"
    assert [action for action, _ in story(row)] == [
        *("list_files", "write_file", "execute_script", check, "final_answer")
    ]
    assert row.record.validations == 1
    assert "Submission is valid" in story(row)[3][1]
    assert len(model_calls(row)) == len(story(row))
    assert verified(row.folder).passed


@plainly
def test_a_buggy_coder_sees_the_error_and_mends_it(name: str, tmp_path: Path, data_dir: Path) -> None:
    row = play(name, coder(SECOND_THOUGHTS), tmp_path / "run", data_dir)
    check_finished(row)
    assert "KeyError: 'no column'" in story(row)[1][1]


@in_text
def test_sloppy_answers_are_asked_for_again(name: str, tmp_path: Path, data_dir: Path) -> None:
    row = play(name, babbling(coder()), tmp_path / "run", data_dir, attempts=2)
    check_finished(row)
    assert row.record is not None and row.record.usage.steps == len(SOLUTION)


@pytest.mark.parametrize("behaviour", [malformed, endless_talker, _slow(silent), _slow(refusing)])
@pytest.mark.parametrize("name", ["text", _slow("tools"), "react"])
def test_a_run_without_usable_answers_ends_with_a_reason(
    name: str, behaviour: Behaviour, tmp_path: Path, data_dir: Path
) -> None:
    row = play(name, behaviour, tmp_path / "run", data_dir, attempts=3, max_tokens=300)
    assert row.record is not None
    assert (row.record.status, row.record.ended_by, row.record.valid) == ("finished", "the agent", True)
    assert row.record.fallback, "what is submitted is the sample submission it began with"
    action, observation = story(row)[-1]
    assert action == "final_answer"
    assert observation.startswith("The agent gave up after 3 unusable answers of the model. The last problem: ")


@plainly
def test_a_model_that_breaks_down_leaves_its_submission(name: str, tmp_path: Path, data_dir: Path) -> None:
    good = coder()

    def fading(request: Any, rng: Any) -> Any:
        answer = good(request, rng)
        return "The weather is fine." if "Submission is valid" in str(request["messages"]) else answer

    row = play(name, fading, tmp_path / "run", data_dir, attempts=2)
    check_finished(row)
    assert "unusable answers of the model" in story(row)[-1][1]


@in_text
def test_orders_inside_the_data_reach_nothing(name: str, tmp_path: Path, data_dir: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(data_dir, data, symlinks=True)
    brief = data / TASK / "public" / "description.md"
    brief.chmod(0o644)
    brief.write_text(f"{brief.read_text()}\n{INJECTION}\n")
    moves = [SOLUTION[0]] * 4 + SOLUTION[1:]
    row = play(name, gullible(coder(moves)), tmp_path / "run", data)
    check_finished(row)
    seen = story(row)
    assert "outside the workspace" in seen[1][1]
    assert "No such file" in seen[3][1] or "Permission denied" in seen[3][1]


@pytest.mark.slow
@agents
@pytest.mark.parametrize("worsen", [rate_limited, dropping, slow])
def test_a_bad_line_costs_nothing_but_time(name: str, worsen: Any, tmp_path: Path, data_dir: Path) -> None:
    check_finished(play(name, worsen(coder()), tmp_path / "run", data_dir))


def check_salvaged(row: FollowedRun) -> None:
    """What a failed run had submitted is graded, and the grade can be checked."""
    record = row.record
    assert record is not None and record.valid and record.score is not None
    assert row.folder.submission.exists()
    assert f"last submission: score {record.score}, no medal" in describe(row)
    assert verified(row.folder).passed
    row.folder.write_record(record.model_copy(update={"score": 0.99}))
    assert "score" in verified(row.folder).checks["grade"]
    row.folder.write_record(record)


@plainly
def test_a_dead_model_fails_the_run_which_can_go_on_later(name: str, tmp_path: Path, data_dir: Path) -> None:
    agent, options = AGENTS[name]
    options = {**options, "log": False} if agent == "research" else options
    good = coder()

    def dying(request: Any, rng: Any) -> Any:
        answer = good(request, rng)
        return dead(request, rng) if "ended without an error" in str(request["messages"][-2:]) else answer

    current = dying
    with serving(lambda request, rng: current(request, rng)) as server:
        row = compete(tmp_path / "run", server, data_dir, agent, retries=0, **options)
        assert row.record is not None and row.record.status == "failed"
        assert "gave no answer" in str(row.record.error)
        assert "overloaded" in str(row.record.error)
        check_salvaged(row)
        current = good
        row = compete(tmp_path / "run", server, data_dir, agent, retries=0, **options)
    check_finished(row)
    assert [action for action, _ in story(row)][:3] == ["list_files", "write_file", "execute_script"]


def test_a_model_that_fails_immediately_leaves_the_sample_submission(tmp_path: Path, data_dir: Path) -> None:
    with serving(dead) as server:
        row = compete(tmp_path / "run", server, data_dir, "react", retries=0)
    assert row.record is not None
    assert (row.record.status, row.record.valid, row.record.fallback) == ("failed", True, True)
    assert "overloaded" in str(row.record.error)
    assert verified(row.folder).passed


def test_a_role_may_be_served_elsewhere(tmp_path: Path, data_dir: Path) -> None:
    with serving(coder()) as main, serving(coder()) as fast:
        row = compete(
            tmp_path / "run",
            main,
            data_dir,
            "research",
            roles={"fast": f"openai-api/podium/fast@{fast.url}"},
            log=True,
        )
    check_finished(row)
    assert {request["model"] for request in main.requests} == {"scripted"}
    assert {request["model"] for request in fast.requests} == {"fast"}
    assert row.record is not None and row.record.usage.tokens == main.tokens + fast.tokens


def test_settings_reach_the_roles_that_actions_ask(tmp_path: Path, data_dir: Path) -> None:
    edit = ("edit_script", {"script_name": "a.py", "edit_instruction": "Print 1.", "save_name": "a.py"})
    settings = json.dumps({"edit": {"temperature": 0.5, "max_tokens": 300}})
    with serving(coder([edit, SOLUTION[-1]])) as server:
        compete(tmp_path / "run", server, data_dir, "react", max_tokens=900, top_p=0.9, role_settings=settings)
    aside = next(request for request in server.requests if is_aside(request))
    assert (aside["max_tokens"], aside["temperature"], aside["top_p"]) == (300, 0.5, 0.9)


@pytest.mark.slow
def test_the_research_log_is_in_the_workspace_for_retrieval(tmp_path: Path, data_dir: Path) -> None:
    reflect = ("reflection", {"things_to_reflect_on": "What did I learn?"})
    row = play("text", coder([*SOLUTION[:-1], reflect, SOLUTION[-1]]), tmp_path / "run", data_dir, retrieval=True)
    check_finished(row)
    actions = [action for action, _ in story(row)]
    assert actions.count("append_summary_to_research_log") == 4
    assert (row.folder.workspace / "research_log.log").read_text().count("Noted") == 4


def kill_at(folder: Path, length: int) -> None:
    """Kills the worker of a run when its journal has so many lines."""
    run = run_folder(folder, TASK, 0)
    deadline = time.monotonic() + 300
    while not run.journal.exists() or len(read_journal(run.journal)) < length:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError, ValueError):
        os.kill(int(run.lock.read_text()), signal.SIGKILL)


@in_text
def test_a_killed_run_goes_on_to_tell_the_same_story(name: str, tmp_path: Path, data_dir: Path) -> None:
    agent, options = AGENTS[name]
    undisturbed = play(name, coder(SECOND_THOUGHTS), tmp_path / "undisturbed", data_dir)
    with serving(coder(SECOND_THOUGHTS)) as server:
        for length in (3, 6):
            killer = threading.Thread(target=kill_at, args=(tmp_path / "killed", length))
            killer.start()
            row = compete(tmp_path / "killed", server, data_dir, agent, **options)
            killer.join()
        row = compete(tmp_path / "killed", server, data_dir, agent, **options)
    check_finished(row)
    assert story(row) == story(undisturbed)
    assert row.record is not None and undisturbed.record is not None
    assert row.record.submission_sha256 == undisturbed.record.submission_sha256
    assert verified(row.folder).passed


@plainly
def test_steps_and_tokens_are_limited(name: str, tmp_path: Path, data_dir: Path) -> None:
    row = play(name, coder([SOLUTION[0]]), tmp_path / "steps", data_dir, Budget(steps=3))
    assert row.record is not None and (row.record.ended_by, row.record.usage.steps) == ("steps", 3)
    row = play(name, coder([SOLUTION[0]]), tmp_path / "tokens", data_dir, Budget(tokens=500))
    assert row.record is not None and row.record.ended_by == "tokens"
