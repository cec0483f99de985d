"""Client of the workspace's Python session, run inside the sandbox.

This file runs on its own, as `python -c`, in the workspace: it must not import Podium and, because every call waits for
it, imports little of the standard library. Its arguments are the operation and the source of `session_kernel.py`. `run`
passes the code on stdin to the session, starting one if necessary; the code's output goes straight to our stdout.
`stop` interrupts the session, and kills it if that does not help. The exit code reports the state of the session.
"""

# Importing pathlib is slow:
# ruff: noqa: PTH103, PTH108, PTH109, PTH110, PTH118, PTH120, PTH123

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.remove("")  # the workspace: the agent's modules must not shadow those we import

import _socket
import fcntl
import marshal
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

MARKER = os.path.join(os.getcwd(), ".podium", "session")
FOLDER = "/tmp/podium-session-" + "".join(c if c.isalnum() else "-" for c in os.getcwd())[-60:]
ADDRESS = os.path.join(FOLDER, "socket")
DONE = b"d"
SIGINT, SIGKILL = 2, 9
REPORT = 64  # plus the flags below: an exit code that shows the caller that we finished
LOST, ENDED, KEPT = 1, 2, 4
PATIENCE_S = 5.0


def run() -> None:
    code = sys.stdin.buffer.read()
    session, is_lost = connect_or_start()
    has_ended = not does(session, code)
    sys.exit(REPORT | LOST * is_lost | ENDED * has_ended)


def stop() -> None:
    """Interrupt the session, and exit with whether it, and with it its variables, survived."""
    is_kept = False
    try:
        with open(os.path.join(FOLDER, "pid")) as file:
            pid = int(file.read())
        os.kill(pid, SIGINT)
        is_kept = answers()
        if not is_kept:
            os.killpg(pid, SIGKILL)
    except OSError:  # there is no session
        pass
    sys.exit(REPORT | KEPT * is_kept)


def answers() -> bool:
    """Return whether the session serves a request within the time limit."""
    try:
        session = connect()
    except OSError:
        return False
    session.settimeout(PATIENCE_S)
    return does(session, b"")


def connect() -> _socket.socket:
    session = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    session.connect(ADDRESS)
    return session


def connect_or_start() -> tuple[_socket.socket, bool]:
    """Return a connection to the session, and whether an earlier session was lost."""
    os.makedirs(FOLDER, mode=0o700, exist_ok=True)
    with open(os.path.join(FOLDER, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            return connect(), False
        except OSError:
            is_lost = os.path.exists(MARKER)
        os.makedirs(os.path.dirname(MARKER), exist_ok=True)
        with open(MARKER, "w") as marker:
            marker.write("There has been a Python session in this workspace.\n")
        start(sys.argv[2], lock)
        return connect(), is_lost


def start(kernel: str, lock: TextIO) -> None:
    if os.path.exists(ADDRESS):
        os.unlink(ADDRESS)
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    listener.bind(ADDRESS)
    listener.listen(8)
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            lock.close()  # otherwise the session would hold it for its lifetime
            sys.argv = ["", str(listener.detach()), MARKER]
            exec(compile(kernel, "<kernel>", "exec"), {"__name__": "__main__"})
        finally:
            os._exit(1)
    listener.close()
    with open(os.path.join(FOLDER, "pid"), "w") as file:
        file.write(str(pid))


def does(session: _socket.socket, code: bytes) -> bool:
    """Run the code in the session with our stdout and cores, and return whether it finished."""
    request = marshal.dumps({"code": code, "cores": sorted(os.sched_getaffinity(0))}, 2)
    stdout = (1).to_bytes(4, sys.byteorder)
    try:
        session.sendmsg([len(request).to_bytes(8, "little")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, stdout)])
        session.sendall(request)
        return session.recv(1) == DONE
    except OSError:  # the session has ended or timed out
        return False


if __name__ == "__main__":
    run() if sys.argv[1] == "run" else stop()
