"""Programs that attack a service on a port of this machine, and what that costs the process that serves it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

CONNECTIONS = """
import resource, socket, sys
port, count = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
kept = []
for _ in range(count):
    kept.append(socket.create_connection(("127.0.0.1", port)))
    try:
        kept[-1].send(b"POST / HTTP/1.1")  # and never the rest
    except ConnectionError:
        pass
"""
BODY = """
import socket, sys
port, path, size = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with socket.create_connection(("127.0.0.1", port)) as connection:
    connection.sendall(f"POST {path} HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: {size}\\r\\n\\r\\n".encode())
    for _ in range(size >> 20):
        connection.sendall(b" " * (1 << 20))
    answer = b""
    while piece := connection.recv(1 << 16):
        answer += piece
print(answer.decode())
"""


def attack(program: str, *arguments: object) -> str:
    """What a program says at its end."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def dawdle(port: int, heads: list[bytes], count: int) -> None:
    """Opens connections that begin a request and never go on, and waits until the service has ended them all."""
    with ExitStack() as opened:
        slow = [opened.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(count)]
        for number, connection in enumerate(slow):
            with suppress(ConnectionError):  # on a busy machine it has been ended already
                connection.sendall(heads[number % len(heads)])
        for connection in slow:
            with suppress(ConnectionError):
                while connection.recv(1000):
                    pass


def when_free(ask: Callable[[], tuple[int, T]]) -> tuple[int, T]:
    """An answer to an honest client: a service frees a place a moment after a connection has ended, until then it
    says that it is busy or cuts clients off."""
    while True:
        with suppress(ConnectionError):
            if (answer := ask())[0] != 503:
                return answer
        time.sleep(0.05)


@dataclass
class Cost:
    """The most that this process had, beyond what it had before."""

    memory_bytes: int = 0
    threads: int = 0
    descriptors: int = 0


@contextmanager
def measured() -> Iterator[Cost]:
    """Follows what this process uses while the block runs."""
    before, cost, done = _used(), Cost(), threading.Event()

    def look() -> None:
        while not done.is_set():
            now = _used()
            cost.memory_bytes = max(cost.memory_bytes, now.memory_bytes - before.memory_bytes)
            cost.threads = max(cost.threads, now.threads - before.threads)
            cost.descriptors = max(cost.descriptors, now.descriptors - before.descriptors)
            time.sleep(0.005)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield cost
    finally:
        done.set()
        thread.join()


def _used() -> Cost:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (names alone: they go while one looks)
    return Cost(pages * os.sysconf("SC_PAGE_SIZE"), threading.active_count(), descriptors)
