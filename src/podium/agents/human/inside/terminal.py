"""Shell on its own pseudo-terminal, for a person who attaches from outside the sandbox.

This file runs alone in the sandbox, in /home/agent, where it creates a socket. The workspace is a folder of the host,
so the socket can be reached from there without a network. It starts the shell when a person first attaches, keeps it
when they detach, and ends with it. Then it prints their commands with times.

The client sends frames: one byte for the kind ("d" for keys, "w" for the window size), two bytes for the length.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import socket
import struct
import termios
import time
from collections.abc import Iterator
from pathlib import Path

SOCKET = Path("terminal.sock")
HOME = Path.cwd().parent
HISTORY = HOME / "logs" / "shell_history"
SHELL = ["bash", "--rcfile", str(Path.cwd() / "bashrc"), "-i"]
SHOWN_BYTES = 1 << 16  # earlier output that is repeated after a new connection
HEADER = struct.Struct(">cH")


def main() -> None:
    """Serve the shell until it ends."""
    SOCKET.unlink(missing_ok=True)  # left by an interrupted run
    started = time.time()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(SOCKET))  # relative, because the length of socket paths is limited
        listener.listen(4)
        visitor, _ = listener.accept()
        arrived = time.time()
        sittings = Terminal(listener, visitor).serve()
    SOCKET.unlink()
    worked, waited = time.time() - arrived, arrived - started
    print(f"A person attached after {waited:.0f} s and worked for {worked:.0f} s in {sittings} session(s).")
    for when, command in commands():
        print(f"{max(0, when - int(arrived)):6} s  {command}")


class Terminal:
    """Shell and the connection of one person."""

    def __init__(self, listener: socket.socket, visitor: socket.socket) -> None:
        self._listener, self._visitor = listener, visitor
        self._sittings = 1
        self._shown = bytearray()
        self._frames = bytearray()
        child, self._master = pty.fork()
        if child == 0:
            environment = {**os.environ, "TERM": "xterm-256color", "HISTFILE": str(HISTORY)}
            os.chdir(HOME)
            os.execvpe(SHELL[0], SHELL, environment)

    def serve(self) -> int:
        """Forward keys and output until the shell ends. Return the number of connections."""
        while True:
            master, door, visitor = self._master, self._listener.fileno(), self._visitor.fileno()
            ready, _, _ = select.select([master, door] + ([visitor] if visitor >= 0 else []), [], [])
            if door in ready:
                self._welcome()
            elif visitor in ready:
                self._take_keys()
            if master in ready and not self._show():
                self._visitor.close()
                return self._sittings

    def _welcome(self) -> None:
        """Accept a new connection, which replaces the previous one."""
        visitor, _ = self._listener.accept()
        self._visitor.close()
        self._visitor, self._frames = visitor, bytearray()
        self._sittings += 1
        self._send(bytes(self._shown))

    def _show(self) -> bool:
        """Forward output. Return False when the shell has ended."""
        try:
            data = os.read(self._master, 1 << 14)
        except OSError:  # EIO: the other end of the terminal is closed
            return False
        self._shown = (self._shown + data)[-SHOWN_BYTES:]
        self._send(data)
        return bool(data)

    def _send(self, data: bytes) -> None:
        if self._visitor.fileno() >= 0:
            try:
                self._visitor.sendall(data)
            except OSError:
                self._visitor.close()

    def _take_keys(self) -> None:
        try:
            data = self._visitor.recv(1 << 14)
        except OSError:
            data = b""
        if not data:
            self._visitor.close()
            return
        self._frames += data
        while len(self._frames) >= HEADER.size:
            kind, size = HEADER.unpack_from(self._frames)
            if len(self._frames) < HEADER.size + size:
                return
            content = bytes(self._frames[HEADER.size : HEADER.size + size])
            del self._frames[: HEADER.size + size]
            if kind == b"d":
                os.write(self._master, content)
            elif kind == b"w" and size == 4:
                rows, columns = struct.unpack(">HH", content)
                fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def commands() -> Iterator[tuple[int, str]]:
    """Yield the time and the text of each command."""
    when = 0
    try:
        with HISTORY.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("#") and line[1:].strip().isdigit():
                    when = int(line[1:])
                else:
                    yield when, line.rstrip("\n")
    except OSError:
        return


if __name__ == "__main__":
    main()
