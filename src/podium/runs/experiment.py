"""An experiment: a folder of runs that share a plan."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.errors import RecordError, UsageError
from podium.runs.plan.trusted_plans import remember_plan
from podium.runs.records import DatedChange, ExperimentDocument, Plan, RunRecord
from podium.runs.run_folder import RunFolder, check_numbers, read_document, workspaces_of, write_document
from podium.safefs.neutral_paths import remove_orphans
from podium.task import Task
from podium.workspace.budget import Budget
from podium.workspace.journal.events import now

FILE = "experiment.json"
TASK_ID = re.compile(r"[\w@-][\w.@-]{0,199}")
MAX_RUNS = 1_000_000


@dataclass(frozen=True)
class Experiment:
    """A folder of runs, with its `experiment.json`."""

    folder: Path
    document: ExperimentDocument

    @property
    def plan(self) -> Plan:
        return self.document.plan

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.document.tasks

    @property
    def seeds(self) -> int:
        return self.document.seeds

    def run(self, task: str, seed: int) -> RunFolder:
        """Return the folder of a run, which need not have begun."""
        return run_folder(self.folder, task, seed)

    def runs(self) -> Iterator[RunFolder]:
        """Yield the runs that have begun, ordered by task and seed."""
        every = (self.run(task, seed) for task in self.tasks for seed in range(self.seeds))
        return (run for run in every if run.path.is_dir())

    def records(self) -> list[RunRecord]:
        """Return the records of all runs that have begun."""
        return [record for run in self.runs() if (record := run.read_record()) is not None]


def open_experiment(folder: Path, plan: Plan, tasks: Sequence[str], seeds: int) -> Experiment:
    """Create an experiment, or extend an existing one by tasks and seeds; its plan must be the same.

    Raises:
        UsageError: the folder holds an experiment with another plan, or other files.
    """
    with _changing(folder):
        known = read_document(folder / FILE, ExperimentDocument)
        if known is None:
            if any(folder.iterdir()):
                raise UsageError(f"{folder} is not an experiment: it has files but no {FILE}. Choose another --out.")
            document = ExperimentDocument(plan=plan, tasks=tuple(tasks), seeds=seeds, created=now())
        else:
            _require_same(folder, known.plan, plan)
            merged = tuple(dict.fromkeys([*known.tasks, *tasks]))
            document = known.model_copy(update={"tasks": merged, "seeds": max(known.seeds, seeds)})
        if document != known:
            write_document(folder / FILE, document)
    remember_plan(plan)
    remove_orphans(workspaces_of(folder))
    return Experiment(folder, document)


@contextmanager
def _changing(folder: Path) -> Iterator[None]:
    """Lock the document of an experiment against changes by other processes."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some network file systems cannot lock folders
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _require_same(folder: Path, known: Plan, plan: Plan) -> None:
    if changed := _differences(known, plan):
        changes = "; ".join(f"{name}: {before} before, {after} now" for name, before, after in changed)
        raise UsageError(
            f"{folder} was started with other settings ({changes}). Repeat the original options, choose another "
            f"--out, or continue it unchanged: podium resume {folder}"
        )


def make_experiment(folder: Path, document: ExperimentDocument) -> Experiment:
    """Create an experiment in a new folder.

    Raises:
        RecordError: the document is implausible.
    """
    experiment = Experiment(folder, document)
    check_plausible(experiment, folder / FILE)
    folder.mkdir(parents=True)
    write_document(folder / FILE, document)
    return experiment


def change_plan(experiment: Experiment, changes: dict[str, Any]) -> Experiment:
    """Replace parts of an experiment's plan, record the changes, and return the new experiment.

    Args:
        changes: new values by plan field, such as `model` or `budget`.
    """
    with _changing(experiment.folder):
        experiment = read_experiment(experiment.folder)  # another process may have added tasks
        plan = Plan.model_validate({**experiment.plan.model_dump(), **changes})
        changed = [
            DatedChange(name=name, before=before, after=after, time=now())
            for name, before, after in _differences(experiment.plan, plan)
        ]
        if not changed:
            return experiment
        update = {"plan": plan, "changes": (*experiment.document.changes, *changed)}
        document = experiment.document.model_copy(update=update)
        write_document(experiment.folder / FILE, document)
    remember_plan(plan)
    return Experiment(experiment.folder, document)


def _differences(before: Plan, after: Plan) -> list[tuple[str, Any, Any]]:
    old, new = _flat(before.model_dump(mode="json")), _flat(after.model_dump(mode="json"))
    names = sorted(old.keys() | new.keys())
    return [(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)]


def _flat(document: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Flatten nested dictionaries to full dotted names."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        found |= _flat(value, f"{above}{name}.") if isinstance(value, dict) else {f"{above}{name}": value}
    return found


def check_plausible(experiment: Experiment, file: Path) -> None:
    """Check that the task ids and the number of runs are plausible; the file may come from a stranger.

    Raises:
        RecordError: a task id, the number of runs or a budget is implausible.
    """
    odd = [task for task in experiment.tasks if not TASK_ID.fullmatch(task)]
    if odd:
        raise RecordError(f"{file} contains an invalid task id: {odd[0][:80]!r}.")
    if len(set(experiment.tasks)) < len(experiment.tasks):
        raise RecordError(f"{file} lists a task twice.")
    if not 0 <= len(experiment.tasks) * experiment.seeds <= MAX_RUNS:
        raise RecordError(f"{file} plans more than {MAX_RUNS:,} runs.")
    check_numbers(dict(experiment.plan.budget), file)


def run_folder(folder: Path, task: str, seed: int) -> RunFolder:
    """Return the folder of a run inside an experiment."""
    return RunFolder(folder / task / str(seed))


def read_experiment(folder: Path) -> Experiment:
    """Read the experiment in a folder.

    Raises:
        UsageError: the folder is not an experiment.
        RecordError: the document cannot be read or is implausible.
    """
    document = read_document(folder / FILE, ExperimentDocument)
    if document is None:
        raise UsageError(
            f"{folder} is not an experiment: it has no {FILE}. Create one with: podium run TASK --out {folder}"
        )
    experiment = Experiment(folder, document)
    check_plausible(experiment, folder / FILE)
    return experiment


def find_run(path: Path) -> RunFolder:
    """Return the run in a folder.

    Raises:
        UsageError: the folder is not a run; if it is an experiment, the message lists its runs.
    """
    run = RunFolder(path.resolve())
    if os.path.lexists(run.journal) or os.path.lexists(run.record):
        return run
    if (path / FILE).exists():
        inside = [str(found.path) for found in read_experiment(path).runs()]
        raise UsageError(f"{path} is an experiment, not a run. Its runs: {', '.join(inside[:8]) or 'none yet'}")
    raise UsageError(f"{path} is not a run: it has no {run.journal.name}. Runs are at EXPERIMENT/TASK/SEED.")


MINIATURE_TIME_S = 600.0
"""Default working time of a run on a miniature."""


def default_budget(plan: Plan, task: Task) -> Budget:
    """Return the plan's budget, or the task's default one; miniatures get a short default."""
    if plan.budget != Budget():
        return plan.budget
    fabricated = plan.miniature and not task.generated
    return Budget(time_s=MINIATURE_TIME_S if fabricated else task.time_s, steps=task.steps)
