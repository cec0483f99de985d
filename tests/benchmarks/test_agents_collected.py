"""Results of contenders' runs: every run counts, whatever became of it."""

from __future__ import annotations

import threading
from pathlib import Path

from agents import collect
from podium.runs.attempt.attempt import run_attempt
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan

TASK = "forge-tabular-classification-medium-101"


def test_a_run_that_failed_before_it_began_counts_as_invalid(tmp_path: Path) -> None:
    plan = Plan(agent="baseline", data_dir=tmp_path / "empty")
    run = open_experiment(tmp_path / "sample", plan, [TASK], 1).run(TASK, 0)
    run.make()
    run_attempt(run, plan, TASK, 0, stop=threading.Event())
    assert not run.journal.exists()
    found = collect(tmp_path, 60.0, {})
    assert (found["contenders"]["sample"]["tasks"], found["contenders"]["sample"]["valid_rate"]) == (1, 0)
    assert "is not prepared" in found["tasks"][TASK]["sample"]["error"]
