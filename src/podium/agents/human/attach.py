"""Client of the agent `human`: connects a person's terminal with the shell of a run."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import sys
import termios
import time
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from podium.errors import PodiumError

SOCKET = Path("agent", "terminal.sock")
LEAVE = b"\x1d"
"""Key that detaches from the shell: Ctrl-]."""
PATIENCE_S = 30.0
_HEADER = struct.Struct(">cH")


def attach(workspace: Path, *, patience_s: float = PATIENCE_S) -> Literal["ended", "left"]:
    """Connect this terminal with the shell until the shell ends or the person detaches.

    Args:
        workspace: the run's workspace on this machine.
        patience_s: seconds to wait for the run to open the shell.

    Raises:
        PodiumError: the run has no open shell.
    """
    with _connect(workspace / SOCKET, patience_s) as shell, _raw_terminal(), _following_size(shell):
        return _pass_on(shell)


def _connect(path: Path, patience_s: float) -> socket.socket:
    deadline = time.monotonic() + patience_s
    shell = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    while True:
        try:
            # Through the folder's descriptor, because a socket path is limited to 107 bytes and this one is longer.
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                shell.connect(f"/proc/self/fd/{folder}/{path.name}")
            finally:
                os.close(folder)
            return shell
        except OSError as error:
            if time.monotonic() > deadline:
                shell.close()
                raise PodiumError(
                    "This run has no open shell for a person. Start a run with one: podium run TASK --agent human"
                ) from error
            time.sleep(0.1)


def _pass_on(shell: socket.socket) -> Literal["ended", "left"]:
    """Copy keys to the shell and its output to the screen."""
    keyboard, screen = sys.stdin.fileno(), sys.stdout.fileno()
    sources: list[socket.socket | int] = [shell, keyboard]
    while True:
        ready, _, _ = select.select(sources, [], [])
        if shell in ready:
            data = _receive(shell)
            if not data:
                return "ended"
            os.write(screen, data)
        if keyboard in ready:
            keys = os.read(keyboard, 1 << 12)
            before, leave, _ = keys.partition(LEAVE)
            _send(shell, b"d", before)
            if leave or not keys:
                return "left"


def _receive(shell: socket.socket) -> bytes:
    try:
        return shell.recv(1 << 14)
    except ConnectionError:
        return b""


def _send(shell: socket.socket, kind: bytes, content: bytes) -> None:
    with contextlib.suppress(ConnectionError):  # the shell has ended, as its output will say
        shell.sendall(_HEADER.pack(kind, len(content)) + content)


@contextlib.contextmanager
def _raw_terminal() -> Iterator[None]:
    """Switch the terminal to raw mode, so that every key goes to the shell, including Ctrl-C."""
    if not sys.stdin.isatty():
        raise PodiumError("podium shell needs an interactive terminal, and standard input is not one.")
    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _following_size(shell: socket.socket) -> Iterator[None]:
    """Keep the shell's window size equal to this terminal's."""

    def send_size(*_: object) -> None:
        size = os.get_terminal_size(sys.stdin.fileno())
        _send(shell, b"w", struct.pack(">HH", size.lines, size.columns))

    send_size()
    before = signal.signal(signal.SIGWINCH, send_size)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
