"""Storage of processes that no folder shows."""

from __future__ import annotations

import array
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.sandbox.linux.limits.hidden_files import scan_descriptors, scan_mappings
from podium.sandbox.linux.limits.process_tree import cpu_time_s
from podium.sandbox.spec import MIB

PROGRAM = """
import array, mmap, os, socket, sys

def send(target, *descriptors):
    target.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))])

full, unread = socket.socketpair()
full.send(b"x" * 50_000)
outer, inner = socket.socketpair(), socket.socketpair()
for _ in range(2):
    file = os.memfd_create("hidden")
    os.write(file, b"x" * (1 << 20))
    send(inner[0], file)
    os.close(file)
send(outer[0], inner[1].fileno())
for end in inner:
    end.close()
shared = mmap.mmap(-1, 2 << 20)
print("ready", flush=True)
sys.stdin.read()
assert unread.recv(100_000) == b"x" * 50_000, "the scanned message is gone"
print(len(outer[1].recvmsg(1, socket.CMSG_SPACE(4))[1]))
"""


@pytest.fixture
def holder() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "ready\n"
        yield started


def test_data_queued_in_sockets_is_counted_and_kept(holder: subprocess.Popen[str]) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(2):
        held = scan_descriptors([holder.pid])
        assert held.memory() == 2 * MIB
        assert 100_000 <= held.queued < MIB  # pipes among it
    assert len(os.listdir("/proc/self/fd")) == descriptors  # noqa: PTH208
    assert holder.communicate()[0] == "1\n"


def test_mapped_shared_memory_counts(holder: subprocess.Popen[str]) -> None:
    further = scan_mappings(holder.pid, [holder.pid])
    expected = 0 if os.getuid() == 0 else 2 * MIB  # only root sees that it is empty
    assert further.memory() == expected
    assert (scan_descriptors([holder.pid]) | further).memory() == expected + 2 * MIB


def test_descriptor_of_the_scanning_process_is_harmless() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))])
        assert scan_descriptors([os.getpid()]).queued > 0
        assert theirs.recv(1) == b"x"


def test_undecodable_names_hide_nothing(tmp_path: Path) -> None:
    program = (
        "import ctypes, mmap, os, socket, sys\n"
        "ctypes.CDLL(None).prctl(15, b') \\xff\\n')\n"
        "named = socket.socket(socket.AF_UNIX)\n"
        "named.bind(b'\\0a\\nb\\n\\xff c')\n"
        "file = os.open('gone \\x0b \\x85', os.O_RDWR | os.O_CREAT)\n"
        "os.unlink('gone \\x0b \\x85')\n"
        "os.write(file, b'x' * (1 << 20))\n"
        "os.fsync(file)\n"
        "kept = mmap.mmap(file, 1 << 20)\n"
        "os.close(file)\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "ready\n"
        for held in (scan_descriptors([started.pid]), scan_mappings(started.pid, [started.pid])):
            assert any(file.size >= MIB and not file.is_memory for file in held.files.values())
        assert cpu_time_s(os.getpid()) >= 0
        started.communicate()
