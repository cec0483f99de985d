"""Runs by way of the driver, as `podium run` does them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import driving

from podium.runs.drive.driver import FollowedRun
from podium.runs.records import Plan

TASK = "spaceship-titanic"


def write_script(path: Path, actions: list[tuple[str, dict[str, Any]]]) -> Path:
    """Writes a list of actions for the scripted agent."""
    path.write_text(json.dumps([{"action": name, "arguments": arguments} for name, arguments in actions]))
    return path


def drive(folder: Path, plan: Plan, task: str = TASK) -> FollowedRun:
    """Does, continues or repeats the one run of an experiment."""
    return driving.drive(folder, plan, task)
