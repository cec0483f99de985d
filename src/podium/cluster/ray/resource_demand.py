"""Resource demand of a run: memory as measured on earlier runs, and whole GPUs unless shares are requested."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

FIRST_BYTES = 1 << 30
MIN_BYTES = 256 << 20
MARGIN = 1.25
MAX_SAMPLES = 200
"""Number of latest runs used to estimate the memory of the next."""
MIN_CPUS = 0.001
"""CPU demand of a run: more than 0, so that none is placed on a head without CPUs. The node leases cores."""


class Demand:
    """Estimated demand of the next run."""

    def __init__(self, memory_bytes: int | None) -> None:
        self._fixed = memory_bytes
        self._measured: deque[int] = deque(maxlen=MAX_SAMPLES)

    def learn(self, memory_bytes: int) -> None:
        """Record the peak memory of a run."""
        self._measured.append(memory_bytes)

    @property
    def memory_bytes(self) -> int:
        """Return the 90th percentile of the recorded memory plus a margin."""
        if self._fixed is not None:
            return self._fixed
        if not self._measured:
            return FIRST_BYTES
        ordered = sorted(self._measured)
        return max(MIN_BYTES, int(MARGIN * ordered[int(0.9 * (len(ordered) - 1))]))

    def more_than(self, memory_bytes: int | None) -> int:
        """Return the memory for a run that ran out of memory."""
        return 2 * (memory_bytes or self.memory_bytes)

    def room(self, nodes: Sequence[dict[str, Any]]) -> int:
        """Return the number of runs that fit into the nodes' memory."""
        return sum(int(node["Resources"].get("memory", 0) // self.memory_bytes) for node in nodes)

    def options(self, memory_bytes: int | None, gpus: int, gpu_share: float) -> dict[str, Any]:
        """Return the Ray options of a run. Ray itself never retries; the executor counts deaths."""
        options = {"num_cpus": MIN_CPUS, "memory": memory_bytes or self.memory_bytes, "max_retries": 0}
        return options | {"num_gpus": gpus * gpu_share, "scheduling_strategy": "SPREAD"}
