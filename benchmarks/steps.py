"""What a step costs: action to observation, snapshot and journal included, beside the bare start of the process.

    python benchmarks/steps.py [--steps 50]

For workspaces of 1 MB in 10 files, 50 MB in 100 files and 2,000 small files: each step runs `true` in the sandbox
after one small file was changed, snapshots the workspace and journals the step. Reported: the median time above that
of starting `true` without any of it, and the disk the history takes over what was changed. Targets: at most 10 ms, at
most 1.2 times. Then the start of a sandbox beside `bwrap true` with the same isolation; target: at most 3 times.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from podium.sandbox.linux import bubblewrap
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.linux.mounts import host_view
from podium.sandbox.spec import SandboxSpec
from podium.workspace.budget import Usage
from podium.workspace.history.history import History
from podium.workspace.journal.events import Action, Step, now
from podium.workspace.journal.journal import Journal
from podium.workspace.journal.observations import TextResult

SCRIPT_BYTES = 2_000
CASES = {"1 MB in 10 files": (10, 100_000), "50 MB in 100 files": (100, 500_000), "2,000 small files": (2000, 1_000)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=50)
    steps = parser.parse_args().steps
    print(f"{'workspace':20} {'bare':>8} {'in sandbox':>11} {'snapshot':>9} {'journal':>8} {'overhead':>9} {'disk':>6}")
    for name, (count, size) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"{name:20} {measure(Path(folder), count, size, steps)}")
    with tempfile.TemporaryDirectory() as folder:
        print(measure_start(Path(folder)))


def measure(folder: Path, count: int, size: int, steps: int) -> str:
    """One line of the table."""
    workspace = folder / "workspace"
    workspace.mkdir()
    for number in range(count):
        (workspace / f"{number % 20}").mkdir(exist_ok=True)
        (workspace / f"{number % 20}" / f"{number}.bin").write_bytes(os.urandom(size))
    changed = count * size
    bare, inside, snapshot, journalled = [], [], [], []
    with (
        Bubblewrap().open(SandboxSpec(workspace=workspace)) as sandbox,
        History(folder / "history.git", workspace) as history,
        Journal.open(folder / "steps.jsonl") as journal,
    ):
        commit = history.snapshot("start", None, time_s=0)
        for number in range(steps):
            (workspace / "0" / "script.py").write_bytes(os.urandom(SCRIPT_BYTES))
            changed += SCRIPT_BYTES
            bare.append(timed(lambda: subprocess.run(["/usr/bin/true"], check=True)))
            inside.append(timed(lambda: sandbox.run(["/usr/bin/true"])))
            started = time.perf_counter()
            commit = history.snapshot(f"step {number}", commit, time_s=number)
            snapshot.append(time.perf_counter() - started)
            journalled.append(timed(partial(journal.append, step(commit))))
        history.compact()
    used = sum(path.stat().st_blocks * 512 for path in (folder / "history.git").rglob("*") if path.is_file())
    medians = [1000 * statistics.median(times) for times in (bare, inside, snapshot, journalled)]
    overhead = sum(medians[1:]) - medians[0]
    return "{:6.1f}ms {:9.1f}ms {:7.1f}ms {:6.1f}ms".format(*medians) + f" {overhead:7.1f}ms {used / changed:6.2f}"


def step(snapshot: str) -> Step:
    """A line of the journal."""
    return Step(
        time=now(),
        usage=Usage(),
        action=Action(name="run_command", arguments={"command": "true"}),
        observation=TextResult(text=""),
        seconds=0.0,
        snapshot=snapshot,
        state="",
        decision=0,
        index=0,
        count=1,
    )


def measure_start(folder: Path) -> str:
    """How the start of a sandbox compares with that of bwrap alone."""
    spec = SandboxSpec(workspace=folder)
    for name in ("tmp", "var-tmp"):
        (folder / name).mkdir()
    for name in ("passwd", "group", "hosts", "seccomp", "init.pyc"):
        (folder / name).touch()
    seen = replace(host_view(spec, folder), covers=())  # they, too, need descriptors
    options = list(bubblewrap.arguments(spec, seen, folder))
    plain = [str(option) for option in without_files(options)]
    same = statistics.median(timed(lambda: subprocess.run([*bwrap(), *plain, "/usr/bin/true"])) for _ in range(30))
    bare = statistics.median(
        timed(lambda: subprocess.run([*bwrap(), "--ro-bind", "/", "/", "/usr/bin/true"])) for _ in range(30)
    )
    starts = []
    for _ in range(30):
        started = time.perf_counter()
        sandbox = Bubblewrap().open(spec)
        starts.append(time.perf_counter() - started)
        sandbox.stop()
    start = statistics.median(starts)
    return (
        f"sandbox start {1000 * start:.1f} ms: {start / same:.1f} times `bwrap true` with the same isolation "
        f"({1000 * same:.1f} ms), {start / bare:.1f} times one without any ({1000 * bare:.1f} ms)"
    )


def bwrap() -> list[str]:
    return [bubblewrap.find_bubblewrap()]


def without_files(options: list[str | Path | bytes]) -> list[str | Path | bytes]:
    """The options without those that need a descriptor."""
    kept: list[str | Path | bytes] = []
    skip = 0
    for option in options:
        skip = {"--seccomp": 2, "--file": 3}.get(str(option), skip)
        if skip:
            skip -= 1
        else:
            kept.append(option)
    return kept


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
