"""Runs by way of the driver, as `podium run` does them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from podium.runs.driver import Driver, Row
from podium.runs.experiment import open_experiment
from podium.runs.record import Plan

TASK = "spaceship-titanic"


def write_script(path: Path, actions: list[tuple[str, dict[str, Any]]]) -> Path:
    """Writes a list of actions for the scripted agent."""
    path.write_text(json.dumps([{"action": name, "arguments": arguments} for name, arguments in actions]))
    return path


def drive(folder: Path, plan: Plan, task: str = TASK) -> Row:
    """Does, continues or repeats the one run of an experiment."""
    driver = Driver(folder, open_experiment(folder, plan, [task], 1), parallel=1, retry=True)
    driver.run(lambda row: None)
    return driver.rows[0]
