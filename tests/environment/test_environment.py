"""Environments are runs with external decisions: same sandbox, journal, budget and grade."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import podium
from podium.environment.environment import Environment, StepResult
from podium.environment.rewards import gain, milestones, weighted
from podium.errors import UsageError
from podium.workspace.budget import Budget

TASK = "forge-tabular-classification-tiny-t1"
EVALUATION = "forge-tabular-classification-tiny-1"
SUBMIT = "cp data/sample_submission.csv submission/submission.csv"
FIT = """
import numpy as np
import pandas as pd
train, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")
names, (row, outcome) = test.columns[10:18], pd.read_csv("data/sample_submission.csv").columns
weights = np.linalg.lstsq(train[names], train[outcome], rcond=None)[0]
chance = (test[names] @ weights).rank(pct=True)
test[[row]].assign(**{outcome: chance}).to_csv("submission/submission.csv", index=False)
print(set(names))
print("podium-metric: 0.6")
"""


def shell(command: str) -> dict[str, Any]:
    return {"action": "run_command", "arguments": {"command": command}}


def write(name: str, content: str) -> dict[str, Any]:
    return {"action": "write_file", "arguments": {"file_name": name, "content": content}}


EPISODE: list[dict[str, Any] | str] = [
    shell(SUBMIT),
    write("fit.py", FIT),
    {"action": "execute_script", "arguments": {"script_name": "fit.py"}},
    "not an action",
    {"action": "final_answer", "arguments": {"final_answer": "done"}},
]


@pytest.fixture
def environment() -> Iterator[Environment]:
    with Environment(reward=weighted({gain: 1.0, milestones: 0.5})) as opened:
        yield opened


def play(environment: Environment, task: str, seed: int = 0) -> list[StepResult]:
    environment.reset(task, seed)
    return [environment.step(action) for action in EPISODE]


def test_the_same_actions_give_the_same_observations_and_rewards(environment: Environment) -> None:
    first, second = play(environment, TASK, 7), play(environment, TASK, 7)
    assert [step[:4] for step in first] == [step[:4] for step in second]
    assert [step.reward != 0 for step in first] == [True, False, True, False, False]
    assert "There is no action 'not an action'" in first[3].observation
    assert (first[-1].terminated, first[-1].truncated) == (True, False)


def test_an_episode_is_a_run_that_verifies(tmp_path: Path) -> None:
    with Environment(out=tmp_path) as environment:
        last = play(environment, TASK)[-1]
        run = environment.run
    assert last.reward == last.info["grade"]["percentile"] / 100 > 0
    found = podium.verify(run.parent.parent)
    assert found.summary == "Verified 1 of 1 run."
    assert next((run / "history").iterdir(), None) is not None


def test_grades_of_other_tasks_are_known_only_at_the_end(environment: Environment) -> None:
    steps = play(environment, EVALUATION)
    assert [step.info["grade"] is not None for step in steps] == [False] * 4 + [True]
    assert steps[0].info["milestones"] == ["valid"]
    assert steps[-1].info["grade"]["valid"]
    assert steps[-1].reward > 0


def test_fork_continues_independently_from_the_same_state(environment: Environment) -> None:
    environment.reset(TASK)
    environment.step(shell(f"{SUBMIT}; echo first > notes.txt"))
    with environment.fork() as other:
        other.step(shell("echo second >> notes.txt; rm submission/submission.csv"))
        assert other.step(shell("cat notes.txt")).observation.endswith("first\nsecond")
        assert not other.step(EPISODE[-1]).info["valid"]
    assert environment.step(shell("cat notes.txt")).observation.endswith("first")
    assert environment.step(EPISODE[-1]).info["valid"]


def test_a_fork_before_the_first_step_is_a_fresh_episode(environment: Environment) -> None:
    environment.reset(TASK)
    with environment.fork() as other:
        assert other.step(shell("ls submission")).observation == "exit code 0"


def test_the_budget_truncates_an_episode() -> None:
    with Environment(budget=Budget(steps=2)) as environment:
        environment.reset(TASK)
        environment.step(shell(SUBMIT))
        last = environment.step(shell("ls"))
        assert (last.terminated, last.truncated, last.info["ended_by"]) == (False, True, "steps")
        assert last.info["grade"]["valid"]
        with pytest.raises(UsageError, match="Call reset"):
            environment.step(shell("ls"))


def test_a_step_that_takes_too_long_is_interrupted() -> None:
    with Environment(budget=Budget(time_s=1.0)) as environment:
        environment.reset(TASK)
        last = environment.step(shell("sleep 60"))
        assert last.truncated
        assert last.info["ended_by"] == "working time"


def test_many_environments_run_in_parallel() -> None:
    async def one(seed: int) -> float:
        with Environment() as environment:
            await environment.reset_async(TASK, seed)
            await environment.step_async(shell(f"{SUBMIT}; echo {seed}"))
            return (await environment.step_async(EPISODE[-1])).reward

    async def all_of_them() -> list[float]:
        return await asyncio.gather(*(one(seed) for seed in range(6)))

    assert len(set(asyncio.run(all_of_them()))) == 1


def test_close_during_an_episode_stops_the_run_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = Environment(out=tmp_path)
    environment.reset(TASK)
    run = environment.run
    environment.close()
    environment.close()
    assert '"status": "stopped"' in (run / "run.json").read_text()
    with pytest.raises(UsageError, match="Call reset first"):
        environment.step(shell("ls"))


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


def test_cancelled_step_completes_and_the_episode_continues(environment: Environment) -> None:
    async def impatient() -> None:
        await environment.reset_async(TASK)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(environment.step_async(shell("sleep 3; echo done > notes.txt")), 0.2)
        with pytest.raises(UsageError, match="still running"):
            await environment.step_async(shell("ls"))

    asyncio.run(impatient())
    until(lambda: environment._current().turn.done())
    assert environment.step(shell("cat notes.txt")).observation.endswith("done")
    with environment.fork() as other:
        assert other.step(shell("cat notes.txt")).observation.endswith("done")


def test_episode_that_ended_between_steps_reports_it_at_the_next_step(tmp_path: Path) -> None:
    with Environment(budget=Budget(wall_s=5.0), out=tmp_path) as environment:
        environment.reset(TASK)
        until(lambda: '"status": "finished"' in (environment.run / "run.json").read_text())
        last = environment.step(shell("ls"))
        assert last.truncated and last.info["ended_by"] == "time"


def test_dropped_environment_leaves_nothing_behind() -> None:
    environment = Environment()
    environment.reset(TASK)
    folder = environment.run
    del environment
    until(lambda: not folder.exists())
    until(lambda: not any(thread.name == "podium-episode" for thread in threading.enumerate()))


def test_wrong_settings_are_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="There is no setting 'colour'"):
        Environment(colour="red").reset(TASK)
    with pytest.raises(UsageError, match="from 0 to"):
        Environment().reset(TASK, -1)
    with pytest.raises(podium.PodiumError, match="miniature"):
        Environment().reset("spaceship-titanic")


@pytest.mark.parametrize("tool", ["gymnasium", "openenv", "verifiers"])
def test_adapter_without_its_tool_names_the_package_to_install(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gymnasium", "openenv.core.env_server", "verifiers.v1"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"podium.interop.{tool}", raising=False)
    with pytest.raises(podium.PodiumError, match=r"pip install 'podium\[training\]'"):
        import_module(f"podium.interop.{tool}")
