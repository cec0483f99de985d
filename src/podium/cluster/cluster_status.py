"""Status of a cluster's nodes and progress of an experiment that runs on it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from podium.cluster.ray.messages import software
from podium.cluster.ray.scratch_folders import node_folder
from podium.leases import default_pool
from podium.runs.attempt.progress_files import read_progress
from podium.runs.experiment import Experiment
from podium.runs.records import RunRecord
from podium.text import format_duration, format_size, plural

PATIENCE_S = 30.0


@dataclass(frozen=True)
class NodeStatus:
    """Status of a node of the cluster."""

    address: str
    cpus: float
    gpus: float
    memory_bytes: int
    software: str | None = None
    """Software versions; None if the node does not respond."""
    runs: int = 0
    """Runs in the node's scratch folder."""
    leased: int = 0
    """Cores that are computing now."""
    waiting: int = 0
    """Executions waiting for cores or GPUs."""

    def line(self) -> str:
        gpus = f", {self.gpus:g} GPUs" if self.gpus else ""
        size = f"{self.cpus:g} CPUs{gpus}, {format_size(self.memory_bytes)}"
        if self.software is None:
            return f"{self.address}: {size}; no response"
        doing = f"{plural(self.runs, 'run')}, {plural(self.leased, 'core')} leased, {self.waiting} waiting for a lease"
        return f"{self.address}: {size}; {doing}; {self.software}"


def node_facts() -> dict[str, Any]:
    """Return the status of this node; executed as a Ray task on each node."""
    claims = default_pool().holders()
    scratch = node_folder() / "runs"
    return {
        "software": software(),
        "runs": len(list(scratch.glob("*.lock"))),
        "leased": sum(len(claim.cores) for claim in claims),
        "waiting": sum(claim.is_waiting for claim in claims),
    }


def node_statuses() -> list[NodeStatus]:
    """Return the status of all nodes that execute runs."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    asked = {}
    for node in nodes:
        here = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        options = {"num_cpus": 0, "scheduling_strategy": here, "max_retries": 0}
        asked[node["NodeID"]] = ray.remote(node_facts).options(**options).remote()
    ready, _ = ray.wait(list(asked.values()), num_returns=len(asked), timeout=PATIENCE_S) if asked else ([], [])
    found = []
    for node in nodes:
        resources, reference = node["Resources"], asked[node["NodeID"]]
        size = (resources.get("CPU", 0), resources.get("GPU", 0), int(resources.get("memory", 0)))
        facts = ray.get(reference) if reference in ready else {}
        found.append(NodeStatus(node["NodeManagerAddress"], *size, **facts))
    return found


@dataclass(frozen=True)
class ExperimentProgress:
    """Progress of an experiment."""

    runs: int
    states: dict[str, int]
    """Number of runs by status, or by phase while they are running."""
    tokens: int
    cost: float
    ends_in_s: float | None
    """Estimated time left at the average speed so far; None before the first run has ended."""

    def lines(self) -> Iterator[str]:
        yield f"runs    {self.runs}: {', '.join(f'{count} {state}' for state, count in self.states.items())}"
        yield f"used    {self.tokens:,} tokens, ${self.cost:,.2f}"
        if self.ends_in_s != 0:
            end = "unknown" if self.ends_in_s is None else f"in about {format_duration(self.ends_in_s)}"
            yield f"ends    {end}"


def experiment_status(experiment: Experiment) -> ExperimentProgress:
    """Return the progress of an experiment according to its folder."""
    states: Counter[str] = Counter()
    records: list[RunRecord] = []
    for run in experiment.runs():
        record = run.read_record()
        if record is None or record.status == "running":
            progress = read_progress(run)
            states[progress.phase.split(" (")[0] if progress else "queued"] += 1
        else:
            states[record.status] += 1
        records += [record] if record else []
    total = len(experiment.tasks) * experiment.seeds
    states["queued"] += total - sum(states.values())
    return ExperimentProgress(
        runs=total,
        states={state: count for state, count in states.most_common() if count},
        tokens=sum(record.usage.tokens for record in records),
        cost=sum(record.usage.cost or 0.0 for record in records),
        ends_in_s=_time_left(records, total),
    )


def _time_left(records: list[RunRecord], total: int) -> float | None:
    started = [datetime.fromisoformat(record.times.started) for record in records if record.times.started]
    done = sum(record.status in ("finished", "failed") for record in records)
    if not done or not started:
        return None
    return (total - done) * (time.time() - min(started).timestamp()) / done
