"""What the agent `recipes` is worth: it, AutoGluon, FLAML and others on the same tasks, with the same means.

    scripts/contenders_env.sh .venv-contenders         # the contenders' Python, once
    python benchmarks/agents.py --env .venv-contenders [--contenders recipes flaml ...] [TASK|SUITE|FAMILY ...]

By default the real tasks of `open-tables` and fresh forged ones of every family with a drawn structure (forging one
takes half a minute). A contender is an agent: all of them have the same working time, cores, data, Python packages and
grading in the same sandbox. Those named after learners are programs that the agent `command` runs. They share one
reader that makes a plain table of a task (benchmarks/contenders/reading.py); where a task is not a table, they hand in
the sample submission. `aide` and `frontier` are the searches with a scripted coder that uses the same reader. Each run
has a core of its own, which other programs must leave alone: time is measured by the clock.

Continues where it was interrupted; finished runs are kept. Writes OUT/agents.json after each contender, with all runs
that lie in OUT; benchmarks/agents_table.py makes the tables of docs/benchmarks.md from it, and
benchmarks/validity.py compares forged tasks with real ones.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

from podium import api
from podium.catalog.forge.families import FAMILIES, WORLD_FAMILIES
from podium.catalog.forge.forge_ids import forge_id
from podium.catalog.registry import expand
from podium.runs.drive.driver import Driver, FollowedRun
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import open_experiment, read_experiment, run_folder
from podium.runs.records import Plan
from podium.runs.run_folder import RunFolder
from podium.runs.steps import Steps
from podium.safefs.atomic_files import write_atomically
from podium.workspace.budget import Budget

PROGRAMS = os.path.relpath(Path(__file__).parent / "contenders")
"""As the plan of an experiment keeps it, and compares it when it is continued."""
HAND_IN_SAMPLE = "cp /home/data/sample_submission.csv /home/submission/submission.csv"
"""Before Python has imported anything, which may take seconds."""
LEARNERS = {
    "linear": "scikit-learn",
    "forest": "scikit-learn",
    "hgb": "scikit-learn",
    "lightgbm": "lightgbm",
    "flaml": "flaml",
    "autogluon-medium": "autogluon.tabular",
    "autogluon-best": "autogluon.tabular",
}
"""By contender the package it is made of."""
AGENTS: dict[str, tuple[str, dict[str, str]]] = {
    "recipes": ("recipes", {}),
    **{
        name: ("command", {"command": f"{HAND_IN_SAMPLE}; python contend.py {name}", "files": PROGRAMS})
        for name in LEARNERS
    },
    "aide": ("scripted_coder:ScriptedAide", {}),
    "frontier": ("scripted_coder:ScriptedFrontier", {}),
    "sample": ("baseline", {}),
}
DEFAULT = ("recipes", "autogluon-best", "flaml")
PACKAGES = ("autogluon.tabular", "flaml", "lightgbm", "xgboost", "catboost", "scikit-learn")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "tasks",
        nargs="*",
        default=["open-tables", *WORLD_FAMILIES],
        metavar="TASK|SUITE|FAMILY",
        help="a family stands for fresh tasks of it [default: open-tables and all families with drawn structures]",
    )
    parser.add_argument("--time", type=float, default=60.0, help="working time per run in seconds")
    parser.add_argument("--seeds", type=int, nargs="*", default=[501, 502, 503], help="of the fresh tasks")
    parser.add_argument("--difficulty", choices=("easy", "medium", "hard"), default="medium", help="of the fresh tasks")
    parser.add_argument("--contenders", nargs="+", choices=AGENTS, default=list(DEFAULT))
    parser.add_argument("--env", type=Path, help="the contenders' Python environment [default: Podium's own]")
    parser.add_argument(
        "--parallel", type=int, default=len(os.sched_getaffinity(0)), help="runs at a time, a core each"
    )
    parser.add_argument("--data-dir", type=Path, help="where the data of tasks lies")
    parser.add_argument("--out", type=Path, default=Path("runs/agents"))
    arguments = parser.parse_args()
    data_dir = None if arguments.data_dir is None else arguments.data_dir.absolute()
    env = None if arguments.env is None else str(arguments.env.absolute())
    versions = packages_of(env)
    for name in arguments.contenders:
        if name in LEARNERS and LEARNERS[name] not in versions:
            parser.error(f"{name} needs {LEARNERS[name]}: run scripts/contenders_env.sh DIR and add --env DIR")
    sys.path.insert(0, str(Path(PROGRAMS).absolute()))  # for the scripted coder, in the processes of runs too
    tasks = expand(with_fresh(arguments.tasks, arguments.difficulty, arguments.seeds))
    for task in tasks:
        api.prepare(task, data_dir=data_dir)
    for name in arguments.contenders:
        agent, options = AGENTS[name]
        plan = Plan(agent=agent, options=options, budget=Budget(time_s=arguments.time), data_dir=data_dir, env=env)
        contend(arguments.out / name, plan, tasks, arguments.parallel)
        results = collect(arguments.out, arguments.time, versions)
        write_atomically(arguments.out / "agents.json", json.dumps(results, indent=1, allow_nan=False) + "\n")
    print(f"{'contender':10} {'tasks':>5} {'valid':>6} {'medals':>7} {'mean percentile':>16}")
    for name, found in results["contenders"].items():
        print(
            f"{name:10} {found['tasks']:5} {found['valid_rate']:6.0%} {found['medal_rate']:7.0%} "
            f"{found['mean_percentile']:16.1f}"
        )


def with_fresh(names: list[str], difficulty: str, seeds: list[int]) -> list[str]:
    """The names, with fresh forged tasks in the place of families."""
    forged = {family: [str(forge_id(family, difficulty, seed)) for seed in seeds] for family in FAMILIES}
    return [task for name in names for task in forged.get(name, [name])]


def packages_of(env: str | None) -> dict[str, str]:
    """The versions of those packages of interest that the contenders' Python has."""
    folders = sys.path if env is None else [str(path) for path in Path(env).glob("lib/python*/site-packages")]
    found = {name: next(iter(distributions(name=name, path=folders)), None) for name in PACKAGES}
    return {name: distribution.version for name, distribution in found.items() if distribution is not None}


def contend(out: Path, plan: Plan, tasks: list[str], parallel: int) -> None:
    """Does the runs of one contender that are not done yet."""

    def tell(run: FollowedRun) -> None:
        if run.record is not None:
            print(f"{out.name}, {run.request.task}: {run.record.score}", file=sys.stderr, flush=True)

    driver = Driver(open_experiment(out, plan, tasks, 1), retry=True)
    driver.run_all(make_executor(parallel=parallel), tell)


def collect(out: Path, time_s: float, versions: dict[str, str]) -> dict[str, Any]:
    """What all contenders have come to so far."""
    found = {
        name: {
            task: facts
            for task in read_experiment(out / name).tasks
            if (facts := result(run_folder(out / name, task, 0))) is not None
        }
        for name in AGENTS
        if (out / name).exists()
    }
    return {
        "time_s": time_s,
        "cores": 1,
        "versions": {"podium": version("podium"), **versions},
        "contenders": {name: summary(list(results.values())) for name, results in found.items() if results},
        "tasks": {
            task: {
                "kind": api.load(task).kind,
                "metric": api.load(task).metric.title,
                "higher_is_better": api.load(task).metric.higher_is_better,
                **{name: results[task] for name, results in found.items() if task in results},
            }
            for task in sorted({task for results in found.values() for task in results})
        },
    }


def result(run: RunFolder) -> dict[str, Any] | None:
    record = run.read_record()
    if record is None or record.status not in ("finished", "failed"):
        return None
    names = ("valid", "score", "percentile", "medal", "status", "ended_by", "error")
    said = lines_said(run, record.usage.steps)
    return {
        **{name: getattr(record, name) for name in names},
        "working_s": round(record.usage.working_s, 1),
        "is_sample": any(line.startswith("the sample submission, because") for line in said),
    }


def lines_said(run: RunFolder, count: int) -> list[str]:
    """What came of a run's steps, line by line; a run that failed before it began has no steps, and no journal."""
    if count == 0:
        return []
    steps = Steps(run)
    return [line for number in range(count) for line in steps.observation(number + 1).text.splitlines()]


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "tasks": len(results),
        "valid_rate": statistics.mean(bool(result["valid"]) for result in results),
        "medal_rate": statistics.mean(result["medal"] is not None for result in results),
        "mean_percentile": statistics.mean(result["percentile"] or 0.0 for result in results),
        "samples": sum(result["is_sample"] for result in results),
    }


if __name__ == "__main__":
    main()
