"""Data queued in the sockets of untrusted programs: bytes that no process maps, descriptors that no process holds.

Only unix sockets are opened here, because closing them never blocks. For others, the kernel lists the number of
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
_SENT, _FORWARDED = 2, 4  # indices: bytes sent and not yet read, bytes reserved for more
_MAX_DESCRIPTORS_PER_MESSAGE = 253
_MAX_MESSAGES = 10_000  # looked at in one socket
_INTERNET = ("tcp", "tcp6", "udp", "udp6")


class SocketScan:
    """Single scan of the sockets of some processes."""

    def __init__(self, see: Callable[[int], None]) -> None:
        """Start a scan.

        Args:
            see: callback for each descriptor in flight that is not a socket; it is closed afterwards.
        """
        self.size = 0
        """Bytes in the sockets scanned so far."""
        self._see = see
        self._seen: set[int] = set()
        self._buffer = bytearray(1 << 20)

    def add(self, pidfd: int, path: str, inode: int) -> None:
        """Scan a socket that a process holds, as /proc/PID/fd shows it; each socket only once."""
        if inode in self._seen or not _is_unix(path):
            return
        ours = ctypes.CDLL(None).syscall(_PIDFD_GETFD, pidfd, int(Path(path).name), 0)
        if ours >= 0:
            self._look(ours)

    def _look(self, descriptor: int) -> None:
        """Count the content of a socket, and of the sockets queued in it; close it."""
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
        """Yield the sizes of readable messages, after showing the descriptors in them; leaves the socket as it was."""
        before = opened.getsockopt(socket.SOL_SOCKET, _SO_PEEK_OFF)
        opened.setsockopt(socket.SOL_SOCKET, _SO_PEEK_OFF, 0)
        room = socket.CMSG_SPACE(4 * _MAX_DESCRIPTORS_PER_MESSAGE)
        flags = socket.MSG_PEEK | socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
        try:
            for _ in range(_MAX_MESSAGES):
                size, ancillary, _, _ = opened.recvmsg_into([self._buffer], room, flags)
                if not size and not ancillary:
                    return
                for level, kind, data in ancillary:
                    if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                        self._show(array.array("i", data[: len(data) // 4 * 4]))
                yield size
        except OSError:  # no more messages, or none at all
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
    """Return the bytes queued in the Internet sockets of a process's network; 0 if it is the host's, which all share.

    The kernel goes through the sockets of all networks, which takes milliseconds.
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
    """Return whether the kernel reports a unix socket; names that programs choose can forge its list of sockets."""
    try:
        return os.getxattr(path, "system.sockprotoname").startswith(b"UNIX")
    except OSError:  # closed meanwhile
        return False
