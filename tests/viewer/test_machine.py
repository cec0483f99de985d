"""What a run uses of the machine is measured from outside, by the lock that its process holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from podium.viewer.machine import MachineWatch, lock_holder

PROGRAM = """
import fcntl, subprocess, sys
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
child = subprocess.Popen([sys.executable, "-c", "data = bytearray(60_000_000); print('ready', flush=True); input()"])
child.wait()
"""


def test_the_holder_of_the_lock_and_its_children_are_measured(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    command = [sys.executable, "-c", PROGRAM, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        assert lock_holder(lock) == process.pid
        watch = MachineWatch()
        use = watch.measure(lock)
        assert use is not None and use.processes == 2 and use.memory_bytes > 60_000_000
        assert use.busy_cores is None and not use.leased_cores and not use.is_waiting
        process.communicate("\n")
    assert watch.measure(lock) is None


def test_what_the_file_says_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(str(os.getpid()))
    (tmp_path / "link").symlink_to(tmp_path / "lock")
    assert lock_holder(tmp_path / "lock") is None and lock_holder(tmp_path / "link") is None
    assert MachineWatch().measure(tmp_path / "absent") is None
