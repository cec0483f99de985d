"""Random kills of everything while runs go on: all end with the undisturbed result, each graded once.

`PODIUM_CHAOS=200x100` does 200 runs with 100 kills; by default there are few of both.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ray_nodes import Nodes, kill_one
from running import TASK
from s3_server import BUCKET, Relay
from test_ray import check_clean, check_equal, start_driver

from podium.cluster.ray.stored_experiment import RemoteExperiment
from podium.cluster.stored_log import RunLog
from podium.runs.drive.driver import FollowedRun
from podium.runs.drive.executors.executor import RunRequest
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan, RunRecord

pytestmark = pytest.mark.cluster
RUNS, KILLS = map(int, os.environ.get("PODIUM_CHAOS", "12x8").split("x"))
PAUSE_S = 3.0
AT_ONCE = 3
"""Kills that may come before so large a part of the runs has ended: who is killed again and again is set aside."""
ALL_KILLED = 0.8
"""The share of the runs that have ended when the last kill comes: there must be something left to kill."""


class Chaos:
    """A driver that is started again whenever it ends, and kills of all kinds."""

    def __init__(
        self,
        start: Callable[[], subprocess.Popen[bytes]],
        nodes: Nodes,
        relay: Relay,
        count_ended: Callable[[], int],
    ) -> None:
        self._start, self._nodes, self._relay, self._rng = start, nodes, relay, random.Random(7)
        self._count_ended = count_ended
        self._driver = start()
        self.done: list[str] = []

    def step(self) -> None:
        """One kill, at a moment that depends on how far the runs are and not on how fast the machine is."""
        while self._count_ended() < ALL_KILLED * RUNS * (len(self.done) - AT_ONCE) / KILLS and not self.keep_going():
            time.sleep(0.5)
        time.sleep(self._rng.uniform(0.2, 2) * PAUSE_S)
        kind = self._rng.choices(["run", "worker", "driver", "node", "storage"], [4, 4, 1, 1, 1])[0]
        match kind:
            case "run":
                happened = kill_one(self._nodes.runs(), self._rng)
            case "worker":
                happened = kill_one(self._nodes.workers(), self._rng)
            case "driver":
                happened = self._driver.poll() is None
                self._driver.kill()
            case "node":
                self._nodes.kill(self._rng)
                happened = True
            case _:
                self._relay.cut()
                time.sleep(PAUSE_S)
                self._relay.mend()
                happened = True
        self.done += [kind] if happened else []
        self.keep_going()

    def keep_going(self) -> bool:
        """Starts the driver again if it was killed or gave up; whether the experiment is done."""
        code = self._driver.poll()
        if code == 0:
            return True
        if code is not None:
            self._driver.wait()
            self._driver = self._start()
        return False


def test_repeated_kills_do_not_change_the_result(
    nodes: Nodes, s3: Relay, plan: Plan, undisturbed: FollowedRun, tmp_path: Path
) -> None:
    experiment = open_experiment(tmp_path / "chaos", plan, [TASK], RUNS)
    storage = f"s3://{BUCKET}/chaos-{time.time_ns()}"
    chaos = Chaos(
        lambda: start_driver(nodes, experiment, subprocess.DEVNULL, "--storage", storage),
        nodes,
        s3,
        lambda: sum(run.submission.exists() for run in experiment.runs()),
    )
    while len(chaos.done) < KILLS and not chaos.keep_going():
        chaos.step()
    while not chaos.keep_going():
        time.sleep(0.2)
    print(f"{len(chaos.done)} kills: {', '.join(f'{chaos.done.count(kind)} {kind}' for kind in set(chaos.done))}")
    check_equal(experiment, undisturbed)
    check_clean(nodes)
    remote = RemoteExperiment(experiment.folder, storage)
    for seed in range(RUNS):
        prefix = remote.prefix(RunRequest(experiment.folder, TASK, seed))
        texts = [entry.documents.get("run.json") for entry in RunLog(remote.storage, prefix).read_new()]
        graded = [text for text in texts if text and RunRecord.model_validate_json(text).is_graded]
        assert len(graded) == 1, f"run {seed} was graded {len(graded)} times"
