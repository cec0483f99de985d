"""Runs on a Ray cluster: the promises of every executor, and what kills of all kinds leave of them."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from driving import story, verified
from ray_nodes import Nodes, cluster, kill_one
from running import TASK
from s3_server import BUCKET, Relay

from podium.cluster.ray import Ray, stored_experiment
from podium.cluster.ray.scratch_folders import sweep
from podium.errors import PodiumError, UsageError
from podium.leases.pool import default_pool
from podium.runs.drive.driver import Driver, FollowedRun
from podium.runs.drive.executors import executor_conformance, make_executor
from podium.runs.experiment import Experiment, open_experiment
from podium.runs.records import Plan
from podium.runs.run_folder import RunFolder
from podium.workspace.journal.journal import read_journal

pytestmark = pytest.mark.cluster
PATIENCE_S = 120.0


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def journal_length(folder: RunFolder) -> int:
    return len(read_journal(folder.journal)) if folder.journal.exists() else 0


def is_over(experiment: Experiment) -> bool:
    records = [run.read_record() for run in experiment.runs()]
    return all(record is not None and record.status != "running" for record in records)


def check_equal(experiment: Experiment, undisturbed: FollowedRun) -> None:
    """Every run has the result that it has without disturbance, and was graded once."""
    assert undisturbed.record is not None
    for seed in range(experiment.seeds):
        run = experiment.run(TASK, seed)
        record = run.read_record()
        assert record is not None and record.status == "finished", record
        assert story(run) == story(undisturbed.folder)
        assert record.score == undisturbed.record.score
        assert record.submission_sha256 == undisturbed.record.submission_sha256
        verdict = verified(run)
        assert verdict.passed, verdict.checks


def drive_on(nodes: Nodes, experiment: Experiment, **settings: object) -> Driver:
    driver = Driver(experiment)
    driver.run_all(Ray(address=nodes.address, **settings))  # type: ignore[arg-type]
    return driver


def start_driver(
    nodes: Nodes, experiment: Experiment, stderr: int = subprocess.DEVNULL, *options: str
) -> subprocess.Popen[bytes]:
    """A process that carries an experiment out, as a person would start it."""
    program = Path(sys.executable).with_name("podium")
    command = [program, "resume", experiment.folder, "--on", f"ray://{nodes.address}", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)


def check_clean(nodes: Nodes) -> None:
    """Check that no process of a run is left, and no folder once the next one has swept."""
    wait_for(lambda: not nodes.users())
    runs = nodes.scratch / "runs"
    wait_for(lambda: sweep(runs) == 0 and not any(runs.iterdir()))  # a process that is ending may still hold a lock


def test_ray_conforms(nodes: Nodes, tmp_path: Path, data_dir: Path) -> None:
    executor_conformance.check_executor(lambda: Ray(address=nodes.address), tmp_path, TASK, data_dir)
    check_clean(nodes)


def test_an_object_store_serves_as_storage(
    nodes: Nodes, s3: Relay, plan: Plan, undisturbed: FollowedRun, tmp_path: Path
) -> None:
    """While the store cannot be reached for seconds, runs go on and store what they did afterwards."""
    experiment = open_experiment(tmp_path / "s3", plan, [TASK], 2)
    storage = f"s3://{BUCKET}/{uuid.uuid4().hex}"
    cutting = threading.Timer(6, s3.cut)
    mending = threading.Timer(9, s3.mend)
    for timer in (cutting, mending):
        timer.start()
    drive_on(nodes, experiment, storage=storage)
    for timer in (cutting, mending):
        timer.join()
    check_equal(experiment, undisturbed)
    assert not (experiment.folder / ".storage").exists()


@pytest.mark.parametrize("victim", ["run", "worker", "node"])
def test_killed_run_continues_on_another_node(
    nodes: Nodes, plan: Plan, undisturbed: FollowedRun, tmp_path: Path, victim: str
) -> None:
    experiment = open_experiment(tmp_path / victim, plan, [TASK], 3)
    rng = random.Random(victim)
    kills = {
        "run": lambda: kill_one(nodes.runs(), rng),
        "worker": lambda: kill_one(nodes.workers(), rng),
        "node": lambda: nodes.kill(rng) is None,
    }
    driver = start_driver(nodes, experiment)
    wait_for(lambda: any(journal_length(run) > 2 for run in experiment.runs()))
    assert kills[victim]()
    while driver.wait(timeout=PATIENCE_S):
        assert victim == "node", "only a driver whose own node was taken away gives up"
        driver = start_driver(nodes, experiment)
    check_equal(experiment, undisturbed)
    check_clean(nodes)


def test_killed_driver_ends_its_runs_and_the_command_continues(
    nodes: Nodes, plan: Plan, undisturbed: FollowedRun, tmp_path: Path
) -> None:
    experiment = open_experiment(tmp_path / "orphaned", plan, [TASK], 2)
    with start_driver(nodes, experiment) as driver:
        wait_for(lambda: any(journal_length(run) > 2 for run in experiment.runs()))
        driver.kill()
    check_clean(nodes)
    assert not is_over(experiment)
    assert start_driver(nodes, experiment).wait(timeout=PATIENCE_S) == 0
    check_equal(experiment, undisturbed)


def test_runs_continue_on_another_cluster_after_the_head_died(
    nodes: Nodes, plan: Plan, undisturbed: FollowedRun, tmp_path: Path
) -> None:
    experiment = open_experiment(tmp_path / "headless", plan, [TASK], 2)
    pool = default_pool()
    with cluster(1) as doomed, pool.take(len(pool.cores)):  # so that no script gets a core
        with start_driver(doomed, experiment) as driver:
            wait_for(lambda: any(journal_length(run) > 1 for run in experiment.runs()))
            doomed.kill_head()
            assert driver.wait(timeout=PATIENCE_S) == 1
        wait_for(lambda: not doomed.users())
    assert not is_over(experiment)
    assert start_driver(nodes, experiment).wait(timeout=PATIENCE_S) == 0
    check_equal(experiment, undisturbed)


def test_newest_driver_continues_and_older_one_stops(
    nodes: Nodes, plan: Plan, undisturbed: FollowedRun, tmp_path: Path
) -> None:
    experiment = open_experiment(tmp_path / "twice", plan, [TASK], 2)
    pool = default_pool()
    with pool.take(len(pool.cores)), start_driver(nodes, experiment, subprocess.PIPE) as older:
        wait_for(lambda: any(journal_length(run) > 1 for run in experiment.runs()))  # and no script gets a core
        newer = start_driver(nodes, experiment)
        said = older.communicate(timeout=PATIENCE_S)[1].decode()
    assert newer.wait(timeout=PATIENCE_S) == 0
    assert older.returncode == 1
    assert "has taken over" in said and "is lost" in said
    check_equal(experiment, undisturbed)
    check_clean(nodes)


def test_run_that_dies_three_times_without_a_step_fails(nodes: Nodes, plan: Plan, tmp_path: Path) -> None:
    deadly = plan.model_copy(update={"agent": "ray_deadly:Deadly"})
    experiment = open_experiment(tmp_path / "deadly", deadly, [TASK], 1)
    drive_on(nodes, experiment)
    record = experiment.run(TASK, 0).read_record()
    assert record is not None and record.status == "failed"
    assert (
        record.error is not None
        and "abandoned after 3 consecutive deaths" in record.error
        and "SIGKILL" in record.error
    )
    again = Driver(experiment, retry=True)
    again.run_all(Ray(address=nodes.address))
    assert again.runs[0].state == "failed"


def test_local_run_continues_in_the_cluster(nodes: Nodes, plan: Plan, undisturbed: FollowedRun, tmp_path: Path) -> None:
    experiment = open_experiment(tmp_path / "moved", plan, [TASK], 1)
    driver = Driver(experiment)
    stopping = threading.Thread(
        target=lambda: (wait_for(lambda: journal_length(experiment.run(TASK, 0)) > 3), driver.stop())
    )
    stopping.start()
    driver.run_all(make_executor())
    stopping.join()
    assert driver.runs[0].state == "stopped"
    drive_on(nodes, experiment)
    check_equal(experiment, undisturbed)


def test_local_cluster_is_discovered_and_used(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("TMPDIR", tempfile.mkdtemp(dir="/tmp", prefix="pt-"))  # unrelated to other clusters

    def podium(*words: str) -> str:
        program = Path(sys.executable).with_name("podium")
        return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout

    experiment = open_experiment(tmp_path / "here", plan, [TASK], 1)
    assert podium("cluster", "up", "--nodes", "2").startswith("Started 2 nodes at 127.0.0.1:")
    try:
        podium("resume", str(experiment.folder), "--on", "ray")
        assert "1 finished" in podium("cluster", "status", str(experiment.folder))
    finally:
        podium("cluster", "down")


def test_nodes_with_other_software_are_refused(
    nodes: Nodes, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_experiment, "software", lambda: "Podium 9.9")
    experiment = open_experiment(tmp_path / "other", plan, [TASK], 1)
    with pytest.raises(PodiumError, match=r"The nodes have different software: .* the driver has Podium 9\.9"):
        drive_on(nodes, experiment)


def test_agents_cannot_ask_a_person_on_a_cluster(nodes: Nodes, plan: Plan, tmp_path: Path) -> None:
    experiment = open_experiment(tmp_path / "supervisor", plan.model_copy(update={"person": True}), [TASK], 1)
    with pytest.raises(UsageError, match="--person"):
        drive_on(nodes, experiment)


def test_address_without_a_cluster_is_reported(plan: Plan, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    experiment = open_experiment(tmp_path / "nowhere", plan, [TASK], 1)
    with pytest.raises(UsageError, match=r"No Ray cluster responds at 127\.0\.0\.1:1"):
        Driver(experiment).run_all(Ray(address="127.0.0.1:1"))
