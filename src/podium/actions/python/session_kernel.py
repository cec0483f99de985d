"""Kernel of the Python session: a process inside the sandbox that runs code and keeps its variables.

This file runs on its own, in a process forked by `session_client.py`, and must not import Podium. Its arguments are the
descriptor of a listening socket and a marker file in the workspace; the kernel exits once that file is gone.
"""

from __future__ import annotations

import array
import ast
import contextlib
import linecache
import marshal
import os
import signal
import socket
import sys
import traceback
import types
from pathlib import Path

DONE = b"d"
WATCH_S = 10.0


def serve(listener: socket.socket, marker: Path) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    direct_output(null)
    listener.settimeout(WATCH_S)
    session = KernelSession()
    while True:
        try:
            client, _ = listener.accept()
        except OSError:  # no client for a while
            if not marker.exists():
                return
            continue
        with client, contextlib.suppress(OSError, EOFError, ValueError, LookupError):  # the client has gone
            client.settimeout(None)
            session.answer(client)


class KernelSession:
    """Variables of the session and the execution of code on them."""

    def __init__(self) -> None:
        self.is_running = False
        self.count = 0
        self.pid = os.getpid()
        self.module = types.ModuleType("__main__")
        sys.modules["__main__"] = self.module
        sys.argv = [""]
        sys.path.insert(0, "")
        signal.signal(signal.SIGINT, self.interrupt)

    def interrupt(self, *_: object) -> None:
        if self.is_running:
            raise KeyboardInterrupt

    def answer(self, client: socket.socket) -> None:
        size, rights, _, _ = client.recvmsg(8, socket.CMSG_SPACE(4), socket.MSG_WAITALL)
        output = array.array("i", rights[0][2])[0]
        direct_output(output)
        os.close(output)
        try:
            request = marshal.loads(client.recv(int.from_bytes(size, "little"), socket.MSG_WAITALL))
            if not is_gone(client):  # a client killed while waiting no longer needs its code run
                use_cores(request["cores"])
                self.run(request["code"].decode("utf-8", "replace"))
        finally:
            if os.getpid() != self.pid:  # the code forked, and this is the child
                os._exit(0)
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):  # the code may have put anything there
                    stream.flush()
            null = os.open(os.devnull, os.O_RDWR)
            direct_output(null)
            os.close(null)
        client.sendall(DONE)

    def run(self, code: str) -> None:
        """Run the code and print the value of its last expression, or its exception."""
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
        except BaseException as error:  # noqa: BLE001 (the session survives any exception of its code)
            self.is_running = False
            shown = error.__traceback__
            while shown is not None and shown.tb_frame.f_code.co_filename != name:  # our own frames
                shown = shown.tb_next
            traceback.print_exception(type(error), error, shown)
        finally:
            self.is_running = False


def direct_output(descriptor: int) -> None:
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)


def is_gone(client: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    return False


def use_cores(cores: list[int]) -> None:
    """Bind all threads to the cores the client may use."""
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            os.sched_setaffinity(int(thread.name), cores)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))
