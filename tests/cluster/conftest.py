"""Fixtures of real runs, and a Ray cluster that the tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ray_nodes import Nodes, cluster
from run_fixtures import data_dir, finished, perfect, play, s3, script
from running import drive, write_script

from podium.runs.drive.driver import FollowedRun
from podium.runs.records import Plan

__all__ = ["data_dir", "finished", "perfect", "play", "s3", "script"]

STEPS = 6
# Appending shows a step that was done twice; the sleep gives a kill something to hit.
WORK = """
import pathlib, time
count = pathlib.Path("code/count.txt")
text = count.read_text() if count.exists() else ""
time.sleep(0.3)
count.write_text(text + f"{len(text.split())}\\n")
print(len(text.split()))
"""


@pytest.fixture(scope="session")
def nodes() -> Iterator[Nodes]:
    pytest.importorskip("ray")
    with cluster(3) as found:
        yield found


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory, data_dir: Path, perfect: str) -> Plan:
    """Runs of a few seconds that end with a perfect submission."""
    actions: list[tuple[str, dict[str, Any]]] = [("write_file", {"file_name": "code/work.py", "content": WORK})]
    actions += [("execute_script", {"script_name": "code/work.py"})] * STEPS
    actions += [("write_file", {"file_name": "submission/submission.csv", "content": perfect})]
    path = write_script(tmp_path_factory.mktemp("script") / "script.json", actions)
    return Plan(agent="scripted", options={"script": str(path)}, data_dir=data_dir, miniature=True)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, plan: Plan) -> FollowedRun:
    return drive(tmp_path_factory.mktemp("undisturbed"), plan)
