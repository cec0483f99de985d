"""Runs by way of the driver, as `podium run` does them."""

from __future__ import annotations

from pathlib import Path

from podium.runs.driver import Driver, Row
from podium.runs.experiment import open_experiment
from podium.runs.record import Plan

TASK = "spaceship-titanic"


def drive(folder: Path, plan: Plan, task: str = TASK) -> Row:
    """Does, continues or repeats the one run of an experiment."""
    driver = Driver(folder, open_experiment(folder, plan, [task], 1), parallel=1, retry=True)
    driver.run(lambda row: None)
    return driver.rows[0]
