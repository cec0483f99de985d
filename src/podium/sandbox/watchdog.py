"""Measures what a sandbox uses where the kernel will not: memory and processes of a whole tree, disk of its folders."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from podium.sandbox.disk import DiskMeter
from podium.sandbox.spec import Limits
from podium.text import format_size

INTERVAL_S = 0.15
"""The least time between two looks at memory and disk; processes are counted whenever asked."""
DESCRIPTORS = 50_000
"""Looked at, in all processes together, for files that have no name: a program may open any number."""
PAGE = os.sysconf("SC_PAGE_SIZE")


class Watchdog:
    """Finds out whether a tree of processes has gone beyond its limits."""

    def __init__(self, root: int, limits: Limits, folders: Iterable[Path], *, enforced: Iterable[str]) -> None:
        """Watches the tree of process `root`, without the limits that the kernel enforces anyway."""
        self._root, self._limits = root, limits
        self._enforced = frozenset(enforced)
        self._disk = DiskMeter(folders, limits, nameless=self._nameless)
        self._next = self._next_memory = 0.0

    def exceeded(self) -> str | None:
        """The first limit that is exceeded, as a sentence, or None."""
        reason = self._processes_exceeded()
        if reason is None and time.monotonic() >= self._next:
            self._next = time.monotonic() + INTERVAL_S
            reason = self._memory_exceeded() or self._disk_exceeded()
        return reason

    def is_disk_full(self) -> bool:
        """Whether the limit of disk space is exceeded now; looked up only if it was."""
        if self._disk.last.size <= self._limits.disk_bytes:
            return False
        return self._disk.measure().size > self._limits.disk_bytes

    def _processes_exceeded(self) -> str | None:
        limit = self._limits.processes
        if "pids" not in self._enforced and has_more_tasks(self._root, limit):
            return f"process limit of {limit:,} exceeded"
        return None

    def _memory_exceeded(self) -> str | None:
        limit, started = self._limits.memory_bytes, time.monotonic()
        if "memory" in self._enforced or limit is None or started < self._next_memory:
            return None
        used = memory(self._root, self._pids(), limit)
        # Telling shared pages apart takes the kernel long where much is mapped.
        self._next_memory = time.monotonic() + 2 * (time.monotonic() - started)
        return f"memory limit of {format_size(limit)} exceeded ({format_size(used)} in use)" if used > limit else None

    def _disk_exceeded(self) -> str | None:
        limits, use = self._limits, self._disk.growth()
        if use.size > limits.disk_bytes:
            return f"disk limit of {format_size(limits.disk_bytes)} exceeded ({format_size(use.size)} written)"
        if use.files > limits.files:
            return f"limit of {limits.files:,} files exceeded ({use.files:,} found)"
        if use.is_too_deep:
            return "folders are nested too deep to be measured"
        return None

    def _nameless(self, devices: set[int]) -> int:
        return sum(file.size for file in nameless_files(self._pids()) if file.device in devices)

    def _pids(self) -> list[int]:
        return tree(self._root, self._limits.processes + 1)  # a fork bomb would keep us reading for ever


def tree(root: int, at_most: int | None = None) -> list[int]:
    """A process and everything below it, or a number of them."""
    found: list[int] = []
    pending = [root]
    while pending and (at_most is None or len(found) < at_most):
        pid = pending.pop()
        found.append(pid)
        pending += [child for children in _children(pid) for child in children]
    return found


def has_more_tasks(root: int, limit: int) -> bool:
    """Whether there are more processes and threads in a tree than a number, without counting the rest.

    Children are counted as they are listed: those of a fork bomb have often ended before one can look at them.
    """
    count, pending = 1, [root]
    while pending and count <= limit:
        threads = _children(pending.pop())
        pending += [child for children in threads for child in children]
        count += len(threads) - 1 + sum(map(len, threads))
    return count > limit


def processor_s(root: int) -> float:
    """The processor time that programs have taken: what is below the supervisors of a first process."""
    supervisors = [child for children in _children(root) for child in children]
    ticks = 0
    for supervisor in supervisors:
        _, buried = _ticks(supervisor)
        ticks += buried + sum(sum(_ticks(pid)) for pid in tree(supervisor)[1:])
    return ticks / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> tuple[int, int]:
    """The processor time of a process, and that of its children which have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, 0
    user, system, children_user, children_system = map(int, fields[11:15])
    return user + system, children_user + children_system


def _children(pid: int) -> list[list[int]]:
    """What each thread of a process has started; one empty list for a process that has ended."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        return [[*map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())] for thread in threads]
    except OSError:
        return [[]]


def memory(root: int, pids: list[int], limit: int) -> int:
    """What processes hold. Pages they share are told apart only when the plain sum is over the limit.

    Args:
        root: one of them, whose /dev/shm is theirs.
    """
    held = sum(file.size for file in nameless_files(pids) if file.is_memory) + _shared_memory(root)
    resident = sum(map(_resident, pids)) + held
    if resident <= limit:
        return resident
    shares = [_share(pid) for pid in pids]
    # Shared memory is counted as mapped or as held, whichever is more: which of it is both nobody tells.
    return sum(share.private for share in shares) + max(held, sum(share.shared for share in shares))


@dataclass(frozen=True)
class _Share:
    private: int
    shared: int


@dataclass(frozen=True)
class NamelessFile:
    """An open file that no folder shows: unlinked, or made by memfd_create."""

    device: int
    number: int
    size: int
    is_memory: bool


def nameless_files(pids: Iterable[int]) -> set[NamelessFile]:
    """The nameless files that processes hold open."""
    found = set()
    for path, _ in zip(_descriptors(pids), range(DESCRIPTORS), strict=False):
        try:
            status = os.stat(path)
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                is_memory = os.readlink(path).startswith("/memfd:")
                found.add(NamelessFile(status.st_dev, status.st_ino, status.st_blocks * 512, is_memory))
        except OSError:
            continue  # closed meanwhile
    return found


def _descriptors(pids: Iterable[int]) -> Iterator[str]:
    for pid in pids:
        try:
            yield from (f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            continue


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def _share(pid: int) -> _Share:
    """What a process may be charged with, pages of several divided among them; swapped ones too."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return _Share(_resident(pid), 0)
    sizes = {name: int(amount.split()[0]) * 1024 for name, amount in (line.split(":") for line in lines)}
    shared = sizes.get("Pss_Shmem", 0)
    return _Share(sizes.get("Pss", 0) + sizes.get("SwapPss", 0) - shared, shared)


def _shared_memory(root: int) -> int:
    place = f"/proc/{root}/root/dev/shm"
    try:
        if os.stat(place).st_dev == os.stat("/dev/shm").st_dev:
            return 0  # the host's own, which is not theirs alone
        status = os.statvfs(place)
    except OSError:
        return 0
    return (status.f_blocks - status.f_bfree) * status.f_frsize
