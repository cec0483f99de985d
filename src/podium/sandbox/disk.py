"""How much somebody hostile has written: in folders that change while they are measured, locked, linked or endless."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from podium.sandbox.spec import Limits

INTERVAL_S = 10.0
DEPTH = 200  # folders within folders; each holds a descriptor while it is measured
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK


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


class DiskMeter:
    """Walks folders only when the file systems below them have really filled up, or after a while."""

    def __init__(self, folders: Iterable[Path], limits: Limits, *, nameless: Callable[[set[int]], int]) -> None:
        """Measures folders, and what `nameless` finds on their devices in files that no folder shows."""
        self._folders, self._limits, self._nameless = tuple(folders), limits, nameless
        self.last = Use()
        """What the folders held when they were last walked."""
        self._free = self._free_now()
        self._soonest = self._latest = 0.0

    def growth(self) -> Use:
        """What the folders hold; nothing when that has not grown since it was last looked at."""
        free, now = self._free_now(), time.monotonic()
        filled = self._free.size - free.size > self._limits.disk_bytes // 20
        crowded = self._free.files - free.files > self._limits.files // 20
        if now < self._soonest or not (filled or crowded or now > self._latest):
            return Use()
        before = self.last
        use = self.measure()
        # A program that only deletes is let be: it is mending the matter.
        return use if use.size > before.size or use.files > before.files or use.is_too_deep else Use()

    def measure(self) -> Use:
        """Walks the folders now."""
        self._free = self._free_now()
        started = time.monotonic()
        use = disk_use(self._folders, self._limits)
        use.size += self._nameless(self._devices())
        self.last = use
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

    def _free_now(self) -> Use:
        systems = {}
        for folder in self._folders:
            with contextlib.suppress(OSError):
                status = os.statvfs(folder)
                systems[status.f_fsid] = (status.f_bavail * status.f_frsize, status.f_favail)
        return Use(sum(size for size, _ in systems.values()), sum(files for _, files in systems.values()))


def disk_use(folders: Iterable[Path], limits: Limits) -> Use:
    """Blocks and entries below folders, counted until a limit is exceeded.

    Links are not followed, not even those that take the place of a folder meanwhile. What vanishes is not counted.
    """
    use = Use()
    for top in folders:
        levels: list[_Level] = []
        try:
            _descend(levels, top, use)
            while levels and not use.exceeds(limits):
                name = next(levels[-1].inner, None)
                if name is None:
                    levels.pop().opened.close()
                elif len(levels) < DEPTH:
                    _descend(levels, name, use)
                else:
                    use.is_too_deep = True
        finally:
            for level in reversed(levels):
                level.opened.close()
    return use


@dataclass(frozen=True)
class _Level:
    """A folder that is being measured, and those in it that have not been yet."""

    opened: contextlib.ExitStack
    folder: int
    inner: Iterator[str]


def _descend(levels: list[_Level], name: str | Path, use: Use) -> None:
    with contextlib.ExitStack() as opened, contextlib.suppress(OSError):
        folder = _enter(name, levels[-1].folder if levels else None, opened)
        inner = _count(folder, use)
        levels.append(_Level(opened.pop_all(), folder, iter(inner)))


def _enter(name: str | Path, parent: int | None, opened: contextlib.ExitStack) -> int:
    """Opens a folder for as long as it is measured, locked or not: it is our user's, whoever locked it."""
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    opened.callback(os.close, handle)
    mode = stat.S_IMODE(os.fstat(handle).st_mode)
    if mode & 0o500 != 0o500:
        place = f"/proc/self/fd/{handle}"  # this very folder, not whatever has its name by now
        os.chmod(place, mode | 0o500)  # noqa: PTH101
        opened.callback(os.chmod, place, mode)
    folder = os.open(".", _FOLDER, dir_fd=handle)
    opened.callback(os.close, folder)
    return folder


def _count(folder: int, use: Use) -> list[str]:
    """Adds what lies in a folder; the folders in it."""
    inner = []
    with os.scandir(folder) as entries:
        for entry in entries:
            use.files += 1
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.name)
                else:
                    use.add(entry)
    return inner
