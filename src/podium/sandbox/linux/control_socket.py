"""The host's side of the control socket; `init.py`, which listens on the other, describes the requests."""

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
    """What a process inside reports when it is ready."""

    pid: int
    """As this side sees it."""
    text: str = ""


class Control:
    """Sends requests to the first process of a sandbox. Its methods may be called from any thread."""

    def __init__(self, channel: socket.socket, explain: Callable[[], str]) -> None:
        """
        Args:
            explain: says why the sandbox is gone, when it turns out that it is.
        """
        self._channel, self._explain = channel, explain
        self._sending = threading.Lock()

    def watch_this_process(self) -> None:
        """Has the first process end with this one, even if a child of this one has inherited the socket."""
        try:
            descriptor = os.pidfd_open(os.getpid())
        except OSError:  # an old kernel, where the end of the socket has to do
            return
        with contextlib.suppress(OSError), self._sending:
            socket.send_fds(self._channel, [b"p"], [descriptor])
        os.close(descriptor)

    def kill_all(self) -> None:
        self._tell(b"k")

    def pause(self) -> None:
        """Stops all programs; their supervisors go on."""
        self._tell(b"s")

    def resume(self) -> None:
        self._tell(b"c")

    def _tell(self, request: bytes) -> None:
        with contextlib.suppress(OSError), self._sending:
            self._channel.send(request)

    def close(self) -> None:
        """Ends the first process, and with it everything inside."""
        self._channel.close()

    def start(self, streams: Sequence[int]) -> socket.socket:
        """Our end of the socket to a new supervisor, which is to run a program with these streams."""
        return self._request(b"x", streams, credentials=True)

    def descriptor(self, kind: bytes, order: dict[str, object], *, name: str) -> int:
        """What the first process opens for us: a file (`o`) or a port (`l`).

        Raises:
            OSError: it cannot be opened, with `name` as its name.
            SandboxGoneError: the sandbox has stopped, or there is no room for a process.
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
        return SandboxGoneError(f"the sandbox is gone ({self._explain()})")

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
    """Our end and theirs of a control socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # Before anything is sent: a message without credentials would carry pid 0, which means ourselves.
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


def send_order(supervisor: socket.socket, order: dict[str, object]) -> None:
    body = marshal.dumps(order, 2)
    supervisor.sendall(len(body).to_bytes(4, "little") + body)


def receive_ready(channel: socket.socket) -> Ready | None:
    """What the process at the other end reports; None if it has gone, or is nobody's that this side can see."""
    message, ancillary, _, _ = channel.recvmsg(1024, socket.CMSG_SPACE(12))
    for level, kind, data in ancillary if message else ():
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            pid = int(struct.unpack("3i", data)[0])
            return Ready(pid, message[1:].decode("ascii")) if pid else None
    return None
