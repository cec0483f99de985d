"""Programs of agents inside a Ray worker: as contained as anywhere, and without a way to Ray itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ray_conforming import conform
from ray_nodes import Nodes
from running import TASK, write_script

from podium.cluster.ray import Ray
from podium.runs.drive.driver import Driver
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan
from podium.runs.steps import Steps

pytestmark = pytest.mark.cluster

REACH = """
import glob, json, os, socket
targets = json.load(open("/home/code/targets.json"))
for address in (*targets["addresses"], "127.0.0.1", "localhost", "198.18.0.2"):
    for port in targets["ports"]:
        try:
            socket.create_connection((address, port), 0.3)
            print("REACHED port", address, port)
        except OSError:
            pass
for path in targets["sockets"]:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("REACHED socket", path)
    except OSError:
        pass
for path in (*targets["folders"], *glob.glob("/dev/shm/plasma*"), *glob.glob("/tmp/*ray*")):
    if os.path.exists(path):
        print("REACHED", path)
for name, value in os.environ.items():
    if "RAY" in name.upper() or "AWS" in name or any(folder in value for folder in targets["folders"]):
        print("REACHED variable", name)
for process in glob.glob("/proc/[0-9]*/cmdline"):
    if b"ray" in open(process, "rb").read():
        print("REACHED process", process)
print("DONE")
"""


def targets(nodes: Nodes) -> dict[str, Any]:
    """Ray's doors on this machine."""
    import ray

    found: dict[str, Any] = {"addresses": [], "ports": [int(nodes.address.rpartition(":")[2])], "sockets": []}
    with ray.init(address=nodes.address, log_to_driver=False):
        for node in ray.nodes():
            found["addresses"].append(node["NodeManagerAddress"])
            names = ("NodeManagerPort", "ObjectManagerPort", "MetricsExportPort", "RuntimeEnvAgentPort")
            found["ports"] += [node[name] for name in names if node.get(name)]
            found["sockets"] += [node["ObjectStoreSocketName"], node["RayletSocketName"]]
    folders = [str(nodes.scratch), str(nodes.scratch.parent / "r")]
    return {**found, "folders": folders, "addresses": sorted(set(found["addresses"]))}


def test_agent_cannot_reach_ray(nodes: Nodes, plan: Plan, tmp_path: Path) -> None:
    actions = [
        ("write_file", {"file_name": "code/targets.json", "content": json.dumps(targets(nodes))}),
        ("write_file", {"file_name": "code/reach.py", "content": REACH}),
        ("execute_script", {"script_name": "code/reach.py"}),
    ]
    script = write_script(tmp_path / "script.json", actions)
    hostile = plan.model_copy(update={"options": {"script": str(script)}})
    experiment = open_experiment(tmp_path / "hostile", hostile, [TASK], 1)
    Driver(experiment).run_all(Ray(address=nodes.address))
    seen = Steps(experiment.run(TASK, 0)).observation(3).text
    assert "DONE" in seen
    assert "REACHED" not in seen


def test_hostile_programs_are_as_contained_inside_a_ray_worker(nodes: Nodes) -> None:
    import ray

    with ray.init(address=nodes.address, log_to_driver=False):
        results = ray.get(ray.remote(conform).options(num_cpus=0.1, max_retries=0).remote())
    failed = [result for result in results if result[1] == "failed"]
    assert failed == []
    assert sum(status == "passed" for _, status, _ in results) > 50
