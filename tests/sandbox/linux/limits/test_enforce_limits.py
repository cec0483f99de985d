"""The guard of a sandbox keeps working if a check fails."""

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


def test_failing_check_kills_all_programs_and_checks_go_on(tmp_path: Path, idle: subprocess.Popen[bytes]) -> None:
    checks, killed = iter([ValueError("odd"), None, "the second limit"]), threading.Semaphore(0)

    def check(_: int) -> str | None:
        outcome = next(checks, None)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    limits = Limits().effective()
    guard = Guard(limits, [tmp_path], make_group=lambda *_: Group({}), kill_all=killed.release)
    guard.start(idle.pid, check)
    try:
        assert killed.acquire(timeout=60)
        assert guard.violation == "the limits could not be checked (ValueError)"
        assert killed.acquire(timeout=60)
        assert guard.violation == "the second limit"
        assert guard.by_kernel() == frozenset()  # programs may be started
    finally:
        guard.stop()
