"""Eight runs on two cores that think 70 % of their time: are they done sooner if cores are leased per execution?

Every run is a process of its own that in turn thinks (sleeps) and computes (burns a fixed amount of CPU time, pinned to
its core). First it keeps a core for its whole life, as a harness does that reserves one per run; then it leases one for
each computation. The work is the same, and so is the working time, from which waiting for a core is excluded.
With `--asleep` computations sleep, too: no use of cores, only of leases, for a machine that is busy with other things.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from podium.leases import Pool

RUNS, CORES, ROUNDS = 8, 2, 14
RUN_S, THINKING, TARGET = 4.5, 0.7, 2.5
COMPUTE_S = RUN_S * (1 - THINKING)
BUSY = 1.15
IDLE_S = 3.0
HANDOVERS, HOLD_S = 100, 0.005

Compute = Callable[[float, tuple[int, ...]], None]
"""Computes for so many seconds on these cores."""


@dataclass(frozen=True)
class Outcome:
    """What became of a run."""

    start: float
    end: float
    working_s: float
    """From its start to its end, without the waiting for cores."""
    waited_s: float
    computing_s: float
    """Wall time of its computations: longer than their CPU time if somebody else was on the core."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--asleep", action="store_true", help="let computations sleep instead of using their cores")
    compute = sleep if parser.parse_args().asleep else burn
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    if len(cores) < CORES:
        sys.exit(f"This needs {CORES} cores; only {len(cores)} can be used.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{RUNS} runs of {RUN_S:.2f} s, {COMPUTE_S:.2f} s of it computing, on {CORES} cores")
        print(f"{'':20} makespan   working time of a run      waited   wall/CPU of computing")
        reserved = live_all(Pool(folder / "reserved", cores), compute, is_reserved=True)
        leased = live_all(Pool(folder / "leased", cores), compute, is_reserved=False)
        bound = (RUNS / CORES * RUN_S) / max(RUN_S, RUNS * COMPUTE_S / CORES)
        print(f"ratio {reserved / leased:.2f} (target {TARGET}, the best that any schedule can reach {bound:.2f})")
        idle_s = cpu_of_waiters(Pool(folder / "idle", cores))
        print(f"{RUNS} waiters use {100 * idle_s / IDLE_S:.2f} % of a core ({1000 * idle_s:.1f} ms in {IDLE_S:.0f} s)")
        gaps = handovers(Pool(folder / "handover", cores[:1]))
        median_ms, longest_ms = 1000 * statistics.median(gaps), 1000 * gaps[-1]
        print(f"from a release to the next lease {median_ms:.2f} ms, at most {longest_ms:.2f} ms")


def live_all(pool: Pool, compute: Compute, *, is_reserved: bool) -> float:
    """Lets all runs live at once, prints how they fared, and says how long it took."""
    with started([partial(live, pool, seed, compute, is_reserved=is_reserved) for seed in range(RUNS)]) as answers:
        outcomes: list[Outcome] = [answers() for _ in range(RUNS)]
    makespan = max(outcome.end for outcome in outcomes) - min(outcome.start for outcome in outcomes)
    working = [outcome.working_s for outcome in outcomes]
    waited = statistics.mean(outcome.waited_s for outcome in outcomes)
    noise = sum(outcome.computing_s for outcome in outcomes) / (RUNS * COMPUTE_S)
    name = "reserved per run" if is_reserved else "leased per execution"
    spread = f"{statistics.mean(working):.2f} s ({min(working):.2f} to {max(working):.2f})"
    print(f"{name:20} {makespan:6.2f} s   {spread:24} {waited:6.2f} s   {noise:.2f}", flush=True)
    if noise > BUSY:
        print(f"{'':20} Other programs use these cores: what this says is of little use.")
    return makespan


def live(pool: Pool, seed: int, compute: Compute, *, is_reserved: bool) -> Outcome:
    """A run: thinks and computes in turn."""
    rng, start = random.Random(seed), time.monotonic()
    waited_s = computing_s = 0.0
    reservation = pool.take() if is_reserved else None
    thoughts, computations = portions(rng, RUN_S * THINKING), portions(rng, COMPUTE_S)
    for think_s, compute_s in zip(thoughts, computations, strict=True):
        time.sleep(think_s)
        lease = reservation or pool.take()
        began = time.monotonic()
        compute(compute_s, lease.cores)
        computing_s += time.monotonic() - began
        if not reservation:
            waited_s += lease.waited_s
            lease.release()
    if reservation:
        waited_s += reservation.waited_s
        reservation.release()
    end = time.monotonic()
    return Outcome(start, end, end - start - waited_s, waited_s, computing_s)


def portions(rng: random.Random, total_s: float) -> list[float]:
    """Irregular portions of a time."""
    weights = [rng.uniform(0.5, 1.5) for _ in range(ROUNDS)]
    return [total_s * weight / sum(weights) for weight in weights]


def burn(seconds: float, cores: tuple[int, ...]) -> None:
    """Burns so much CPU time on these cores."""
    os.sched_setaffinity(0, cores)
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def sleep(seconds: float, cores: tuple[int, ...]) -> None:
    """Does nothing for so long."""
    time.sleep(seconds)


def cpu_of_waiters(pool: Pool) -> float:
    """CPU seconds that waiting processes use in a while in which nothing is released."""
    lease = pool.take(CORES)
    with started([partial(wait_for, pool)] * RUNS) as answers:
        while len(waiters := [claim.pid for claim in pool.holders() if claim.is_waiting]) < RUNS:
            time.sleep(0.01)
        before = sum(map(cpu_ns, waiters))
        time.sleep(IDLE_S)
        used = sum(map(cpu_ns, waiters)) - before
        lease.release()
        for _ in waiters:
            answers()
    return used / 1e9


def wait_for(pool: Pool) -> None:
    pool.take().release()


def cpu_ns(pid: int) -> int:
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="utf-8").split()[0])


def handovers(pool: Pool) -> list[float]:
    """Times from a release to the lease of the one who waits for it, sorted."""
    with started([partial(alternate, pool)] * 2) as answers:
        held = sorted(answers() + answers())
    # The first and last ones may have had nobody to alternate with.
    return sorted(taken - released for (_, released), (taken, _) in pairwise(held[HANDOVERS // 2 : -HANDOVERS // 2]))


def alternate(pool: Pool) -> list[tuple[float, float]]:
    """When it took and when it released the core, each time."""
    held = []
    for _ in range(HANDOVERS):
        with pool.take():
            taken = time.monotonic()
            time.sleep(HOLD_S)  # while the other one queues up
            released = time.monotonic()
        held.append((taken, released))
    return held


@contextmanager
def started(targets: list[partial[Any]]) -> Iterator[Callable[[], Any]]:
    """Starts all targets at the same moment, in processes of their own, and gives what hands out their answers."""
    context = get_context("spawn")
    barrier, answers = context.Barrier(len(targets)), context.SimpleQueue()
    processes = [context.Process(target=_answer, args=(target, barrier, answers)) for target in targets]
    for process in processes:
        process.start()
    yield answers.get
    for process in processes:
        process.join()


def _answer(target: partial[Any], barrier: Barrier, answers: Any) -> None:
    barrier.wait()
    answers.put(target())


if __name__ == "__main__":
    main()
