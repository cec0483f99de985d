"""What watches a sandbox goes on, whatever goes wrong in a look."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.sandbox.linux.limits.cgroups import Group
from podium.sandbox.linux.limits.enforce_limits import Guard
from podium.sandbox.spec import Limits


@pytest.fixture
def idle() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as started:
        yield started
        started.kill()


def test_a_look_that_fails_ends_all_programs_and_is_not_the_last(tmp_path: Path, idle: subprocess.Popen[bytes]) -> None:
    looks, killed = iter([ValueError("odd"), None, "the second limit"]), threading.Semaphore(0)

    def look(_: int) -> str | None:
        found = next(looks, None)
        if isinstance(found, Exception):
            raise found
        return found

    limits = Limits().effective()
    guard = Guard(limits, [tmp_path], make_group=lambda *_: Group({}), kill_all=killed.release)
    guard.start(idle.pid, look)
    try:
        assert killed.acquire(timeout=60)
        assert guard.violation == "its limits could not be watched (ValueError)"
        assert killed.acquire(timeout=60)
        assert guard.violation == "the second limit"
        assert guard.by_kernel() == frozenset()  # programs may be started
    finally:
        guard.stop()
