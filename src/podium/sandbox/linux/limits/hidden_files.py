"""Hidden storage: unlinked files, shared memory, and data queued in pipes and sockets, which no folder shows."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from podium.sandbox.linux.limits.socket_buffers import SocketScan, internet_bytes

MAX_DESCRIPTORS = 50_000
"""Maximum number of descriptors examined, in all processes together; a program may open any number."""
PIPE_BYTES = 1 << 16
"""Assumed content of a pipe: its default capacity."""
_MEMORY_FILES = ("/memfd:", "/dev/zero")  # the second is how the kernel calls shared memory that has no file


@dataclass(frozen=True)
class NamelessFile:
    """File that no folder shows: unlinked, or created by memfd_create."""

    size: int
    is_memory: bool


HeldFiles = dict[tuple[int, int], NamelessFile]
"""Nameless files by device and inode number."""


@dataclass
class HiddenStorage:
    """Storage held by some processes that no folder shows."""

    files: HeldFiles = field(default_factory=dict)
    queued: int = 0
    """Bytes in pipes and sockets."""

    def __or__(self, further: HiddenStorage) -> HiddenStorage:
        """Merge both, with the sizes of files from the first."""
        return HiddenStorage({**further.files, **self.files}, self.queued + further.queued)

    def memory(self) -> int:
        """Return the size of files that are only in memory."""
        return sum(file.size for file in self.files.values() if file.is_memory)

    def disk(self, devices: set[int]) -> int:
        """Return the size of files on some devices."""
        entries = self.files.items()
        return sum(file.size for (device, _), file in entries if device in devices and not file.is_memory)

    def see(self, path: str, status: os.stat_result) -> None:
        """Count an open file if it has no name."""
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
            is_memory = os.readlink(path).startswith(_MEMORY_FILES)
            self.files[status.st_dev, status.st_ino] = NamelessFile(status.st_blocks * 512, is_memory)


def scan_descriptors(pids: Iterable[int]) -> HiddenStorage:
    """Return the storage that processes hold by descriptors, except Internet sockets."""
    held = HiddenStorage()

    def see(descriptor: int) -> None:
        with contextlib.suppress(OSError):
            held.see(f"/proc/self/fd/{descriptor}", os.fstat(descriptor))

    sockets = SocketScan(see)
    pipes: set[int] = set()
    room = MAX_DESCRIPTORS
    for pid in pids:
        room = _scan_descriptors(pid, held, sockets, pipes, room)
    held.queued = sockets.size + PIPE_BYTES * len(pipes)
    return held


def _scan_descriptors(pid: int, held: HiddenStorage, sockets: SocketScan, pipes: set[int], room: int) -> int:
    """Add the open descriptors of a process; return how many more may be examined."""
    with contextlib.ExitStack() as opened, contextlib.suppress(OSError):
        process = os.pidfd_open(pid)
        opened.callback(os.close, process)
        for name in os.listdir(f"/proc/{pid}/fd")[:room]:
            room -= 1
            path = f"/proc/{pid}/fd/{name}"
            with contextlib.suppress(OSError):  # closed meanwhile
                status = os.stat(path)
                held.see(path, status)
                if stat.S_ISFIFO(status.st_mode):
                    pipes.add(status.st_ino)
                elif stat.S_ISSOCK(status.st_mode):
                    sockets.add(process, path, status.st_ino)
    return room


def scan_mappings(root: int, pids: Iterable[int]) -> HiddenStorage:
    """Return the slow part, milliseconds per process: nameless files they have mapped, and their Internet sockets."""
    files: HeldFiles = {}
    for pid in pids:
        for line in _mappings(pid):
            key, file = _mapped_file(pid, line)
            if key not in files or files[key].size < file.size:
                files[key] = file
    return HiddenStorage(files, internet_bytes(root))


def _mapped_file(pid: int, line: bytes) -> tuple[tuple[int, int], NamelessFile]:
    """Parse a line of /proc/PID/maps; the size is that of the file if it is accessible, else that of the mapping."""
    span, _, offset, device, inode, path = line.split(maxsplit=5)
    start, end = (int(part, 16) for part in span.split(b"-"))
    major, minor = (int(part, 16) for part in device.split(b":"))
    size = int(offset, 16) + end - start
    with contextlib.suppress(OSError):
        size = os.stat(f"/proc/{pid}/map_files/{start:x}-{end:x}").st_blocks * 512
    return (os.makedev(major, minor), int(inode)), NamelessFile(size, os.fsdecode(path).startswith(_MEMORY_FILES))


def _mappings(pid: int) -> Iterator[bytes]:
    try:
        data = Path(f"/proc/{pid}/maps").read_bytes()
    except OSError:
        return
    if b"(deleted)" in data:
        # The kernel escapes only \n in names: other line separators are parts of them.
        yield from (line for line in data.split(b"\n") if line.endswith(b"(deleted)"))
