"""Watchdog for limits that the kernel does not enforce: memory and processes of a tree, disk usage of its folders."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from podium.sandbox.linux.limits.disk_usage import DiskMeter
from podium.sandbox.linux.limits.hidden_files import HiddenStorage, scan_descriptors, scan_mappings
from podium.sandbox.linux.limits.memory_usage import measure_memory
from podium.sandbox.linux.limits.process_tree import has_more_tasks, tree
from podium.sandbox.spec import Limits
from podium.text import format_size

MIN_INTERVAL_S = 0.15
"""Minimum time between two measurements of memory and disk; processes are counted every time."""


SLOW_SCAN_RATIO = 50
"""Ratio of the time between two slow scans to the duration of one."""


class Watchdog:
    """Checks of the limits of a process tree."""

    def __init__(self, root: int, limits: Limits, folders: Iterable[Path], *, enforced: Iterable[str]) -> None:
        """Watch the tree of process `root`, except for the limits that the kernel enforces."""
        self._root, self._limits = root, limits
        self._enforced = frozenset(enforced)
        self.disk = DiskMeter(folders, limits, nameless=self._nameless)
        self._further = HiddenStorage()
        self._next = self._next_memory = self._next_further = 0.0

    def exceeded(self) -> str | None:
        """Return the first exceeded limit as a clause, or None."""
        reason = self._processes_exceeded()
        if reason is None and time.monotonic() >= self._next:
            self._next = time.monotonic() + MIN_INTERVAL_S
            reason = self._memory_exceeded() or self.disk.exceeded()
        return reason

    def _processes_exceeded(self) -> str | None:
        limit = self._limits.processes
        if "pids" not in self._enforced and has_more_tasks(self._root, limit):
            return f"process limit of {limit:,} exceeded"
        return None

    def _memory_exceeded(self) -> str | None:
        limit, started = self._limits.memory_bytes, time.monotonic()
        if "memory" in self._enforced or limit is None or started < self._next_memory:
            return None
        pids = self._pids()
        held = scan_descriptors(pids)
        used = measure_memory(self._root, pids, limit, held | self._further)
        if used > limit or started >= self._next_further:
            self._scan_mappings(pids)
            used = measure_memory(self._root, pids, limit, held | self._further)
        # Separating shared pages takes the kernel long where much is mapped.
        self._next_memory = time.monotonic() + 2 * (time.monotonic() - started)
        return f"memory limit of {format_size(limit)} exceeded ({format_size(used)} in use)" if used > limit else None

    def _scan_mappings(self, pids: list[int]) -> None:
        started = time.monotonic()
        self._further = scan_mappings(self._root, pids)
        self._next_further = time.monotonic() + SLOW_SCAN_RATIO * (time.monotonic() - started)

    def _nameless(self, devices: set[int]) -> int:
        pids = self._pids()
        return (scan_descriptors(pids) | scan_mappings(self._root, pids)).disk(devices)

    def _pids(self) -> list[int]:
        return tree(self._root, self._limits.processes + 1)  # a fork bomb would keep us reading forever
