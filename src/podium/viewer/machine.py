"""What a run uses of this machine right now: cores, memory, and what it has leased."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from podium.errors import PodiumError
from podium.leases import default_pool
from podium.leases.queue import Claim

_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
LEAST_INTERVAL_S = 0.5
"""Cores in use are a mean over at least so long."""


@dataclass(frozen=True)
class MachineUse:
    """What the processes of a run use."""

    processes: int
    memory_bytes: int
    busy_cores: float | None
    """None until it was measured twice."""
    leased_cores: int
    leased_gpus: int
    is_waiting: bool
    """Whether it waits for a lease."""


class MachineWatch:
    """Measures runs; remembers the processor time they had used before. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._before: dict[int, tuple[float, float, float | None]] = {}

    def measure(self, lock: Path) -> MachineUse | None:
        """What the process that holds a run's lock, and all it has started, use; None if it is not on this machine."""
        pid = lock_holder(lock)
        found = list(_family(pid)) if pid is not None else []
        if pid is None or not found:
            return None
        claims = [claim for claim in _claims() if claim.pid == pid]
        return MachineUse(
            processes=len(found),
            memory_bytes=sum(_memory(each) for each, _ in found),
            busy_cores=self._busy_cores(pid, sum(seconds for _, seconds in found)),
            leased_cores=sum(len(claim.cores) for claim in claims),
            leased_gpus=sum(len(claim.gpus) for claim in claims),
            is_waiting=any(claim.is_waiting for claim in claims),
        )

    def _busy_cores(self, pid: int, used_s: float) -> float | None:
        now = time.monotonic()
        with self._lock:
            then, before_s, busy = self._before.get(pid, (now, used_s, None))
            if now - then >= LEAST_INTERVAL_S:
                busy = max(0.0, used_s - before_s) / (now - then)  # a process that ended takes its time with it
            if now - then >= LEAST_INTERVAL_S or pid not in self._before:
                self._before[pid] = now, used_s, busy
        return busy


def lock_holder(lock: Path) -> int | None:
    """The process that holds a lock, as the kernel says: what is written in the file is anybody's word."""
    try:
        found = lock.lstat()
        table = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return None
    device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    for line in table.splitlines():
        _, kind, _, _, pid, file, *_ = [*line.split(), *[""] * 6]
        if kind == "FLOCK" and file == device and pid.isdecimal():
            return int(pid)
    return None


def _family(pid: int) -> Iterator[tuple[int, float]]:
    """A process and all that descend from it, each with the processor time it has used."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for name in (path.name for path in Path("/proc").iterdir()):
        if name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                text = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
                fields = text.rpartition(")")[2].split()  # a program's name may hold anything
                parents[int(name)], seconds[int(name)] = int(fields[1]), (int(fields[11]) + int(fields[12])) * _TICK_S
    children: dict[int, list[int]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    waiting = [pid] if pid in parents else []
    while waiting:
        member = waiting.pop()
        yield member, seconds[member]
        waiting += children.get(member, [])


def _memory(pid: int) -> int:
    """The memory of a process; what it shares with others counts in part, where the kernel lets us know."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    with contextlib.suppress(OSError, ValueError, IndexError):
        return os.sysconf("SC_PAGE_SIZE") * int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return 0


def _claims() -> list[Claim]:
    try:
        return default_pool().holders()
    except (PodiumError, OSError):
        return []
