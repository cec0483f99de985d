"""Measures what a sandbox uses where the kernel will not: memory and processes of a whole tree, disk of its folders."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from podium.sandbox.linux.limits.disk_usage import DiskMeter
from podium.sandbox.linux.limits.hidden_files import Held, look, look_further
from podium.sandbox.linux.limits.memory_usage import memory
from podium.sandbox.linux.limits.process_tree import has_more_tasks, tree
from podium.sandbox.spec import Limits
from podium.text import format_size

INTERVAL_S = 0.15
"""The least time between two looks at memory and disk; processes are counted whenever asked."""


FURTHER_RATIO = 50
"""How much longer than a look at what takes long the time between two such looks is."""


class Watchdog:
    """Finds out whether a tree of processes has gone beyond its limits."""

    def __init__(self, root: int, limits: Limits, folders: Iterable[Path], *, enforced: Iterable[str]) -> None:
        """Watches the tree of process `root`, without the limits that the kernel enforces anyway."""
        self._root, self._limits = root, limits
        self._enforced = frozenset(enforced)
        self.disk = DiskMeter(folders, limits, nameless=self._nameless)
        self._further = Held()
        self._next = self._next_memory = self._next_further = 0.0

    def exceeded(self) -> str | None:
        """The first limit that is exceeded, as a sentence, or None."""
        reason = self._processes_exceeded()
        if reason is None and time.monotonic() >= self._next:
            self._next = time.monotonic() + INTERVAL_S
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
        held = look(pids)
        used = memory(self._root, pids, limit, held | self._further)
        if used > limit or started >= self._next_further:
            self._look_further(pids)
            used = memory(self._root, pids, limit, held | self._further)
        # Telling shared pages apart takes the kernel long where much is mapped.
        self._next_memory = time.monotonic() + 2 * (time.monotonic() - started)
        return f"memory limit of {format_size(limit)} exceeded ({format_size(used)} in use)" if used > limit else None

    def _look_further(self, pids: list[int]) -> None:
        started = time.monotonic()
        self._further = look_further(self._root, pids)
        self._next_further = time.monotonic() + FURTHER_RATIO * (time.monotonic() - started)

    def _nameless(self, devices: set[int]) -> int:
        pids = self._pids()
        return (look(pids) | look_further(self._root, pids)).disk(devices)

    def _pids(self) -> list[int]:
        return tree(self._root, self._limits.processes + 1)  # a fork bomb would keep us reading for ever
