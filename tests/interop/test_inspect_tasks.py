"""Podium's tasks in Inspect evaluations."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox
from running import TASK

from podium import api
from podium.inspect_internals import MODEL_CLIENT_MODULES, without_model_clients
from podium.interop.inspect_tasks import agent

ROOT = Path(__file__).parents[2]


@solver
def shell(command: str) -> Solver:
    """Runs a shell command in the sandbox and nothing else."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        done = await sandbox().exec(["sh", "-c", command])
        state.metadata["output"] = done.stdout + done.stderr
        return state

    return solve


@pytest.mark.parametrize(
    ("command", "valid", "said"),
    [
        (
            "cp data/sample_submission.csv submission/submission.csv && ./validate_submission.sh $PWD/submission/*.csv",
            1.0,
            "Submission is valid.",
        ),
        ("ln -s /home/data/sample_submission.csv submission/submission.csv; ls /home", 0.0, "instructions.txt"),
    ],
)
def test_a_podium_task_is_scored_with_medals(
    command: str, valid: float, said: str, data_dir: Path, tmp_path: Path
) -> None:
    [log] = inspect_eval(
        "podium/task",
        task_args={"id": TASK, "miniature": True, "data_dir": str(data_dir)},
        solver=shell(command),
        model="mockllm/model",
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success"
    assert log.samples is not None
    [sample] = log.samples
    assert said in sample.metadata["output"]
    assert sample.scores is not None
    assert sample.scores["medals"].value["valid"] == valid  # type: ignore[index]
    assert log.results is not None
    assert {score.name for score in log.results.scores} == {"score", "any_medal", "gold", "valid"}


def test_podium_agent_solves_a_suite(data_dir: Path, tmp_path: Path) -> None:
    tiny = ("forge-tabular-classification-tiny-1", "forge-tabular-regression-tiny-1")
    [log] = inspect_eval(
        "podium/suite",
        task_args={"name": list(tiny), "data_dir": str(data_dir)},
        solver=agent(name="baseline"),
        model="mockllm/model",
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success"
    assert [(sample.id, sample.scores["medals"].value["valid"]) for sample in log.samples or ()] == [  # type: ignore[index]
        (task, 1.0) for task in tiny
    ]


def test_the_entry_for_inspect_evals_says_what_its_task_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # Inspect takes relative names of files
    entry = yaml.safe_load((ROOT / "examples/inspect-evals/podium_quick/eval.yaml").read_text())
    [listed] = entry["tasks"]
    assert listed["dataset_samples"] == len(api.tasks("quick"))
    [log] = inspect_eval(
        listed["task_path"],
        task_args={"suite": "forge-tabular-classification-tiny-1"},
        solver=agent("baseline"),
        model="mockllm/model",
        log_dir=str(tmp_path),
        display="none",
    )
    assert (log.status, log.eval.task) == ("success", listed["name"])
    assert log.samples is not None and log.samples[0].scores is not None
    assert log.samples[0].scores["medals"].value["valid"] == 1.0  # type: ignore[index]


def test_evaluation_without_a_model_imports_no_model_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MODEL_CLIENT_MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    with without_model_clients():
        [log] = inspect_eval(Task([Sample("?")], solver=[]), model=None, log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    assert not set(MODEL_CLIENT_MODULES) & set(sys.modules)
