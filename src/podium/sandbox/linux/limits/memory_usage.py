"""Memory of a process tree, as far as the kernel shows it to an ordinary user."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from podium.sandbox.linux.limits.hidden_files import HiddenStorage

_RESIDENT, _PAGE_TABLES = re.compile(rb"VmRSS:\s+(\d+)"), re.compile(rb"VmPTE:\s+(\d+)")


def measure_memory(root: int, pids: list[int], limit: int, held: HiddenStorage) -> int:
    """Return the memory of processes in bytes. Shared pages are separated only if the plain sum exceeds the limit.

    Args:
        root: one of them, whose /dev/shm is included.
    """
    kept = held.memory() + _shared_memory(root)
    used = [_use(pid) for pid in pids]
    tables = sum(use.tables for use in used) + held.queued
    resident = sum(use.resident for use in used) + tables + kept
    if resident <= limit:
        return resident
    shares = [_share(pid) for pid in pids]
    # Shared memory counts as mapped or as held, whichever is more: the overlap of the two cannot be determined.
    return tables + sum(share.private for share in shares) + max(kept, sum(share.shared for share in shares))


@dataclass(frozen=True)
class _Use:
    resident: int = 0
    tables: int = 0


@dataclass(frozen=True)
class _Share:
    private: int
    shared: int


def _use(pid: int) -> _Use:
    """Return the resident pages of a process and the size of its page tables."""
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return _Use()
    matches = [pattern.search(status) for pattern in (_RESIDENT, _PAGE_TABLES)]
    return _Use(*(0 if match is None else int(match[1]) * 1024 for match in matches))  # an exiting process has none


def _share(pid: int) -> _Share:
    """Return the memory charged to a process: its share of shared pages, swapped pages included."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return _Share(_use(pid).resident, 0)
    sizes = {name: int(amount.split()[0]) * 1024 for name, amount in (line.split(":") for line in lines)}
    shared = sizes.get("Pss_Shmem", 0)
    return _Share(sizes.get("Pss", 0) + sizes.get("SwapPss", 0) - shared, shared)


def _shared_memory(root: int) -> int:
    path = f"/proc/{root}/root/dev/shm"
    try:
        if os.stat(path).st_dev == os.stat("/dev/shm").st_dev:
            return 0  # the host's own, which others use as well
        status = os.statvfs(path)
    except OSError:
        return 0
    return (status.f_blocks - status.f_bfree) * status.f_frsize
