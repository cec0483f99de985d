"""The two actors of a cluster: what an experiment's runs report to, and what shares out requests to models."""

from __future__ import annotations

import asyncio
import time
from typing import Any, NamedTuple

NAMESPACE = "podium"
LIMITER = "podium-rates"
BURST_S = 10.0
"""How much unused rate is kept for later."""


class NodeReport(NamedTuple):
    """What a run's node says of it."""

    entries: int
    """How many its log has."""
    progress: str | None
    """`progress.json`, if it changed."""


class Coordinator:
    """Lives as long as its driver. Knows of each run only what has changed since the driver last asked."""

    def __init__(self) -> None:
        self._reports: dict[str, NodeReport] = {}
        self._stopped = asyncio.Event()

    async def report(self, run: str, entries: int, progress: str | None) -> None:
        before = self._reports.get(run)
        self._reports[run] = NodeReport(entries, progress or (before.progress if before else None))

    async def changes(self) -> dict[str, NodeReport]:
        """The newest report of every run that made one since this was last asked."""
        reports, self._reports = self._reports, {}
        return reports

    async def stop(self) -> None:
        self._stopped.set()

    async def wait_for_stop(self) -> None:
        """Returns when all runs are to end after their current steps."""
        await self._stopped.wait()


class Bucket:
    """Requests to one model: so many a minute, and a few at once after a pause."""

    def __init__(self, per_minute: float, now: float) -> None:
        self.per_s = per_minute / 60
        self._capacity = max(1.0, self.per_s * BURST_S)
        self._level, self._time = self._capacity, now

    def take(self, now: float) -> float:
        """Takes one request out; how long to wait before it may be sent."""
        self._level = min(self._capacity, self._level + (now - self._time) * self.per_s) - 1
        self._time = now
        return max(0.0, -self._level / self.per_s)


class Limiter:
    """Shares out the requests to models over all nodes and all experiments of a cluster."""

    def __init__(self) -> None:
        self._buckets: dict[str, Bucket] = {}

    async def set_rates(self, rates: dict[str, float]) -> None:
        """Bounds the requests a minute of some models; the last who says so is obeyed."""
        for model, per_minute in rates.items():
            known = self._buckets.get(model)
            if known is None or known.per_s != per_minute / 60:
                self._buckets[model] = Bucket(per_minute, time.monotonic())

    async def take(self, model: str) -> None:
        """Returns when a request to a model may be sent."""
        bucket = self._buckets.get(model)
        if bucket is not None:
            await asyncio.sleep(bucket.take(time.monotonic()))


def start_coordinator() -> Any:
    """The actor of this driver, on its own node."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    options = {"num_cpus": 0, "max_concurrency": 100_000, "scheduling_strategy": here}
    return ray.remote(Coordinator).options(**options).remote()


def find_limiter() -> Any:
    """The actor of the cluster, made by whoever first asks for it."""
    import ray

    options = {"name": LIMITER, "namespace": NAMESPACE, "get_if_exists": True, "lifetime": "detached"}
    return ray.remote(Limiter).options(num_cpus=0, max_concurrency=100_000, max_restarts=-1, **options).remote()
