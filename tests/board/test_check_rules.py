"""A board's rules, applied to what a bundle and an experiment say."""

from __future__ import annotations

from pathlib import Path

import pytest
from boards import ZERO

from podium.board.board_rules import Rules
from podium.board.bundle import BundleManifest, Disclosures
from podium.board.check.check_rules import rule_problems
from podium.runs.experiment import Experiment
from podium.runs.records import ExperimentDocument, Plan

EVALUATION = ("forge-graph-easy-7", "forge-text-classification-easy-3", "spaceship-titanic")


def problems(declared: str, tasks: tuple[str, ...] = EVALUATION) -> list[str]:
    """What is said of an experiment whose publisher declares what its agent was trained on."""
    manifest = BundleManifest(
        name="trained",
        light=False,
        registration=None,
        podium="0.1.0",
        podium_sha256=ZERO,
        machine={},
        disclosures=Disclosures(answers={"trained_on_tasks": declared}),
        files={},
    )
    document = ExperimentDocument(plan=Plan(agent="scripted"), tasks=tasks, seeds=1, created="2026-01-01T00:00:00Z")
    return list(rule_problems(manifest, Experiment(Path("trained"), document), {}, Rules(name="Tests", suite=tasks)))


@pytest.mark.parametrize(
    ("declared", "count"),
    [
        ("forge-graph-easy-7", 1),
        ("seeds forge-graph-easy-1..500 and forge-text-classification-easy-1..10", 2),
        ("(forge-graph-easy-7..7; spaceship-titanic)", 2),
        ("all of mle-bench-dev", 1),
    ],
)
def test_an_agent_whose_training_seeds_overlap_with_the_evaluation_is_refused(declared: str, count: int) -> None:
    (problem,) = problems(declared)
    assert problem.startswith(f"The agent was trained on {count} of the tasks it was measured with, such as ")


@pytest.mark.parametrize("declared", ["none", "forge-graph-easy-t1..500", "forge-graph-easy-8..500", "text of the web"])
def test_an_agent_that_was_trained_on_other_tasks_is_not(declared: str) -> None:
    assert problems(declared) == []


def test_training_tasks_are_refused() -> None:
    (problem,) = problems("none", ("forge-graph-easy-t7",))
    assert problem == "forge-graph-easy-t7 is a training task and cannot be used for measurement."


def test_training_on_a_task_counts_for_its_obfuscated_twin() -> None:
    (problem,) = problems("spaceship-titanic", ("obfuscated-spaceship-titanic",))
    assert "such as obfuscated-spaceship-titanic" in problem
