"""Background programs are paused, or killed if they wake themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from podium.sandbox.linux.control_socket import Control, control_pair
from podium.sandbox.linux.limits import background
from podium.sandbox.linux.limits.background import Background
from podium.sandbox.linux.limits.process_tree import program_states, tree


@pytest.fixture
def root() -> Iterator[int]:
    """Start a first process with a supervisor, below which a program sleeps."""
    command = ["sh", "-c", "sh -c 'sleep 600; :'; :"]
    with subprocess.Popen(command) as started:
        while len(tree(started.pid)) < 3 or program_states(started.pid) != {"S"}:
            time.sleep(0.01)
        below = tree(started.pid)[1:]
        yield started.pid
        for pid in (started.pid, *below):
            os.kill(pid, signal.SIGKILL)


def looks(paused: Background, root: int, count: int) -> Iterator[str | None]:
    for _ in range(count):
        time.sleep(0.02)
        yield paused.exceeded(root)


def test_program_awake_in_a_pause_is_noticed_without_cpu_time(root: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MAX_AWAKE_S", 0.1)
    ours, theirs = control_pair()
    with ours, theirs:
        paused = Background(Control(ours, lambda: ""), is_paused_when_idle=True)
        program = tree(root)[-1]
        os.kill(program, signal.SIGSTOP)
        paused.begin(leaves_something=True)()
        while program_states(root) != {"T"}:
            time.sleep(0.01)
        assert set(looks(paused, root, 20)) == {None}
        os.kill(program, signal.SIGCONT)
        assert any(looks(paused, root, 1000)), "it was not noticed"
