"""Verification of experiments: checks all runs, and that each planned run exists exactly once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from podium.runs.experiment import FILE, Experiment, find_run, read_experiment
from podium.text import plural, printable
from podium.verify.check_run import verify_run
from podium.verify.verdict import Verdict, Verification

MAX_NAMED = 5


def verify(path: Path, **options: Any) -> Verification:
    """Verify a run, or an experiment with every run that has begun.

    Args:
        options: options of `verify_run`: `data_dir`, `env` and `rehash`.
    """
    if not os.path.lexists(path / FILE):
        return Verification(str(path), (verify_run(find_run(path), **options),))
    experiment = read_experiment(path)
    runs = tuple(verify_run(run, **options) for run in experiment.runs())
    problems = (*_missing(experiment), *unplanned_runs(experiment), *repeated(runs), *_unfinished(runs))
    return Verification(str(path), runs, tuple(printable(problem) for problem in problems))


def _missing(experiment: Experiment) -> Iterator[str]:
    planned = len(experiment.tasks) * experiment.seeds
    begun = {run.path for run in experiment.runs()}
    missing = [
        f"{task}/{seed}"
        for task in experiment.tasks
        for seed in range(experiment.seeds)
        if experiment.run(task, seed).path not in begun
    ]
    if missing:
        yield f"{len(missing)} of {plural(planned, 'planned run')} missing: {_some(missing)}"


def unplanned_runs(experiment: Experiment) -> Iterator[str]:
    """Yield a problem if the folder has runs outside the plan, as after lowering the seeds or renaming a bad run."""
    found = []
    for folder in sorted(_folders(experiment.folder)):
        for run in sorted(_folders(folder)):
            planned = folder.name in experiment.tasks and run.name in map(str, range(experiment.seeds))
            if not planned and any(os.path.lexists(run / name) for name in ("run.json", "steps.jsonl")):
                found.append(f"{folder.name}/{run.name}")
    if found:
        yield f"{plural(len(found), 'unplanned run')}: {_some(found)}"


def _folders(path: Path) -> Iterator[Path]:
    with os.scandir(path) as listing:
        for entry in listing:
            if entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)


def repeated(runs: Sequence[Verdict]) -> Iterator[str]:
    """Yield a problem for each run that is a copy of another."""
    first: dict[str, str] = {}
    for run in runs:
        if run.origin is not None and run.origin in first:
            yield f"{run.name} has the same first journal line as {first[run.origin]}"
        elif run.origin is not None:
            first[run.origin] = run.name


def _unfinished(runs: Sequence[Verdict]) -> Iterator[str]:
    unfinished = [run.name for run in runs if run.status in ("running", "stopped")]
    if unfinished:
        yield f"{plural(len(unfinished), 'unfinished run')}: {_some(unfinished)}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_NAMED]) + (", …" if len(names) > MAX_NAMED else "")
