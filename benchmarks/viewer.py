"""What `podium view` costs over many runs, beside the least it could: reading the files.

    python benchmarks/viewer.py [--runs 10000] [--steps 5000]

Makes experiments with so many runs in all (half of them in one experiment), and one run of many steps. Reported:
making the index, beside reading and parsing every `run.json` once; a refresh in which nothing, then one run has
changed, beside asking for the times of all files; each page, the first time and the median of several; and the memory
of the process. Targets: lists in less than a second, the long run without reading all of it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from starlette.testclient import TestClient

from podium.catalog.registry import suites
from podium.runs.experiment import FILE, run_folder
from podium.runs.records import ExperimentDocument, Plan, RunRecord, Times
from podium.runs.run_folder import write_document
from podium.sandbox.policy import Policy
from podium.sandbox.spec import Mount
from podium.viewer.app import make_app
from podium.viewer.page_site import Site
from podium.workspace.budget import Budget, Usage
from podium.workspace.history.history import History
from podium.workspace.journal.events import FORMAT, Action, Event, Start, Step
from podium.workspace.journal.hash_chain import START, encode_line
from podium.workspace.journal.observations import TextResult

SMALL_EXPERIMENTS = 20
REPEATS = 7
OBSERVATION = TextResult(text="line of output\n" * 200)
POLICY = Policy(
    backend="bubblewrap",
    engine="bubblewrap 0.8.0",
    sealed=True,
    home="/home",
    mounts=tuple(Mount(source=Path("/usr", str(n)), target=f"/{n}") for n in range(20)),
    hidden=(),
    environment={},
    network="none",
    gpus=(),
    limits={},
    namespaces=("user", "pid", "net"),
    user_id=1000,
    no_new_privileges=True,
    seccomp=True,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=5_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "runs")
        make_runs(root, options.runs)
        make_long_run(root / "long", options.steps)
        files = [str(path) for path in root.glob("*/*/*/run.json")]
        print(f"{len(files):,} runs in {len(list(root.iterdir()))} experiments; one of {options.steps:,} steps\n")
        measure(root, Path(folder, "index.sqlite"), files)


def measure(root: Path, file: Path, files: list[str]) -> None:
    """Prints the table."""
    print(f"{'what':44} {'time':>10} {'floor':>10} {'ratio':>7}")
    parse = timed(lambda: [json.loads(Path(path).read_bytes()) for path in files])
    look = statistics.median(timed(lambda: [os.stat(path) for path in files]) for _ in range(REPEATS))  # noqa: PTH116
    site: list[Site] = []
    show("index from nothing / reading all run.json", timed(lambda: site.append(opened(root, file))), parse)
    site[0].close()
    show("index that is there / asking for times", timed(lambda: site.append(opened(root, file))), look)
    index = site[1].index
    show("refresh, nothing new / asking for times", median(lambda: index.refresh(now=True)), look)

    def touch() -> None:
        os.utime(random.choice(files))
        index.refresh(now=True)

    show("refresh, one run new / asking for times", median(touch), look)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with TestClient(make_app(site[1]), base_url="http://127.0.0.1") as pages:
        measure_pages(pages, root)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\nmemory: {before / 1024:.0f} MB before the first page, {peak / 1024:.0f} MB at most")
    print(f"index: {file.stat().st_size / 1e6:.1f} MB on disk")


def measure_pages(pages: TestClient, root: Path) -> None:
    """Each page, first and later; the long run beside reading its journal once."""
    journal = next((root / "long").glob("*/0/steps.jsonl"))
    floor = median(lambda: journal.read_bytes())
    run = f"/runs/long/{journal.parent.parent.name}/0"
    last = journal.read_bytes().count(b'"kind": "step"')
    print()
    print(f"{'page':44} {'first':>10} {'later':>10} {'kB':>7}")
    for name, address in (
        ("experiments", "/"),
        ("experiment of half the runs", "/experiments/large"),
        ("the same by percentile, page 20", "/experiments/large?sort=percentile&page=20"),
        ("leaderboard", "/leaderboard"),
        ("leaderboard of a suite", "/leaderboard?suite=mle-bench"),
        ("compare two", "/compare?a=small-0&b=small-1"),
        ("a run without steps", f"/runs/large/{suites()['mle-bench'].tasks[1]}/0"),
        ("the long run", run),
        ("the long run, last steps", f"{run}?page=9999"),
        ("a step of it", f"{run}/steps/{last // 2}"),
        ("what it changed", f"{run}/steps/{last // 2}/diff"),
        ("its workspace", f"{run}/steps/{last // 2}/files"),
    ):
        sizes: list[int] = []

        def get(address: str = address, sizes: list[int] = sizes) -> None:
            answer = pages.get(address)
            assert answer.status_code == 200, f"{address}: {answer.status_code}"
            sizes.append(len(answer.content))

        first = timed(get)
        print(f"{name:44} {1000 * first:7.0f} ms {1000 * median(get):7.0f} ms {sizes[0] / 1000:7.0f}")
    print(f"{'(reading the long journal once':44} {1000 * floor:7.0f} ms, {journal.stat().st_size / 1e6:.0f} MB)")


def opened(root: Path, file: Path) -> Site:
    site = Site(root, file=file)
    site.index.refresh()
    return site


def make_runs(root: Path, count: int) -> None:
    """One large experiment and some small ones, all runs done."""
    tasks = suites()["mle-bench"].tasks
    rng = random.Random(0)
    sizes = {"large": count // 2, **{f"small-{n}": count // 2 // SMALL_EXPERIMENTS for n in range(SMALL_EXPERIMENTS)}}
    for name, size in sizes.items():
        seeds = -(-size // len(tasks))
        plan = make_plan(root / name, tasks, seeds)
        for number in range(size):
            make_record(root / name, plan, tasks[number % len(tasks)], number // len(tasks), rng)


def make_plan(folder: Path, tasks: tuple[str, ...], seeds: int) -> Plan:
    plan = Plan(agent="aide", model="openai/gpt-4o", edition="v1", budget=Budget(time_s=86_400))
    created = "2026-01-01T00:00:00.000+00:00"
    write_document(folder / FILE, ExperimentDocument(plan=plan, tasks=tasks, seeds=seeds, created=created))
    return plan


def make_record(folder: Path, plan: Plan, task: str, seed: int, rng: random.Random) -> None:
    medal = rng.choice(["gold", "silver", "bronze", None, None, None, None])
    record = RunRecord(
        task=task,
        agent=plan.agent,
        model=plan.model,
        seed=seed,
        status="finished",
        ended_by="working time",
        valid=True,
        score=rng.random(),
        medal=medal,  # type: ignore[arg-type]
        above_median=medal is not None,
        percentile=100 * rng.random(),
        higher_is_better=True,
        usage=Usage(working_s=rng.random() * 86_400, steps=rng.randrange(500), tokens=rng.randrange(10**7), cost=1.5),
        times=Times(started="2026-01-01T00:00:00+00:00", ended="2026-01-02T00:00:00+00:00"),
        submission_sha256="0" * 64,
        journal_head="0" * 64,
        backend="bubblewrap",
        sandbox=POLICY,
        versions={"podium": "0.1.0", "inspect_ai": "0.3.285", "python": "3.11.2", "system": "Linux"},
    )
    path = run_folder(folder, task, seed).path
    path.mkdir(parents=True)
    # Not through `write_record`, which waits for the disk each time.
    (path / "run.json").write_text(json.dumps(record.model_dump(mode="json"), indent=1), encoding="utf-8")


def make_long_run(folder: Path, count: int) -> None:
    """A run with many steps; the workspace changes at every hundredth."""
    task = suites()["mle-bench"].tasks[0]
    plan = make_plan(folder, (task,), 1)
    make_record(folder, plan, task, 0, random.Random(1))
    run = run_folder(folder, task, 0)
    run.workspace.mkdir(parents=True)
    with History(run.history, run.workspace) as history, run.journal.open("wb") as journal:
        commit = history.snapshot("start", None, time_s=0)
        state = history.put(b'{"done": 0}')
        previous = START
        for n in range(1, count + 2):
            if n % 100 == 2:
                (run.workspace / "notes.txt").write_text(f"step {n}\n" * 20, encoding="utf-8")
                commit = history.snapshot("step", commit, time_s=n)
            event: Event = make_step(n, commit, state) if n > 1 else make_start(task, plan, commit)
            # Not through `Journal.append`, which waits for the disk each time.
            line = encode_line(n, previous, {"kind": event.kind, **event.model_dump(mode="json")})
            previous = hashlib.sha256(line).hexdigest()
            journal.write(line + b"\n")


def make_start(task: str, plan: Plan, commit: str) -> Start:
    return Start(
        time="2026-01-01T00:00:00",
        usage=Usage(),
        format=FORMAT,
        task=task,
        edition="v1",
        miniature=False,
        data_sha256="0" * 64,
        agent=plan.agent,
        options={},
        model=plan.model,
        model_roles={},
        seed=0,
        budget=plan.budget,
        backend="bubblewrap",
        sandbox=POLICY,
        versions={},
        snapshot=commit,
    )


def make_step(n: int, commit: str, state: str) -> Step:
    return Step(
        time="2026-01-01T00:00:00",
        usage=Usage(working_s=float(n), steps=n),
        action=Action(name="run_command", arguments={"command": f"python train.py {n}"}),
        observation=OBSERVATION,
        seconds=1.0,
        snapshot=commit,
        state=state,
        decision=n,
        index=0,
        count=1,
    )


def show(what: str, time_s: float, floor_s: float) -> None:
    print(f"{what:44} {1000 * time_s:7.0f} ms {1000 * floor_s:7.0f} ms {time_s / floor_s:7.1f}")


def median(work: Callable[[], object]) -> float:
    return statistics.median(timed(work) for _ in range(REPEATS))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
