"""An experiment: a folder of runs that share a plan."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from podium.errors import UsageError
from podium.runs.record import Budget, Experiment, Plan, RunFolder, read_model, write_model
from podium.task import Task

FILE = "experiment.json"


def open_experiment(folder: Path, plan: Plan, tasks: list[str], seeds: int) -> Experiment:
    """Makes an experiment, or continues one: tasks and seeds may be added, the plan must be the same.

    Raises:
        UsageError: the folder holds an experiment with another plan, or something else.
    """
    known: Experiment | None = read_model(folder / FILE, Experiment)
    if known is None:
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} holds something else: there is no {FILE}. Give another --out.")
        experiment = Experiment(plan=plan, tasks=tuple(tasks), seeds=seeds, created=now())
    else:
        _check_same(folder, known.plan, plan)
        merged = tuple(dict.fromkeys([*known.tasks, *tasks]))
        experiment = known.model_copy(update={"tasks": merged, "seeds": max(known.seeds, seeds)})
    if experiment != known:
        write_model(folder / FILE, experiment)
    return experiment


def settle(plan: Plan, task: Task) -> Plan:
    """The plan with all that it leaves to the task: the edition, and a budget if it names none."""
    budget = plan.budget if plan.budget != Budget() else Budget(time_s=task.time_s, steps=task.steps)
    return plan.model_copy(update={"edition": task.in_edition(plan.edition).edition, "budget": budget})


def _check_same(folder: Path, known: Plan, plan: Plan) -> None:
    before, after = _flat(known.model_dump(mode="json")), _flat(plan.model_dump(mode="json"))
    names = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    changed = [f"{name}: {before.get(name)} then, {after.get(name)} now" for name in names]
    if changed:
        raise UsageError(
            f"{folder} was started differently ({'; '.join(changed)}). "
            "Repeat the options it was started with, or give another --out."
        )


def _flat(document: dict[str, Any], above: str = "") -> dict[str, Any]:
    """The values of nested dictionaries by their full names."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        found |= _flat(value, f"{above}{name}.") if isinstance(value, dict) else {f"{above}{name}": value}
    return found


def run_folder(folder: Path, task: str, seed: int) -> RunFolder:
    """Where a run of an experiment lies."""
    return RunFolder(folder / task / str(seed))


def read_experiment(folder: Path) -> Experiment:
    """The experiment in a folder.

    Raises:
        UsageError: there is none.
    """
    experiment: Experiment | None = read_model(folder / FILE, Experiment)
    if experiment is None:
        raise UsageError(f"{folder} is no experiment: it has no {FILE}. Make one with: podium run TASK --out {folder}")
    return experiment


def runs_below(folder: Path) -> Iterator[RunFolder]:
    """All runs of an experiment, in the order of its tasks and seeds."""
    experiment = read_experiment(folder)
    for task in experiment.tasks:
        for seed in range(experiment.seeds):
            run = run_folder(folder, task, seed)
            if run.path.exists():
                yield run


def find_run(path: Path) -> RunFolder:
    """The run in a folder.

    Raises:
        UsageError: there is none; names the runs if the folder is an experiment.
    """
    run = RunFolder(path)
    if run.journal.exists() or run.record.exists():
        return run
    if (path / FILE).exists():
        inside = [str(found.path) for found in runs_below(path)]
        raise UsageError(f"{path} is an experiment, not a run. Its runs: {', '.join(inside[:8]) or 'none yet'}")
    raise UsageError(f"{path} is no run: it has no {run.journal.name}. A run lies in EXPERIMENT/TASK/SEED.")


def now() -> str:
    """The time, in UTC, as it is written into records."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
