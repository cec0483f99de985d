"""How much somebody hostile has written, and how it is brought back to what may be written."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from podium.safefs.walk_hostile import shorten, walk
from podium.sandbox.spec import GIB, Limits
from podium.text import format_size

INTERVAL_S = 10.0
RESERVE_BYTES, RESERVE_SHARE = 1 * GIB, 50
"""Of a file system this much, or one part in so many if that is less, is left to others."""
_BLOCK = 4096


@dataclass
class Use:
    """Disk space and number of files below some folders."""

    size: int = 0
    files: int = 0
    is_too_deep: bool = False
    _linked: set[tuple[int, int]] = field(default_factory=set, repr=False, compare=False)

    def exceeds(self, limits: Limits) -> bool:
        return self.size > limits.disk_bytes or self.files > limits.files or self.is_too_deep

    def add(self, entry: os.DirEntry[str]) -> None:
        """Counts a file, once if it has several names."""
        status = entry.stat(follow_symlinks=False)
        if status.st_nlink > 1:
            identity = (status.st_dev, status.st_ino)
            if identity in self._linked:
                return
            self._linked.add(identity)
        self.size += status.st_blocks * 512


@dataclass(frozen=True)
class _Room:
    """What is free on the file systems of some folders."""

    size: int
    files: int
    above_reserve: int
    """On the fullest of them, before others are left too little; negative when they are already."""


class DiskMeter:
    """Walks folders only when the file systems below them have really filled up, or after a while."""

    def __init__(self, folders: Iterable[Path], limits: Limits, *, nameless: Callable[[set[int]], int]) -> None:
        """Measures folders, and what `nameless` finds on their devices in files that no folder shows."""
        self._folders, self._limits, self._nameless = tuple(folders), limits, nameless
        self._last = Use()
        self._room = self._room_now()
        self._soonest = self._latest = 0.0

    def exceeded(self) -> str | None:
        """The first limit that is exceeded, as a sentence. A program that only deletes is let be."""
        limits, use, room = self._limits, self._growth(), self._room
        if use.size > limits.disk_bytes:
            return f"disk limit of {format_size(limits.disk_bytes)} exceeded ({format_size(use.size)} written)"
        if use.files > limits.files:
            return f"limit of {limits.files:,} files exceeded ({use.files:,} found)"
        if use.is_too_deep:
            return "folders are nested too deep to be measured"
        if use.size and room.above_reserve < 0:
            return f"the disk is nearly full ({format_size(room.size)} free)"
        return None

    def left(self) -> int:
        """How much may still be written; measured anew if it was nothing."""
        if self._last.size > self._limits.disk_bytes - _BLOCK:
            self._measure()
        left = min(self._limits.disk_bytes - self._last.size, self._room_now().above_reserve)
        return left if left >= _BLOCK else 0

    def cut_back(self) -> None:
        """Shortens the files that were changed last until no more is written than may be; nobody may be writing."""
        everything = self._limits.model_copy(update={"disk_bytes": 1 << 62})
        use = disk_use(self._folders, everything)
        surplus = max(use.size - self._limits.disk_bytes, -self._room_now().above_reserve)
        if surplus > 0:
            shorten(self._folders, surplus)
            self._measure()

    def _growth(self) -> Use:
        """What the folders hold; nothing when that has not grown since it was last looked at."""
        room, now = self._room_now(), time.monotonic()
        filled = self._room.size - room.size > self._limits.disk_bytes // 20 or room.above_reserve < 0
        crowded = self._room.files - room.files > self._limits.files // 20
        if now < self._soonest or not (filled or crowded or now > self._latest):
            return Use()
        before = self._last
        use = self._measure()
        return use if use.size > before.size or use.files > before.files or use.is_too_deep else Use()

    def _measure(self) -> Use:
        """Walks the folders now."""
        self._room = self._room_now()
        started = time.monotonic()
        use = disk_use(self._folders, self._limits)
        use.size += self._nameless(self._devices())
        self._last = use
        ended = time.monotonic()
        # Walking may never become the main work of the machine, whatever a program does to its files.
        self._soonest = ended + 2 * (ended - started)
        self._latest = ended + max(INTERVAL_S, 20 * (ended - started))
        return use

    def _devices(self) -> set[int]:
        """The file systems the folders are on."""
        found = set()
        for folder in self._folders:
            with contextlib.suppress(OSError):
                found.add(folder.stat().st_dev)
        return found

    def _room_now(self) -> _Room:
        systems = {}
        for folder in self._folders:
            with contextlib.suppress(OSError):
                status = os.statvfs(folder)
                systems[status.f_fsid] = status
        sizes = [status.f_bavail * status.f_frsize for status in systems.values()]
        reserves = [min(RESERVE_BYTES, found.f_blocks * found.f_frsize // RESERVE_SHARE) for found in systems.values()]
        above = min((size - reserve for size, reserve in zip(sizes, reserves, strict=True)), default=0)
        return _Room(sum(sizes), sum(status.f_favail for status in systems.values()), above)


def disk_use(folders: Iterable[Path], limits: Limits) -> Use:
    """Blocks and entries below folders, counted until a limit is exceeded. What vanishes is not counted."""
    use = Use()
    with contextlib.closing(walk(folders)) as found:
        for _, entry in found:
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
