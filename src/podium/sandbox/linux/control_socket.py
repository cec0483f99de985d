"""Host side of the control socket; `init.py`, which listens at the other end, documents the requests."""

from __future__ import annotations

import contextlib
import errno
import marshal
import os
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from podium.errors import SandboxGoneError

PATIENCE_S = 30.0


@dataclass(frozen=True)
class Ready:
    """Report of a process inside that is ready."""

    pid: int
    """Process ID on the host."""
    text: str = ""


class Control:
    """Client of a sandbox's first process. Its methods may be called from any thread."""

    def __init__(self, channel: socket.socket, explain: Callable[[], str]) -> None:
        """Take over the host's end of a control socket.

        Args:
            explain: returns the reason why the sandbox has ended.
        """
        self._channel, self._explain = channel, explain
        self._sending = threading.Lock()

    def watch_this_process(self) -> None:
        """Make the first process exit with this one, even if a child of this one has inherited the socket."""
        try:
            descriptor = os.pidfd_open(os.getpid())
        except OSError:  # an old kernel, where closing the socket has to suffice
            return
        with contextlib.suppress(OSError), self._sending:
            socket.send_fds(self._channel, [b"p"], [descriptor])
        os.close(descriptor)

    def kill_all(self) -> None:
        self._send(b"k")

    def pause(self) -> None:
        """Stop all programs; their supervisors continue."""
        self._send(b"s")

    def resume(self) -> None:
        self._send(b"c")

    def _send(self, request: bytes) -> None:
        with contextlib.suppress(OSError), self._sending:
            self._channel.send(request)

    def close(self) -> None:
        """End the first process, and with it everything inside."""
        self._channel.close()

    def start(self, streams: Sequence[int]) -> socket.socket:
        """Return our end of the socket to a new supervisor, which will run a program with these streams."""
        return self._request(b"x", streams, credentials=True)

    def descriptor(self, kind: bytes, order: dict[str, object], *, name: str) -> int:
        """Return a descriptor that the first process opens for us: a file (`o`) or a port (`l`).

        Raises:
            OSError: it cannot be opened; the error carries `name`.
            SandboxGoneError: the sandbox has stopped, or cannot start another process.
        """
        with self._request(kind, []) as supervisor:
            try:
                send_order(supervisor, order)
                answer, descriptors, _, _ = socket.recv_fds(supervisor, 4, 1)
            except OSError as error:
                raise self.gone() from error
        if len(answer) < 4:
            raise self.gone()
        code = int.from_bytes(answer, "little")
        if code:
            raise OSError(code, os.strerror(code), name)
        os.set_inheritable(descriptors[0], False)
        return int(descriptors[0])

    def gone(self) -> SandboxGoneError:
        return SandboxGoneError(f"The sandbox has ended: {self._explain()}.")

    def _request(self, kind: bytes, descriptors: Sequence[int], *, credentials: bool = False) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, int(credentials))
        ours.settimeout(PATIENCE_S)
        try:
            with theirs, self._sending:
                socket.send_fds(self._channel, [kind], [theirs.fileno(), *descriptors])
        except OSError as error:
            ours.close()
            if error.errno in (errno.EPIPE, errno.ECONNRESET, errno.EBADF):
                raise self.gone() from error
            raise
        return ours


def control_pair() -> tuple[socket.socket, socket.socket]:
    """Return our end and the other end of a control socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # Before anything is sent: a message without credentials would carry pid 0, which means this process.
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


def send_order(supervisor: socket.socket, order: dict[str, object]) -> None:
    body = marshal.dumps(order, 2)
    supervisor.sendall(len(body).to_bytes(4, "little") + body)


def receive_ready(channel: socket.socket) -> Ready | None:
    """Return the report of the process at the other end, or None if it has exited or is invisible to this process."""
    message, ancillary, _, _ = channel.recvmsg(1024, socket.CMSG_SPACE(12))
    for level, kind, data in ancillary if message else ():
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            pid = int(struct.unpack("3i", data)[0])
            return Ready(pid, message[1:].decode("ascii")) if pid else None
    return None
