"""The parts of the Ray executor that need no cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from podium.cli import podium
from podium.cluster.cluster_status import experiment_status
from podium.cluster.ray.actors import BURST_S, Bucket
from podium.cluster.ray.messages import passed_environment
from podium.cluster.ray.process_memory import tree_memory
from podium.cluster.ray.resource_demand import FIRST_BYTES, Demand
from podium.cluster.ray.scratch_folders import scratch_folder, sweep
from podium.cluster.slurm import Allocation, batch_script
from podium.errors import UsageError
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import read_experiment

EXAMPLES = Path(__file__).parents[2] / "examples"
GIB = 1 << 30


def test_model_requests_are_rate_limited() -> None:
    bucket = Bucket(per_minute=60, now=0.0)
    burst = [bucket.take(0.0) for _ in range(int(BURST_S))]
    assert burst == [0.0] * int(BURST_S)
    assert [bucket.take(0.0) for _ in range(3)] == [1.0, 2.0, 3.0]
    assert bucket.take(1000.0) == 0.0


def test_memory_demand_follows_earlier_runs() -> None:
    demand = Demand(None)
    assert demand.memory_bytes == FIRST_BYTES
    for size in [GIB] * 18 + [40 * GIB]:
        demand.learn(size)
    assert demand.memory_bytes == int(1.25 * GIB)
    node = {"Resources": {"memory": 10 * GIB}}
    assert demand.room([node, node]) == 16
    assert Demand(3 * GIB).memory_bytes == 3 * GIB
    assert demand.more_than(4 * GIB) == 8 * GIB


def test_ray_does_not_retry_runs_itself() -> None:
    options = Demand(GIB).options(None, gpus=1, gpu_share=0.5)
    assert options["max_retries"] == 0
    assert options["num_gpus"] == 0.5


def test_memory_of_children_counts() -> None:
    inner = "x = b'x' * (80 << 20); print(); input()"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None
    child.stdout.readline()
    assert tree_memory(child.pid) > 80 << 20
    child.communicate(b"\n")


def test_sweep_removes_only_folders_of_killed_runs(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from podium.cluster.ray.scratch_folders import scratch_folder
with scratch_folder(Path({str(tmp_path)!r})) as folder:
    (folder / "e").mkdir()
    print(folder.name, flush=True)
    input()
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None and child.stdout is not None
    killed = tmp_path / child.stdout.readline().strip()
    with scratch_folder(tmp_path) as ours:
        assert sweep(tmp_path) == 0
        child.kill()
        child.communicate()
        assert sweep(tmp_path) == 1
        assert not killed.exists() and ours.exists()
    assert list(tmp_path.iterdir()) == []


def test_nodes_receive_keys_but_keep_their_own_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("OPENAI_API_KEY", "AWS_ENDPOINT_URL", "PODIUM_HOME", "PODIUM_SCRATCH", "LD_PRELOAD")
    for name in names:
        monkeypatch.setenv(name, "value")
    assert passed_environment().keys() & set(names) == {"OPENAI_API_KEY", "AWS_ENDPOINT_URL"}


@pytest.mark.parametrize("share", [0.0, 1.5, -1.0])
def test_gpu_share_must_be_between_0_and_1(share: float) -> None:
    with pytest.raises(UsageError, match="more than 0 and at most 1"):
        make_executor("ray", gpu_share=share)


def test_storage_is_for_clusters() -> None:
    with pytest.raises(UsageError, match="--on local does not support --storage"):
        make_executor("local", storage="s3://bucket")


def test_the_batch_script_of_slurm_is_shell(tmp_path: Path) -> None:
    command = ["podium", "run", "a task", "--seeds", "3"]
    script = batch_script(Allocation(8, 24 * 3600, cores=16, gpus=2, partition="long", setup=". env"), command)
    (tmp_path / "job.sh").write_text(script)
    subprocess.run(["bash", "-n", tmp_path / "job.sh"], check=True)
    assert script.startswith("#!/bin/bash\n#SBATCH")
    for line in ("--nodes=8", "--time=1440", "--cpus-per-task=16", "--gpus-per-node=2", "--partition=long"):
        assert f"#SBATCH {line}\n" in script
    assert "--min-nodes 8 --num-cpus=16 -- \\\n    podium run 'a task' --seeds 3 --on" in script


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["prepare", "x"], "Give the command to run"),
        (["run", "x", "--on", "ray"], "Omit --on: the script adds it."),
        (["run", "x", "--sedes", "3"], "No such option '?--sedes"),
    ],
)
def test_batch_script_requires_a_run_command(arguments: list[str], told: str) -> None:
    with pytest.raises((UsageError, click.UsageError), match=told):
        podium.main(["cluster", "slurm", "--nodes", "2", "--time", "1h", "--", *arguments], standalone_mode=False)


def test_experiment_status_counts_runs(finished: Path) -> None:
    experiment = read_experiment(finished)
    status = experiment_status(experiment)
    assert (status.runs, status.states) == (experiment.seeds, {"finished": experiment.seeds})
    assert status.ends_in_s == 0.0
    assert "2 finished" in next(status.lines())


def test_the_job_for_kubernetes_has_the_fields_of_a_rayjob() -> None:
    job = yaml.safe_load((EXAMPLES / "kuberay" / "rayjob.yaml").read_text(encoding="utf-8"))
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    known = {"entrypoint", "shutdownAfterJobFinishes", "ttlSecondsAfterFinished", "backoffLimit", "rayClusterSpec"}
    assert job["spec"].keys() == known
    cluster = job["spec"]["rayClusterSpec"]
    assert cluster["headGroupSpec"].keys() == {"rayStartParams", "template"}
    for group in cluster["workerGroupSpecs"]:
        assert {"groupName", "rayStartParams", "template"} <= group.keys()
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    words = job["spec"]["entrypoint"].split()
    context = podium.get_command(None, words[1]).make_context("run", words[2:])  # type: ignore[arg-type, union-attr]
    assert context.params["on"] == "ray"
    assert all(isinstance(value, str) for value in cluster["headGroupSpec"]["rayStartParams"].values())


def test_the_scratch_of_a_node_is_short_enough_for_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    from podium.cluster.ray.scratch_folders import node_folder

    monkeypatch.delenv("PODIUM_SCRATCH", raising=False)
    monkeypatch.setenv("TMPDIR", "/tmp")
    monkeypatch.setattr("tempfile.tempdir", None)
    assert len(str(node_folder())) < 40
    assert node_folder().stat().st_uid == os.geteuid()
