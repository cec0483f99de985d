"""kill -9 at random moments: nothing journalled is lost, nothing is done twice, the result is the undisturbed run's."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from driving import story, verified
from running import TASK, drive, write_script

from podium.runs.drive.driver import FollowedRun
from podium.runs.experiment import run_folder
from podium.runs.records import Plan
from podium.runs.run_folder import RunFolder
from podium.workspace.journal.journal import read_journal

STEPS = 8
# Appending shows a step that was done twice; the sleep gives the kill something to hit.
WORK = """
import pathlib, time
count = pathlib.Path("code/count.txt")
text = count.read_text() if count.exists() else ""
time.sleep(0.02)
count.write_text(text + f"{len(text.split())}\\n")
print(len(text.split()))
"""


def scripted(perfect: str) -> list[tuple[str, dict[str, Any]]]:
    work = [
        action
        for number in range(STEPS)
        for action in (
            ("append_file", {"file_name": "code/log.txt", "content": f"step {number}\n"}),
            ("execute_script", {"script_name": "code/work.py"}),
        )
    ]
    write = ("write_file", {"file_name": "code/work.py", "content": WORK})
    return [write, *work, ("write_file", {"file_name": "submission/submission.csv", "content": perfect})]


def kill_worker(folder: RunFolder) -> None:
    with contextlib.suppress(FileNotFoundError, ValueError, ProcessLookupError):  # not started yet, or just ended
        os.kill(int(folder.lock.read_text()), signal.SIGKILL)


def journal_length(folder: RunFolder) -> int:
    return len(read_journal(folder.journal)) if folder.journal.exists() else 0


def has_ended(folder: RunFolder) -> bool:
    record = folder.read_record()
    return record is not None and record.status != "running"


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def disturb(folder: RunFolder, rng: random.Random) -> None:
    """Waits for a little progress, then kills at a random moment of the next step."""
    before = journal_length(folder)
    wait_for(lambda: journal_length(folder) > before + rng.randrange(3) or has_ended(folder))
    time.sleep(rng.random() * 0.15)
    kill_worker(folder)


def run_with_kills(folder: Path, plan: Plan, *, kills: int, rng: random.Random) -> int:
    """Drives a run to its end while its worker is killed; how often that was."""
    run, done = run_folder(folder, TASK, 0), 0
    while True:
        if done < kills:
            killer = threading.Thread(target=disturb, args=(run, rng))
            killer.start()
            row = drive(folder, plan)
            killer.join()
            done += 1
        else:
            row = drive(folder, plan)
        if row.record is not None and row.record.status != "running":
            assert row.record.status == "finished", row.record.error
            return done


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory, data_dir: Path, perfect: str) -> Plan:
    path = write_script(tmp_path_factory.mktemp("script") / "script.json", scripted(perfect))
    return Plan(agent="scripted", options={"script": str(path)}, data_dir=data_dir, miniature=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, plan: Plan) -> FollowedRun:
    return drive(tmp_path_factory.mktemp("undisturbed"), plan)


def command(plan: Plan, folder: Path) -> list[str | Path]:
    """Return the equivalent commands of a person."""
    podium = Path(sys.executable).with_name("podium")
    options = [
        "--agent",
        plan.agent,
        "-A",
        f"script={plan.options['script']}",
        "--data-dir",
        str(plan.data_dir),
        "--miniature",
    ]
    return [podium, "run", TASK, *options, "--out", folder]


def check_equal(run: RunFolder, undisturbed: FollowedRun) -> None:
    record = run.read_record()
    assert record is not None and undisturbed.record is not None
    assert story(run) == story(undisturbed.folder)
    assert record.score == undisturbed.record.score
    assert record.submission_sha256 == undisturbed.record.submission_sha256
    assert record.usage.steps == undisturbed.record.usage.steps
    verdict = verified(run)
    assert verdict.passed, verdict.checks


def test_killed_workers_resume(undisturbed: FollowedRun, plan: Plan, tmp_path: Path) -> None:
    run_with_kills(tmp_path / "killed", plan, kills=4, rng=random.Random(1))
    check_equal(run_folder(tmp_path / "killed", TASK, 0), undisturbed)


def test_killed_driver_ends_its_workers(undisturbed: FollowedRun, plan: Plan, tmp_path: Path) -> None:
    folder = tmp_path / "orphaned"
    run = run_folder(folder, TASK, 0)
    with subprocess.Popen(command(plan, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        wait_for(lambda: journal_length(run) > 5)
        driver.kill()
    length = journal_length(run)
    assert 5 < length < 2 * STEPS
    worker = int(run.lock.read_text())
    wait_for(lambda: not Path("/proc", str(worker)).exists())
    drive(folder, plan)
    check_equal(run, undisturbed)


def test_ctrl_c_ends_a_run_after_its_step_and_the_command_continues_it(
    undisturbed: FollowedRun, plan: Plan, tmp_path: Path
) -> None:
    folder = tmp_path / "stopped"
    run = run_folder(folder, TASK, 0)
    with subprocess.Popen(
        command(plan, folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as driver:
        wait_for(lambda: journal_length(run) > 5)
        driver.send_signal(signal.SIGINT)
        _, said = driver.communicate()
    assert driver.returncode == 1
    assert "podium resume" in said
    record = run.read_record()
    assert record is not None and record.status == "stopped"
    assert journal_length(run) < 2 * STEPS
    again = subprocess.run(command(plan, folder), capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    check_equal(run, undisturbed)


def test_a_torn_last_line_costs_only_that_step(undisturbed: FollowedRun, plan: Plan, tmp_path: Path) -> None:
    folder = tmp_path / "torn"
    run = run_folder(folder, TASK, 0)
    killer = threading.Thread(target=disturb, args=(run, random.Random(2)))
    killer.start()
    drive(folder, plan)
    killer.join()
    data = run.journal.read_bytes()
    run.journal.write_bytes(data[: len(data) - 40])
    drive(folder, plan)
    check_equal(run, undisturbed)
    assert list(run.path.glob("steps.jsonl.torn-*"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path, run: RunFolder, ended: threading.Event) -> None:
    """Take all free space once the run is under way, and whatever becomes free, until it ends."""
    wait_for(lambda: journal_length(run) > 6)
    with (disk / "filler").open("wb", buffering=0) as file:
        while not ended.is_set():
            try:
                file.write(bytes(1 << 12))
            except OSError:
                time.sleep(0.001)


def test_a_full_disk_stops_a_run_and_loses_nothing(undisturbed: FollowedRun, plan: Plan, small_disk: Path) -> None:
    run = run_folder(small_disk / "experiment", TASK, 0)
    ended = threading.Event()
    filler = threading.Thread(target=fill, args=(small_disk, run, ended))
    filler.start()
    drive(small_disk / "experiment", plan)
    ended.set()
    filler.join()
    assert 6 < journal_length(run) < 2 * STEPS
    (small_disk / "filler").unlink()
    drive(small_disk / "experiment", plan)
    check_equal(run, undisturbed)


@pytest.mark.slow
def test_two_hundred_kills(undisturbed: FollowedRun, plan: Plan, tmp_path: Path) -> None:
    rng, killed, number = random.Random(3), 0, 0
    while killed < 200:
        number += 1
        folder = tmp_path / f"run-{number}"
        killed += run_with_kills(folder, plan, kills=6, rng=rng)
        check_equal(run_folder(folder, TASK, 0), undisturbed)
