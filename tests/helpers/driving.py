"""Runs by way of the driver and the local executor, as `podium run` does them."""

from __future__ import annotations

from html import unescape
from pathlib import Path

from podium.runs.drive.driver import Driver, FollowedRun
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import open_experiment, read_experiment
from podium.runs.records import Plan
from podium.runs.run_folder import RunFolder
from podium.runs.steps import Steps
from podium.verify import Verdict, verify_run


def drive(folder: Path, plan: Plan, task: str) -> FollowedRun:
    """Does, continues or repeats the one run of an experiment."""
    driver = Driver(open_experiment(folder, plan, [task], 1), retry=True)
    driver.run_all(make_executor(parallel=1))
    return driver.runs[0]


def verified(folder: RunFolder) -> Verdict:
    """What verifying says of a run, with the data that the test made."""
    return verify_run(folder, data_dir=read_experiment(folder.experiment).plan.data_dir)


def story(folder: RunFolder) -> list[tuple[str, str]]:
    """What a run did and saw."""
    steps = Steps(folder)
    return [(step.action.name, steps.observation(number).text) for number, step in enumerate(steps.all, 1)]


def page_of(folder: RunFolder, index: Path) -> str:
    """What the viewer shows of a run.

    Args:
        index: where it may keep its list of runs.
    """
    from starlette.testclient import TestClient

    from podium.viewer.app import make_app
    from podium.viewer.page_site import Site

    site = Site(folder.experiment.parent, file=index)
    try:
        with TestClient(make_app(site), base_url="http://127.0.0.1:8765") as pages:
            answer = pages.get(f"/runs/{folder.path.relative_to(folder.experiment.parent)}")
    finally:
        site.close()
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)
