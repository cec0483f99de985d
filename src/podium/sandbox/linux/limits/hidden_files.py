"""What processes hold that no folder shows: files without a name, shared memory, what waits in pipes and sockets."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from podium.sandbox.linux.limits.socket_buffers import SocketLook, internet_bytes

DESCRIPTORS = 50_000
"""Looked at, in all processes together: a program may open any number."""
PIPE_BYTES = 1 << 16
"""What a pipe is taken to hold: its usual size."""
_MEMORY_FILES = ("/memfd:", "/dev/zero")  # the second is how the kernel calls shared memory that has no file


@dataclass(frozen=True)
class NamelessFile:
    """A file that no folder shows: unlinked, or made by memfd_create."""

    size: int
    is_memory: bool


HeldFiles = dict[tuple[int, int], NamelessFile]
"""By device and number."""


@dataclass
class Held:
    """What some processes hold."""

    files: HeldFiles = field(default_factory=dict)
    queued: int = 0
    """Bytes in pipes and sockets."""

    def __or__(self, further: Held) -> Held:
        """Both, with the sizes of files from the first."""
        return Held({**further.files, **self.files}, self.queued + further.queued)

    def memory(self) -> int:
        """The size of files that are nothing but memory."""
        return sum(file.size for file in self.files.values() if file.is_memory)

    def disk(self, devices: set[int]) -> int:
        """The size of files on some devices."""
        found = self.files.items()
        return sum(file.size for (device, _), file in found if device in devices and not file.is_memory)

    def see(self, path: str, status: os.stat_result) -> None:
        """Counts an open file if it has no name."""
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
            is_memory = os.readlink(path).startswith(_MEMORY_FILES)
            self.files[status.st_dev, status.st_ino] = NamelessFile(status.st_blocks * 512, is_memory)


def look(pids: Iterable[int]) -> Held:
    """What processes hold by descriptors, without sockets of the internet."""
    held = Held()

    def see(descriptor: int) -> None:
        with contextlib.suppress(OSError):
            held.see(f"/proc/self/fd/{descriptor}", os.fstat(descriptor))

    sockets = SocketLook(see)
    pipes: set[int] = set()
    room = DESCRIPTORS
    for pid in pids:
        room = _look_at_descriptors(pid, held, sockets, pipes, room)
    held.queued = sockets.size + PIPE_BYTES * len(pipes)
    return held


def _look_at_descriptors(pid: int, held: Held, sockets: SocketLook, pipes: set[int], room: int) -> int:
    """Adds what a process has open; how many more descriptors may be looked at."""
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


def look_further(root: int, pids: Iterable[int]) -> Held:
    """What takes milliseconds for each process: the nameless files they have mapped; and sockets of the internet."""
    found: HeldFiles = {}
    for pid in pids:
        for line in _mappings(pid):
            key, file = _mapped_file(pid, line)
            if key not in found or found[key].size < file.size:
                found[key] = file
    return Held(found, internet_bytes(root))


def _mapped_file(pid: int, line: bytes) -> tuple[tuple[int, int], NamelessFile]:
    """A line of /proc/PID/maps; the size is that of the file if we may know it, else what is mapped."""
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
        # In names the kernel writes nothing but \n in another way: other ends of lines are parts of them.
        yield from (line for line in data.split(b"\n") if line.endswith(b"(deleted)"))
