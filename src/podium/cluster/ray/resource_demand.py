"""What a run is placed by: memory, as measured on the runs before it, and whole GPUs unless shares are asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

FIRST_BYTES = 1 << 30
LEAST_BYTES = 256 << 20
MARGIN = 1.25
MEASURED = 200
"""Runs that the need of the next is taken from."""
A_CPU = 0.001
"""So that no run is placed on a head without CPUs; cores are leased on the node."""


class Demand:
    """What the next run is likely to need."""

    def __init__(self, memory_bytes: int | None) -> None:
        self._fixed = memory_bytes
        self._measured: deque[int] = deque(maxlen=MEASURED)

    def learn(self, memory_bytes: int) -> None:
        """Takes in what a run used at most."""
        self._measured.append(memory_bytes)

    @property
    def memory_bytes(self) -> int:
        """What nine of ten runs would have been content with, and a margin."""
        if self._fixed is not None:
            return self._fixed
        if not self._measured:
            return FIRST_BYTES
        ordered = sorted(self._measured)
        return max(LEAST_BYTES, int(MARGIN * ordered[int(0.9 * (len(ordered) - 1))]))

    def more_than(self, memory_bytes: int | None) -> int:
        """For a run that ran out of memory."""
        return 2 * (memory_bytes or self.memory_bytes)

    def room(self, nodes: Sequence[dict[str, Any]]) -> int:
        """How many runs the nodes have memory for."""
        return sum(int(node["Resources"].get("memory", 0) // self.memory_bytes) for node in nodes)

    def options(self, memory_bytes: int | None, gpus: int, gpu_share: float) -> dict[str, Any]:
        """How Ray places a run. Ray itself never repeats it: what died is counted here."""
        options = {"num_cpus": A_CPU, "memory": memory_bytes or self.memory_bytes, "max_retries": 0}
        return options | {"num_gpus": gpus * gpu_share, "scheduling_strategy": "SPREAD"}
