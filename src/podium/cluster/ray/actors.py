"""Ray actors of a cluster: the coordinator of an experiment's runs, and the rate limiter of model requests."""

from __future__ import annotations

import asyncio
import time
from typing import Any, NamedTuple

NAMESPACE = "podium"
LIMITER = "podium-rates"
BURST_S = 10.0
"""Unused rate, in seconds, that a bucket saves up."""


class NodeReport(NamedTuple):
    """Progress report of a run from its node."""

    entries: int
    """Number of entries in the run's log."""
    progress: str | None
    """Content of `progress.json`, if it changed."""


class Coordinator:
    """Collects reports of runs for one driver, keeping only changes since the driver's last call."""

    def __init__(self) -> None:
        self._reports: dict[str, NodeReport] = {}
        self._stopped = asyncio.Event()

    async def report(self, run: str, entries: int, progress: str | None) -> None:
        before = self._reports.get(run)
        self._reports[run] = NodeReport(entries, progress or (before.progress if before else None))

    async def changes(self) -> dict[str, NodeReport]:
        """Return the latest report of each run that has reported since the last call."""
        reports, self._reports = self._reports, {}
        return reports

    async def stop(self) -> None:
        self._stopped.set()

    async def wait_for_stop(self) -> None:
        """Return when all runs should end after their current step."""
        await self._stopped.wait()


class Bucket:
    """Token bucket for requests to one model: a rate per minute, with short bursts after a pause."""

    def __init__(self, per_minute: float, now: float) -> None:
        self.per_s = per_minute / 60
        self._capacity = max(1.0, self.per_s * BURST_S)
        self._level, self._time = self._capacity, now

    def take(self, now: float) -> float:
        """Take one request; return the time to wait before sending it."""
        self._level = min(self._capacity, self._level + (now - self._time) * self.per_s) - 1
        self._time = now
        return max(0.0, -self._level / self.per_s)


class Limiter:
    """Rate limiter for model requests across all nodes and experiments of a cluster."""

    def __init__(self) -> None:
        self._buckets: dict[str, Bucket] = {}

    async def set_rates(self, rates: dict[str, float]) -> None:
        """Set the maximum requests per minute of some models, replacing earlier values."""
        for model, per_minute in rates.items():
            known = self._buckets.get(model)
            if known is None or known.per_s != per_minute / 60:
                self._buckets[model] = Bucket(per_minute, time.monotonic())

    async def take(self, model: str) -> None:
        """Return when a request to a model may be sent."""
        bucket = self._buckets.get(model)
        if bucket is not None:
            await asyncio.sleep(bucket.take(time.monotonic()))


def start_coordinator() -> Any:
    """Start the coordinator of this driver on its own node."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    options = {"num_cpus": 0, "max_concurrency": 100_000, "scheduling_strategy": here}
    return ray.remote(Coordinator).options(**options).remote()


def find_limiter() -> Any:
    """Return the cluster's rate limiter, creating it on first use."""
    import ray

    options = {"name": LIMITER, "namespace": NAMESPACE, "get_if_exists": True, "lifetime": "detached"}
    return ray.remote(Limiter).options(num_cpus=0, max_concurrency=100_000, max_restarts=-1, **options).remote()
