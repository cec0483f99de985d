"""What waits in the sockets of hostile programs: bytes that no process maps, descriptors that no process holds.

Only sockets of the family `unix` are opened here, which never make who closes them wait. Of others the kernel lists the
bytes.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import os
import select
import socket
import stat
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

_PIDFD_GETFD = 438
_SO_MEMINFO, _SO_PEEK_OFF = 55, 42
_MEMORY = struct.Struct("9I")
_SENT, _FORWARDED = 2, 4  # places in it: what was sent and is not read yet, what is kept for more
_DESCRIPTORS_IN_A_MESSAGE = 253
_MESSAGES = 10_000  # looked at in one socket
_INTERNET = ("tcp", "tcp6", "udp", "udp6")


class SocketLook:
    """One look at the sockets of some processes."""

    def __init__(self, see: Callable[[int], None]) -> None:
        """
        Args:
            see: is shown each descriptor in flight that is not a socket, for as long as it returns.
        """
        self.size = 0
        """Bytes in the sockets that were looked at."""
        self._see = see
        self._seen: set[int] = set()
        self._buffer = bytearray(1 << 20)

    def add(self, pidfd: int, path: str, inode: int) -> None:
        """Looks at a socket that a process holds, as /proc/PID/fd shows it; once at each."""
        if inode in self._seen or not _is_unix(path):
            return
        ours = ctypes.CDLL(None).syscall(_PIDFD_GETFD, pidfd, int(Path(path).name), 0)
        if ours >= 0:
            self._look(ours)

    def _look(self, descriptor: int) -> None:
        """Counts what is in a socket, and in the sockets in it; closes it."""
        with contextlib.suppress(OSError), socket.socket(fileno=descriptor) as opened:
            inode = os.fstat(descriptor).st_ino
            if inode in self._seen or opened.family != socket.AF_UNIX:
                return
            self._seen.add(inode)
            memory = _MEMORY.unpack(opened.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMORY.size))
            self.size += memory[_SENT] + memory[_FORWARDED]
            if _can_be_read(opened):
                self.size += sum(self._messages(opened))

    def _messages(self, opened: socket.socket) -> Iterator[int]:
        """The sizes of what can be read from a socket, after showing the descriptors in it; leaves it as it was."""
        before = opened.getsockopt(socket.SOL_SOCKET, _SO_PEEK_OFF)
        opened.setsockopt(socket.SOL_SOCKET, _SO_PEEK_OFF, 0)
        room = socket.CMSG_SPACE(4 * _DESCRIPTORS_IN_A_MESSAGE)
        flags = socket.MSG_PEEK | socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
        try:
            for _ in range(_MESSAGES):
                size, ancillary, _, _ = opened.recvmsg_into([self._buffer], room, flags)
                if not size and not ancillary:
                    return
                for level, kind, data in ancillary:
                    if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                        self._show(array.array("i", data[: len(data) // 4 * 4]))
                yield size
        except OSError:  # nothing more, or nothing at all
            return
        finally:
            opened.setsockopt(socket.SOL_SOCKET, _SO_PEEK_OFF, before)

    def _show(self, descriptors: array.array[int]) -> None:
        for descriptor in descriptors:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                self._look(descriptor)
            else:
                self._see(descriptor)
                os.close(descriptor)


def _can_be_read(opened: socket.socket) -> bool:
    events = select.poll()
    events.register(opened, select.POLLIN)
    return bool(events.poll(0))


def internet_bytes(pid: int) -> int:
    """What waits in the internet sockets of a process's network; 0 where that is ours, with everybody's sockets.

    The kernel goes through those of all networks, which takes it milliseconds.
    """
    total = 0
    with contextlib.suppress(OSError):
        if os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            return 0
        for name in _INTERNET:
            for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
                sent, _, received = line.split()[4].partition(":")
                total += int(sent, 16) + int(received, 16)
    return total


def _is_unix(path: str) -> bool:
    """Asks for the kernel's word: in its list of sockets, names that programs choose can break and forge lines."""
    try:
        return os.getxattr(path, "system.sockprotoname").startswith(b"UNIX")
    except OSError:  # closed meanwhile
        return False
