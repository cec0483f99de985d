"""A Python session inside the sandbox: one process that keeps its variables, and the client that passes code to it.

This file runs alone, as `python -c`, in the workspace: it may import nothing of Podium. `run` passes the code on stdin
to the session, which is started if there is none; the code's output goes straight to the client's stdout, and a line of
JSON about the session to its stderr. `stop` interrupts what the session is doing, and kills it if that does not help.
"""

# What runs inside should start fast, and pathlib is slow:
# ruff: noqa: PTH103, PTH108, PTH109, PTH110, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.remove("")  # the workspace: a module of the agent's there must not stand for one that we import

import array
import ast
import contextlib
import fcntl
import json
import linecache
import os
import signal
import socket
import traceback
import types
from typing import TextIO

MARKER = os.path.join(os.getcwd(), ".podium", "session")
FOLDER = "/tmp/podium-session-" + "".join(c if c.isalnum() else "-" for c in os.getcwd())[-60:]
ADDRESS = os.path.join(FOLDER, "socket")
PATIENCE_S = 5.0
WATCH_S = 10.0


def run() -> None:
    code = sys.stdin.buffer.read()
    session, is_lost = connect_or_start()
    with session:
        send(session, code)
        answer = session.recv(1)
    report(lost=is_lost, ended=not answer)


def stop() -> None:
    """Reports whether the session, and with it its variables, is still there."""
    is_kept = False
    with contextlib.suppress(OSError):  # if there is none
        with open(os.path.join(FOLDER, "pid")) as file:
            pid = int(file.read())
        os.kill(pid, signal.SIGINT)
        is_kept = answers()
        if not is_kept:
            os.killpg(pid, signal.SIGKILL)
    report(kept=is_kept)


def answers() -> bool:
    """Whether the session comes to serve a request within our patience."""
    try:
        with connect() as session:
            session.settimeout(PATIENCE_S)
            send(session, b"")
            return session.recv(1) == b"d"
    except OSError:
        return False


def report(**facts: bool) -> None:
    print(json.dumps(facts), file=sys.stderr)


def connect() -> socket.socket:
    session = socket.socket(socket.AF_UNIX)
    try:
        session.connect(ADDRESS)
    except OSError:
        session.close()
        raise
    return session


def connect_or_start() -> tuple[socket.socket, bool]:
    """A connection to the session, and whether that is a new one although there had been another before."""
    os.makedirs(FOLDER, mode=0o700, exist_ok=True)
    with open(os.path.join(FOLDER, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with contextlib.suppress(OSError):
            return connect(), False
        is_lost = os.path.exists(MARKER)
        os.makedirs(os.path.dirname(MARKER), exist_ok=True)
        with open(MARKER, "w") as marker:
            marker.write("There has been a Python session in this workspace.\n")
        start(lock)
        return connect(), is_lost


def start(lock: TextIO) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(ADDRESS)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(ADDRESS)
    listener.listen(8)
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            lock.close()  # or the session would hold it as long as it lives
            serve(listener)
        finally:
            os._exit(1)
    listener.close()
    with open(os.path.join(FOLDER, "pid"), "w") as file:
        file.write(str(pid))


def send(session: socket.socket, code: bytes) -> None:
    """Passes the code, and with it our stdout and the cores we may use."""
    header = json.dumps({"size": len(code), "cores": sorted(os.sched_getaffinity(0))}).encode() + b"\n"
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1]))]
    session.sendmsg([header[:1]], rights)
    session.sendall(header[1:] + code)


class Session:
    """The process that runs the code."""

    def __init__(self) -> None:
        self.is_running = False
        self.count = 0
        self.module = types.ModuleType("__main__")
        sys.modules["__main__"] = self.module
        sys.argv = [""]
        sys.path.insert(0, "")
        self.pid = os.getpid()
        signal.signal(signal.SIGINT, self.interrupt)

    def interrupt(self, *_: object) -> None:
        if self.is_running:
            raise KeyboardInterrupt

    def answer(self, client: socket.socket) -> None:
        first, rights, _, _ = client.recvmsg(1, socket.CMSG_SPACE(4))
        output = array.array("i", rights[0][2])[0]
        direct_output(output)
        os.close(output)
        try:
            with client.makefile("rb") as stream:
                header = json.loads(first + stream.readline())
                code = stream.read(header["size"]).decode("utf-8", "replace")
            if not is_gone(client):  # the code of a client that was killed while it waited is not wanted any more
                use_cores(header["cores"])
                self.run(code)
        finally:
            if os.getpid() != self.pid:  # the code has forked, and this is the child
                os._exit(0)
            for printed in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    printed.flush()
            null = os.open(os.devnull, os.O_RDWR)
            direct_output(null)
            os.close(null)
        client.sendall(b"d")

    def run(self, code: str) -> None:
        """Runs the code and prints its last expression's value, or its exception."""
        self.count += 1
        name = f"<session {self.count}>"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        try:
            self.is_running = True
            tree = ast.parse(code, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, name, "exec"), self.module.__dict__)
            if last is not None:
                exec(compile(ast.Interactive([last]), name, "single"), self.module.__dict__)
        except BaseException as error:
            self.is_running = False
            shown = error.__traceback__
            while shown is not None and shown.tb_frame.f_code.co_filename != name:  # our own frames
                shown = shown.tb_next
            traceback.print_exception(type(error), error, shown)
        finally:
            self.is_running = False


def serve(listener: socket.socket) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    direct_output(null)
    session = Session()
    listener.settimeout(WATCH_S)
    while True:
        try:
            client, _ = listener.accept()
        except OSError:  # nobody for a while
            if not os.path.exists(MARKER):  # the workspace has been removed
                os._exit(0)
            continue
        with client, contextlib.suppress(OSError, ValueError, LookupError):
            client.settimeout(None)
            session.answer(client)


def direct_output(descriptor: int) -> None:
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)


def is_gone(client: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    return False


def use_cores(cores: list[int]) -> None:
    """Binds all threads to the cores the client may use."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(int(thread), cores)


if __name__ == "__main__":
    run() if sys.argv[1] == "run" else stop()
