"""Hostile programs and submissions through `step`: no answer is read, nothing is earned by them, replays agree."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

import podium
from podium.environment.environment import Environment, StepResult
from podium.environment.rewards import gain, milestones, weighted
from podium.safefs.atomic_files import sha256
from podium.sandbox.conformance.fixtures import LIMITS, PROGRAMS
from podium.workspace.budget import Budget

FINISH = {"action": "final_answer", "arguments": {"final_answer": "gold, please"}}
TASK = "forge-tabular-classification-tiny-t5"
MOVES = "move_mounted_folders.pyw"
"""Judges by files that only the conformance suite mounts, and removes all others: has a test of its own."""
ALL = sorted({path.name for path in (PROGRAMS / "reach").glob("*.pyw")} - {MOVES})
NEAREST = ("follow_links.pyw", "import_podium.pyw", "read_hidden_folders.pyw", "read_places_on_the_disk.pyw")
"""Programs that look for files; the others are in the conformance suite of every backend."""


@pytest.fixture
def environment() -> Iterator[Environment]:
    reward = weighted({gain: 1.0, milestones: 0.5})
    with Environment(reward=reward, budget=Budget(steps=100, time_s=600.0)) as opened:
        yield opened


@pytest.fixture(scope="module")
def answers() -> str:
    return (podium.prepare(TASK).place.private / "test.csv").read_text()


def shell(command: str) -> dict[str, Any]:
    return {"action": "run_command", "arguments": {"command": command}}


def write(name: str, content: str) -> dict[str, Any]:
    return {"action": "write_file", "arguments": {"file_name": name, "content": content}}


def attack(environment: Environment, programs: list[str]) -> list[StepResult]:
    """Return the observations of the programs, started in the submission's folder."""
    place = podium.prepare(TASK).place
    paths = {"private": str(place.private / "test.csv"), "other": str(place.manifest), "public": str(place.public)}
    found = {"paths": paths, "port": 9, "addresses": [], "abstract": "none", "socket": "/nowhere", "processes": [1]}
    environment.reset(TASK)
    done = [environment.step(write("targets.json", json.dumps(found)))]
    for name in programs:
        done.append(environment.step(write(name, (PROGRAMS / "reach" / name).read_text())))
        done.append(environment.step(shell(f"exec python {name}")))
    return done


def check(done: list[StepResult], answers: str) -> None:
    rows = [line for line in answers.splitlines()[1:] if line]
    for step in done:
        assert "ACHIEVED" not in step.observation
        assert not [row for row in rows if row in step.observation]


def test_programs_that_look_for_answers_find_none(environment: Environment, answers: str) -> None:
    done = attack(environment, list(NEAREST))
    check(done, answers)
    assert [step.observation.splitlines()[-1] for step in done[2::2]] == ["DONE"] * len(NEAREST)


@pytest.mark.slow
def test_the_whole_corpus_finds_nothing_and_earns_the_same_on_replay(environment: Environment, answers: str) -> None:
    first, second = (attack(environment, ALL) for _ in range(2))
    check([*first, *second], answers)
    assert [step.reward for step in first] == [step.reward for step in second]
    assert environment.step(FINISH).reward == 0


def test_public_data_cannot_be_replaced(environment: Environment) -> None:
    attack(environment, [MOVES])
    seen = environment.step(shell("sha256sum data/train.csv")).observation
    assert sha256(podium.prepare(TASK).place.public / "train.csv") in seen


@pytest.mark.slow
@pytest.mark.parametrize("program", sorted(path.name for path in (PROGRAMS / "harm").iterdir()))
def test_harm_changes_no_reward(program: str, answers: str) -> None:
    """Memory, disk, processes and time are used up, and everybody killed: what was submitted before is what counts."""
    earned = []
    for _ in range(2):
        reward = weighted({gain: 1.0, milestones: 0.5})
        with Environment(reward=reward, budget=Budget(steps=10, time_s=30.0), limits=LIMITS) as environment:
            environment.reset(TASK)
            done = [environment.step(shell("cp data/sample_submission.csv submission/submission.csv"))]
            done.append(environment.step(write(program, (PROGRAMS / "harm" / program).read_text())))
            run = "sh" if program.endswith(".sh") else "python"
            done.append(environment.step(shell(f"{run} {program}")))
            if not done[-1].truncated:
                done.append(environment.step(FINISH))
            check(done, answers)
            earned.append(sum(step.reward for step in done))
    assert earned[0] == earned[1] > 0


def hostile_submissions(answers: str) -> list[dict[str, Any] | str]:
    target, place = "submission/submission.csv", podium.prepare(TASK).place
    return [
        shell(f"ln -sf {place.private / 'test.csv'} {target}"),
        shell(f"rm {target}; mkfifo {target}"),
        shell(f"rm {target}; mkdir {target}"),
        shell(f"rmdir {target}; head -c 30000000 /dev/zero > {target}"),
        shell(f"rm {target}; head -1 data/sample_submission.csv > {target}; echo S000001,1 >> {target}"),
        shell(f"cp data/sample_submission.csv {target}; chmod 0 {target}"),
        shell(f"chmod 600 {target}; echo 'podium-metric: 1e999'; echo 'podium-metric: 0.99'"),
        '{"action": "write_file", "arguments": {"file_name": "\\ud800", "content": "\\udfff"}}',
        '{"action": "run_command", "arguments": {"command": NaN}}',
        "[" * 5000,
        "\0" * 100,
        {"action": "run_command", "arguments": {"command": "true", "grade": "gold"}},
        FINISH,
    ]


def test_hostile_submissions_earn_nothing_and_the_same_on_replay(environment: Environment, answers: str) -> None:
    courses = []
    for _ in range(2):
        environment.reset(TASK)
        courses.append([environment.step(action) for action in hostile_submissions(answers)])
    first, second = courses
    assert [(step.observation, step.reward) for step in first] == [(step.observation, step.reward) for step in second]
    assert [step.info["valid"] for step in first[:5]] == [False] * 5
    sample = podium.grade(TASK, podium.prepare(TASK).place.public / "sample_submission.csv").percentile
    assert sample is not None
    assert sum(step.reward for step in first) == pytest.approx(sample / 100 + 0.5 / 6), "a valid sample is all there is"
    assert first[-1].terminated
    check(first, answers)


def test_the_environment_of_the_trainer_is_not_seen(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINER_API_KEY", "key-of-the-trainer")
    environment.reset(TASK)
    assert "key-of-the-trainer" not in environment.step(shell("env; cat /proc/*/environ")).observation
    assert str(os.getpid()) not in environment.step(shell("ls /proc")).observation.split()
