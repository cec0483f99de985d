"""Disk usage of untrusted folders: measures it and truncates files that exceed the limit."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from podium.safefs.walk_hostile import truncate_newest, walk
from podium.sandbox.spec import GIB, Limits
from podium.text import format_size

INTERVAL_S = 10.0
RESERVE_BYTES, RESERVE_SHARE = 1 * GIB, 50
"""Free space always kept on a file system: RESERVE_BYTES or 1/RESERVE_SHARE of it, whichever is smaller."""
_BLOCK = 4096


@dataclass
class DiskUsage:
    """Disk space and number of files below some folders."""

    size: int = 0
    files: int = 0
    is_too_deep: bool = False
    _linked: set[tuple[int, int]] = field(default_factory=set, repr=False, compare=False)

    def exceeds(self, limits: Limits) -> bool:
        return self.size > limits.disk_bytes or self.files > limits.files or self.is_too_deep

    def add(self, entry: os.DirEntry[str]) -> None:
        """Count a file, once even if it has several names."""
        status = entry.stat(follow_symlinks=False)
        if status.st_nlink > 1:
            identity = (status.st_dev, status.st_ino)
            if identity in self._linked:
                return
            self._linked.add(identity)
        self.size += status.st_blocks * 512


@dataclass(frozen=True)
class _Room:
    """Free space on the file systems of some folders."""

    size: int
    files: int
    above_reserve: int
    """Free bytes above the reserve on the fullest of them; negative if the reserve is already in use."""


class DiskMeter:
    """Disk meter: walks folders only when their file systems have filled up considerably, or after a while."""

    def __init__(self, folders: Iterable[Path], limits: Limits, *, nameless: Callable[[set[int]], int]) -> None:
        """Measure folders, plus the size that `nameless` returns for files on their devices that no folder shows."""
        self._folders, self._limits, self._nameless = tuple(folders), limits, nameless
        self._last = DiskUsage()
        self._room = self._room_now()
        self._soonest = self._latest = 0.0

    def exceeded(self) -> str | None:
        """Return the first exceeded limit as a clause, or None. A program that only deletes is not stopped."""
        limits, use, room = self._limits, self._growth(), self._room
        if use.size > limits.disk_bytes:
            return f"disk limit of {format_size(limits.disk_bytes)} exceeded ({format_size(use.size)} written)"
        if use.files > limits.files:
            return f"limit of {limits.files:,} files exceeded ({use.files:,} found)"
        if use.is_too_deep:
            return "folders are nested too deeply to be measured"
        if use.size and room.above_reserve < 0:
            return f"the disk is nearly full ({format_size(room.size)} free)"
        return None

    def bytes_left(self) -> int:
        """Return the number of bytes that may still be written; measures again if there were none."""
        if self._last.size > self._limits.disk_bytes - _BLOCK:
            self._measure()
        left = min(self._limits.disk_bytes - self._last.size, self._room_now().above_reserve)
        return left if left >= _BLOCK else 0

    def truncate_to_limits(self) -> None:
        """Truncate the most recently changed files to meet the limits; no program may be writing meanwhile."""
        everything = self._limits.model_copy(update={"disk_bytes": 1 << 62})
        use = measure_disk_usage(self._folders, everything)
        surplus = max(use.size - self._limits.disk_bytes, -self._room_now().above_reserve)
        if surplus > 0:
            truncate_newest(self._folders, surplus)
            self._measure()

    def _growth(self) -> DiskUsage:
        """Return the usage of the folders, or zero if it has not grown since the last measurement."""
        room, now = self._room_now(), time.monotonic()
        filled = self._room.size - room.size > self._limits.disk_bytes // 20 or room.above_reserve < 0
        crowded = self._room.files - room.files > self._limits.files // 20
        if now < self._soonest or not (filled or crowded or now > self._latest):
            return DiskUsage()
        before = self._last
        use = self._measure()
        return use if use.size > before.size or use.files > before.files or use.is_too_deep else DiskUsage()

    def _measure(self) -> DiskUsage:
        """Measure the folders now."""
        self._room = self._room_now()
        started = time.monotonic()
        use = measure_disk_usage(self._folders, self._limits)
        use.size += self._nameless(self._devices())
        self._last = use
        ended = time.monotonic()
        # Walking must never become the main work of the machine, even if a program has created millions of files.
        self._soonest = ended + 2 * (ended - started)
        self._latest = ended + max(INTERVAL_S, 20 * (ended - started))
        return use

    def _devices(self) -> set[int]:
        """Return the devices that the folders are on."""
        devices = set()
        for folder in self._folders:
            with contextlib.suppress(OSError):
                devices.add(folder.stat().st_dev)
        return devices

    def _room_now(self) -> _Room:
        systems = {}
        for folder in self._folders:
            with contextlib.suppress(OSError):
                status = os.statvfs(folder)
                systems[status.f_fsid] = status
        sizes = [status.f_bavail * status.f_frsize for status in systems.values()]
        reserves = [min(RESERVE_BYTES, fs.f_blocks * fs.f_frsize // RESERVE_SHARE) for fs in systems.values()]
        above = min((size - reserve for size, reserve in zip(sizes, reserves, strict=True)), default=0)
        return _Room(sum(sizes), sum(status.f_favail for status in systems.values()), above)


def measure_disk_usage(folders: Iterable[Path], limits: Limits) -> DiskUsage:
    """Count blocks and entries below folders until a limit is exceeded, ignoring what vanishes meanwhile."""
    use = DiskUsage()
    with contextlib.closing(walk(folders)) as entries:
        for _, entry in entries:
            if entry is None:
                use.is_too_deep = True
            else:
                use.files += 1
                with contextlib.suppress(OSError):
                    if not entry.is_dir(follow_symlinks=False):
                        use.add(entry)
            if use.exceeds(limits):
                break
    return use
