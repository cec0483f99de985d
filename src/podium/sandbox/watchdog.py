"""Measures what a sandbox uses where the kernel will not: memory and processes of a whole tree, disk of its folders."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from podium.sandbox.policy import GIB, MIB, Limits

DISK_INTERVAL_S = 10.0
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Use:
    """Disk space and number of files below some folders."""

    size: int
    files: int


class Watchdog:
    """Finds out whether a tree of processes has gone beyond its limits."""

    def __init__(self, root: int, limits: Limits, folders: Iterable[Path], *, enforced: Iterable[str]) -> None:
        """Watches the tree of process `root`, without the limits that the kernel enforces anyway."""
        self._root, self._limits = root, limits
        self._enforced = frozenset(enforced)
        self._disk = _DiskMeter(tuple(folders))

    def exceeded(self) -> str | None:
        """The first limit that is exceeded, as a sentence, or None."""
        limits = self._limits
        if not {"memory", "pids"} <= self._enforced:
            pids = tree(self._root)
            if "pids" not in self._enforced and (count := sum(map(_threads, pids))) > limits.processes:
                return f"process limit of {limits.processes:,} exceeded ({count:,} processes and threads)"
            if "memory" not in self._enforced and limits.memory_bytes is not None:
                used = memory(pids, limits.memory_bytes)
                if used > limits.memory_bytes:
                    return f"memory limit of {readable(limits.memory_bytes)} exceeded ({readable(used)} in use)"
        use = self._disk.growth(limits)
        if use.size > limits.disk_bytes:
            return f"disk limit of {readable(limits.disk_bytes)} exceeded ({readable(use.size)} written)"
        if use.files > limits.files:
            return f"limit of {limits.files:,} files exceeded ({use.files:,} found)"
        return None


class _DiskMeter:
    """Walks folders only when the file systems below them have really filled up, or after a while."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self._folders = folders
        self._last = Use(0, 0)
        self._free = self._free_now()
        self._next = 0.0

    def growth(self, limits: Limits) -> Use:
        """What the folders hold; nothing when that has not grown since it was last looked at."""
        free = self._free_now()
        filled = self._free.size - free.size > limits.disk_bytes // 20
        crowded = self._free.files - free.files > limits.files // 20
        if not (filled or crowded or time.monotonic() > self._next):
            return Use(0, 0)
        started = time.monotonic()
        use = disk_use(self._folders)
        grown = use.size > self._last.size or use.files > self._last.files
        self._last, self._free = use, free
        # Walking may never become the main work of the machine.
        self._next = time.monotonic() + max(DISK_INTERVAL_S, 20 * (time.monotonic() - started))
        # A program that only deletes is let be: it is mending the matter.
        return use if grown else Use(0, 0)

    def _free_now(self) -> Use:
        systems = {}
        for folder in self._folders:
            status = os.statvfs(folder)
            systems[status.f_fsid] = (status.f_bavail * status.f_frsize, status.f_favail)
        return Use(sum(size for size, _ in systems.values()), sum(files for _, files in systems.values()))


def disk_use(folders: Iterable[Path]) -> Use:
    """Blocks and entries below folders, links not followed; what vanishes meanwhile is not counted."""
    size = files = 0
    pending = [os.fspath(folder) for folder in folders]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    files += 1
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return Use(size, files)


def tree(root: int) -> list[int]:
    """A process and everything below it."""
    found, pending = [], [root]
    while pending:
        pid = pending.pop()
        found.append(pid)
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                children = Path(f"/proc/{pid}/task/{thread}/children").read_text()
                pending.extend(map(int, children.split()))
        except OSError:
            continue  # it has ended
    return found


def memory(pids: list[int], limit: int) -> int:
    """What processes hold together. Pages they share are told apart only when the plain sum is over the limit."""
    held = sum(map(_held_outside, pids))
    resident = sum(map(_resident, pids)) + held
    return resident if resident <= limit else sum(map(_proportional, pids)) + held


def _threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def _proportional(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _resident(pid)


def _held_outside(pid: int) -> int:
    """Memory files (memfd_create) that are open but need not be mapped."""
    held = {}
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            path = f"/proc/{pid}/fd/{name}"
            try:
                if os.readlink(path).startswith("/memfd:"):
                    status = os.stat(path)
                    held[status.st_ino] = status.st_blocks * 512
            except OSError:
                continue
    except OSError:
        pass
    return sum(held.values())


def readable(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / MIB:.0f} MiB"
