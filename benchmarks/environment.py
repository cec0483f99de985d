"""What an environment costs: resets and steps per second and memory, for 1, 16 and 64 at once, beside a plain process.

    python benchmarks/environment.py [--steps 10] [--environments 1,16,64]

Each environment plays an episode on a tiny training task of its own: reset, then steps that run `true` in the sandbox.
The floor is `subprocess.run(["true"])`, without sandbox, snapshot, journal or grading. Memory is that of this process
and all it started, in proportional shares, while every environment stands open, over what it was before the first.
Targets: a median step at most 50 ms above the floor with one environment; 64 at once on 2 cores without errors.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import podium
from podium.environment.training_tasks import training_task

STEP = {"action": "run_command", "arguments": {"command": "true"}}
FINISH = {"action": "final_answer", "arguments": {"final_answer": "done"}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--environments", default="1,16,64")
    options = parser.parse_args()
    floor = statistics.median(timed(lambda: subprocess.run(["true"], check=True)) for _ in range(50))
    print(f"a plain process: {1000 * floor:.1f} ms")
    measure(1, 2, floor, quiet=True)  # imports, and the first sandbox
    for count in map(int, options.environments.split(",")):
        measure(count, options.steps, floor)


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(count: int, steps: int, floor: float, *, quiet: bool = False) -> None:
    tasks = [training_task(number) for number in range(count)]
    for task in tasks:
        podium.prepare(task)
    environments = [podium.Environment() for _ in range(count)]
    before = memory_mib()
    with ThreadPoolExecutor(count) as pool:
        reset_s = timed(lambda: list(pool.map(lambda place: environments[place].reset(tasks[place]), range(count))))
        took = [[] for _ in range(count)]

        def play(place: int) -> None:
            for _ in range(steps):
                took[place].append(timed(lambda: environments[place].step(STEP)))

        steps_s = timed(lambda: list(pool.map(play, range(count))))
        held = memory_mib() - before
        ended = list(pool.map(lambda environment: environment.step(FINISH), environments))
    errors = [step.info["error"] for step in ended if not step.terminated]
    for environment in environments:
        environment.close()
    if not quiet:
        median = statistics.median(second for each in took for second in each)
        print(
            f"{count:3} environments: {count / reset_s:6.1f} resets/s, {count * steps / steps_s:6.1f} steps/s, median "
            f"step {1000 * median:6.1f} ms ({1000 * (median - floor):.1f} ms over the floor), {held / count:5.1f} MiB "
            f"each, {len(errors)} errors"
        )


def memory_mib() -> float:
    """The proportional memory of this process and of all below it."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    waiting, total = [os.getpid()], 0
    while waiting:
        process = waiting.pop()
        waiting += parents.get(process, [])
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


if __name__ == "__main__":
    main()
