"""The document of an experiment, which several commands may change at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from podium.runs.experiment import change_plan, open_experiment, read_experiment
from podium.runs.records import Plan
from podium.workspace.budget import Budget


def test_concurrently_added_tasks_are_all_kept(tmp_path: Path) -> None:
    plan, tasks = Plan(agent="baseline"), [f"task-{number}" for number in range(16)]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda task: open_experiment(tmp_path / "experiment", plan, [task], 1), tasks))
    assert sorted(read_experiment(tmp_path / "experiment").tasks) == sorted(tasks)


def test_a_change_of_the_plan_keeps_tasks_that_were_added_meanwhile(tmp_path: Path) -> None:
    plan = Plan(agent="baseline")
    before = open_experiment(tmp_path / "experiment", plan, ["first"], 1)
    open_experiment(tmp_path / "experiment", plan, ["second"], 1)
    changed = change_plan(before, {"budget": Budget(steps=3)})
    assert changed.tasks == ("first", "second") == read_experiment(tmp_path / "experiment").tasks
    assert changed.plan.budget.steps == 3
