"""A person as the agent: typing at a real terminal, by way of `podium shell`."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path

import pytest
from driving import drive, verified

from podium.agents.human.attach import attach
from podium.errors import PodiumError
from podium.runs.experiment import run_folder
from podium.runs.records import Plan, RunRecord
from podium.runs.steps import Steps
from podium.workspace.budget import Budget

TASK = "spaceship-titanic"
PATIENCE_S = 600
PODIUM = Path(sys.executable).with_name("podium")


class Person:
    """Somebody at a terminal in which `podium shell` runs."""

    def __init__(self, run: Path) -> None:
        self._screen, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
        command = [PODIUM, "shell", run]
        self._process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        self._seen = ""

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def wait_to_see(self, pattern: str) -> None:
        """Reads the screen until something is on it; what comes later is left for the next look."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, self._seen)):
            assert time.monotonic() < deadline, self._seen
            if select.select([self._screen], [], [], 0.2)[0]:
                self._seen += os.read(self._screen, 4096).decode(errors="replace")
        self._seen = self._seen[found.end() :]

    def close(self) -> int:
        return self._process.wait(PATIENCE_S)

    def leave(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._screen)


@contextmanager
def person_at(run: Path) -> Iterator[Person]:
    person = Person(run)
    try:
        yield person
        assert person.close() == 0
    finally:
        person.leave()


@pytest.fixture
def visit(tmp_path: Path, data_dir: Path) -> Iterator[Path]:
    """The folder of a run that waits for a person; it ends when they do."""
    plan = Plan(agent="human", data_dir=data_dir, miniature=True, budget=Budget(time_s=240))
    experiment = tmp_path / "experiment"
    working = threading.Thread(target=drive, args=(experiment, plan, TASK))
    working.start()
    run = run_folder(experiment, TASK, 0)
    deadline = time.monotonic() + PATIENCE_S
    while not run.journal.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield run.path
    working.join()


def finished(run: Path) -> RunRecord:
    deadline = time.monotonic() + PATIENCE_S
    while (record := run_folder(run.parent.parent, TASK, 0).read_record()) is None or record.status == "running":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return record


def test_a_person_works_leaves_comes_back_and_is_graded(visit: Path) -> None:
    with person_at(visit) as person:
        person.wait_to_see("You are the agent")
        person.wait_to_see(r"/home \$ ")
        person.type("stty size; ls data; whoami; left\r")
        person.wait_to_see("33 101")
        person.wait_to_see("description.md")
        person.wait_to_see("agent")
        person.wait_to_see(r"\d+ of \d+ s are left")
        person.type("stubborn=yes\r\x1d")
        person.wait_to_see("The run continues. Reconnect with: podium shell")
    with person_at(visit) as person:
        person.wait_to_see("description.md")
        person.type("cp data/sample_submission.csv submission/submission.csv\r")
        person.type("echo still $stubborn; sh validate_submission.sh submission/submission.csv\r")
        person.wait_to_see("still yes")
        person.wait_to_see("Submission is valid")
        person.type("sh -c 'echo wait''ing; exec sleep 500'\r")
        person.wait_to_see("waiting")  # said by the child: it has the terminal now, and Ctrl-C is for it
        person.type("\x03")
        person.wait_to_see(r"/home \$ ")  # bash drops a key that is there before it has shown this
        person.type("exit\r")
        person.wait_to_see("The shell has ended")
    record = finished(visit)
    assert (record.status, record.ended_by, record.valid) == ("finished", "the agent", True)
    run = run_folder(visit.parent.parent, TASK, 0)
    observation = Steps(run).observation(1).text
    assert "in 2 session(s)" in observation
    for command in ("stty size; ls data", "cp data/sample_submission.csv", "exit"):
        assert command in observation
    assert verified(run).passed


def test_attaching_without_an_open_shell_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PodiumError, match="no open shell for a person"):
        attach(tmp_path, patience_s=0.1)
