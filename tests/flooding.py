"""Programs that attack a service on a port of this machine, and what that costs the process that serves it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
