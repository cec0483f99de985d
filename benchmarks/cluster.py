"""What a Ray cluster costs beside processes of one machine, and how a driver bears thousands of runs.

    python benchmarks/cluster.py [--runs 1000] [--nodes 4] [--parallel 8]     needs: pip install 'podium[cluster]'
    python benchmarks/cluster.py --simulate 10000

Every run is a real one: a sandbox, a journal, a submission that is graded. Reported: the time of all runs on a cluster
of this machine and with the local executor, as many at a time; the driver's memory after a tenth of the runs and at the
end; and queueing: how much longer it all took than in an ideal schedule, where every place has a run at every moment. A
run has its place from when its node takes it until its node has stored all of it; with the local executor, which notes
neither, from its first to its last entry, so that starting and ending count as queueing there.
`--simulate` lets runs end at once, to see the driver and the index of `podium view` alone.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from pathlib import Path

from podium import api
from podium.cluster.ray.stored_experiment import STORAGE_FOLDER
from podium.cluster.storage import open_storage
from podium.cluster.stored_log import RunLog
from podium.runs.drive.driver import Driver, FollowedRun
from podium.runs.drive.executors import Executor, RunRequest, make_executor
from podium.runs.experiment import Experiment, open_experiment, run_folder
from podium.runs.records import Plan, RunRecord, Times
from podium.runs.run_folder import RunFolder
from podium.viewer.index.experiment_index import ExperimentIndex
from podium.workspace.journal.events import now

TASK = "spaceship-titanic"
COMMAND = "cp /home/data/sample_submission.csv /home/submission/submission.csv"


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Watch:
    """The driver's memory as runs end."""

    def __init__(self) -> None:
        self.ended = 0
        self.resident: dict[int, int] = {}

    def __call__(self, run: FollowedRun) -> None:
        if run.is_over:
            self.ended += 1
            self.resident[self.ended] = resident_bytes()


def carry_out(experiment: Experiment, executor: Executor) -> tuple[float, Watch]:
    watch, started = Watch(), time.perf_counter()
    driver = Driver(experiment)
    driver.run_all(executor, watch)
    states = {run.state for run in driver.runs}
    assert states == {"finished"}, states
    return time.perf_counter() - started, watch


def seconds_between(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


def seconds_of(run: RunFolder) -> float:
    """How long a run had its place."""
    stored = run.experiment / STORAGE_FOLDER
    if not stored.exists():
        record = run.read_record()
        assert record is not None and record.times.started and record.times.graded
        return seconds_between(record.times.started, record.times.graded)
    remote = open_storage(str(stored))
    (experiment,) = (stored / "experiments").iterdir()
    prefix = f"experiments/{experiment.name}/runs/{run.path.parent.name}/{run.path.name}/"
    entries = list(RunLog(remote, prefix).read_new())
    return seconds_between(entries[0].time, entries[-1].time)


def growth(watch: Watch, runs: int) -> str:
    first = max(1, runs // 10)
    early, late = watch.resident[first], watch.resident[runs]
    return f"{early >> 20} MiB after {first} runs, {late >> 20} MiB at the end ({late / early - 1:+.1%})"


def measure(name: str, experiment: Experiment, executor: Executor, parallel: int) -> None:
    runs = experiment.seeds
    elapsed, watch = carry_out(experiment, executor)
    ideal = sum(map(seconds_of, experiment.runs())) / parallel
    print(f"{name}: {runs} runs, {parallel} at a time: {elapsed:.1f} s, {1000 * elapsed / runs:.0f} ms each")
    print(f"  driver: {growth(watch, runs)}")
    print(f"  queueing: {elapsed / ideal - 1:.1%} of the ideal schedule ({ideal:.1f} s)")


def measure_cluster(runs: int, nodes: int, parallel: int) -> None:
    from podium.cluster.ray import Ray
    from podium.cluster.ray.local_cluster import start_cluster, stop_cluster

    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        api.prepare(TASK, data_dir=data, miniature=True)
        plan = Plan(agent="command", options={"command": COMMAND}, data_dir=data, miniature=True)
        made: dict[str, Callable[[], Executor]] = {
            "local": lambda: make_executor(parallel=parallel),
            "ray": lambda: Ray(parallel=parallel, memory_bytes=64 << 20),
        }
        start_cluster(nodes)
        try:
            for name, make in made.items():
                carry_out(open_experiment(Path(folder) / f"{name}-warm", plan, [TASK], 2 * parallel), make())
                measure(name, open_experiment(Path(folder) / name, plan, [TASK], runs), make(), parallel)
        finally:
            stop_cluster()


class Simulated:
    """Runs that end at once, a few at a time."""

    AT_ONCE = 50

    def __init__(self) -> None:
        self._queue: deque[RunRequest] = deque()

    def __enter__(self) -> Simulated:
        return self

    def __exit__(self, *_: object) -> None: ...

    def submit(self, run: RunRequest) -> None:
        self._queue.append(run)

    def running(self) -> Collection[RunRequest]:
        return [self._queue[n] for n in range(min(self.AT_ONCE, len(self._queue)))]

    def wait(self, timeout_s: float) -> Sequence[RunRequest]:
        ended = [self._queue.popleft() for _ in range(min(self.AT_ONCE, len(self._queue)))]
        for run in ended:
            times = Times(started=now(), ended=now(), graded=now())
            record = RunRecord(
                task=run.task, agent="command", model=None, seed=run.seed, status="finished", ended_by="the agent",
                valid=True, score=0.5, submission_sha256="0" * 64, times=times,
            )  # fmt: skip
            folder = run_folder(run.experiment, run.task, run.seed)
            folder.write(folder.record, record, durable=False)
        return ended

    def stop(self) -> None: ...


def simulate(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(agent="command", options={"command": COMMAND}, miniature=True)
        experiment = open_experiment(Path(folder) / "runs" / "many", plan, [TASK], runs)
        elapsed, watch = carry_out(experiment, Simulated())
        print(f"driver: {runs} simulated runs in {elapsed:.1f} s, {1e6 * elapsed / runs:.0f} µs each")
        print(f"  {growth(watch, runs)}")
        index = ExperimentIndex(Path(folder) / "runs", Path(folder) / "index.sqlite")
        for what in ("made", "refreshed, nothing changed"):
            started = time.perf_counter()
            index.refresh(now=True)
            print(f"index: {what} in {time.perf_counter() - started:.2f} s")
        index.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--simulate", type=int, metavar="RUNS")
    chosen = parser.parse_args()
    if chosen.simulate:
        simulate(chosen.simulate)
    else:
        measure_cluster(chosen.runs, chosen.nodes, chosen.parallel)


if __name__ == "__main__":
    main()
