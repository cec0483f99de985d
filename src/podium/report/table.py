"""The table everything else reads: one row per planned run, from experiments and from imported grading reports.

Only `experiment.json` and `run.json` are read, never journals or transcripts. A planned run without a record has a row
too, with status "missing": nothing is left out in silence.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from podium.catalog import find_listing, leaderboards
from podium.catalog.listing import builtin_listings
from podium.errors import PodiumError, UsageError
from podium.grading.leaderboard import find_position
from podium.report.imported import FILE as IMPORTED
from podium.report.imported import Import, read_import
from podium.task import Leaderboard, Medal

if TYPE_CHECKING:
    from podium.runs.record import Plan, RunRecord

EXPERIMENT = "experiment.json"
Status = Literal["finished", "failed", "stopped", "running", "missing"]
Complexity = Literal["low", "medium", "high"]


@dataclass(frozen=True)
class Row:
    """One run. What a source does not say is None."""

    experiment: str
    task: str
    seed: int
    agent: str
    model: str | None
    kind: str
    """Kind of data, such as `tabular classification`."""
    complexity: Complexity | None
    """As MLE-bench grades its 75 competitions."""
    competition: bool
    """Whether there are medals to win; a research task has a baseline to improve upon."""
    status: Status
    ended_by: str | None = None
    submitted: bool = False
    valid: bool = False
    score: float | None = None
    higher_is_better: bool | None = None
    medal: Medal | None = None
    above_median: bool = False
    percentile: float | None = None
    improvement: float | None = None
    """Percent by which a research task's baseline was improved."""
    best_improvement: float | None = None
    """The largest of any step; known where every step was graded."""
    success: bool | None = None
    beyond_noise: bool | None = None
    """Whether the improvement is more than the baseline's own spread explains."""
    error: str | None = None
    working_s: float | None = None
    wall_s: float | None = None
    waited_s: float | None = None
    steps: int | None = None
    executions: int | None = None
    tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    started: str | None = None
    ended: str | None = None
    edition: str | None = None
    miniature: bool = False
    sandbox: str | None = None
    network: bool | None = None
    versions: str = ""
    folder: Path | None = None
    """Where the run lies, if it is one of ours."""

    @property
    def reported(self) -> bool:
        """Whether the run came to an end, good or bad: what MLE-bench has a report for."""
        return self.status in ("finished", "failed")

    @property
    def cause(self) -> str | None:
        """Why there is no valid submission, as a class of causes; None if there is one."""
        if self.valid:
            return None
        states = {"missing": "never ran", "running": "not finished", "stopped": "not finished", "failed": "run failed"}
        return states.get(self.status) or ("invalid submission" if self.submitted else "no submission")


@dataclass(frozen=True)
class Entry:
    """One experiment with its runs: a line of a medal table."""

    name: str
    folder: Path
    agent: str
    model: str | None
    tasks: tuple[str, ...]
    seeds: int
    """Planned runs of each task."""
    created: str | None
    rows: tuple[Row, ...]
    """In the order of tasks, then seeds."""
    plan: dict[str, Any] = field(default_factory=dict)
    """As `experiment.json` has it; empty for an import, whose plan is not known."""
    imported: bool = False

    @property
    def title(self) -> str:
        """Who did it, for people."""
        return f"{self.agent} ({self.model})" if self.model else self.agent


def read_entries(folders: list[Path]) -> list[Entry]:
    """The experiments in the given folders, each under a name of its own.

    Raises:
        UsageError: a folder holds neither an experiment nor an import.
    """
    resolved = list(dict.fromkeys(folder.resolve() for folder in folders))
    names = Counter(folder.name for folder in resolved)
    return [read_entry(folder, folder.name if names[folder.name] == 1 else str(folder)) for folder in resolved]


def read_entry(folder: Path, name: str | None = None) -> Entry:
    """One experiment, ours or imported.

    Raises:
        UsageError: the folder holds neither.
    """
    name = name or folder.resolve().name
    if (folder / EXPERIMENT).is_file():
        return _own(folder, name)
    if (folder / IMPORTED).is_file():
        return _from_import(folder, name, read_import(folder))
    raise UsageError(
        f"{folder} is no experiment: it has no {EXPERIMENT}. Make one with: podium run TASK --out {folder}, "
        "or take over MLE-bench's grading reports with: podium import PATH"
    )


def _own(folder: Path, name: str) -> Entry:
    from podium.runs.experiment import read_experiment

    experiment = read_experiment(folder)
    rows = tuple(
        read_row(folder, name, experiment.plan, task, seed)
        for task in experiment.tasks
        for seed in range(experiment.seeds)
    )
    return Entry(
        name=name,
        folder=folder,
        agent=experiment.plan.agent,
        model=experiment.plan.model,
        tasks=experiment.tasks,
        seeds=experiment.seeds,
        created=experiment.created,
        rows=rows,
        plan=experiment.plan.model_dump(mode="json"),
    )


def read_row(folder: Path, name: str, plan: Plan, task: str, seed: int) -> Row:
    """One run of an experiment of ours, from its `run.json`."""
    from podium.runs.experiment import run_folder

    run = run_folder(folder, task, seed)
    common: dict[str, Any] = {
        "experiment": name,
        "task": task,
        "seed": seed,
        "agent": plan.agent,
        "model": plan.model,
        "edition": plan.edition,
        "folder": run.path,
        **task_facts(task),
    }
    try:
        record = run.read_record()
    except PodiumError as error:
        return Row(**common, status="missing", error=str(error))
    if record is None:
        return Row(**common, status="missing")
    # A task that the catalogue does not list, such as one of a user's own, shows by its grade what it asks for.
    competition = common["competition"] and record.improvement is None
    return Row(**common | _recorded(record) | {"competition": competition})


def _recorded(record: RunRecord) -> dict[str, Any]:
    """What a record says, under the names of the table."""
    same = (
        "status ended_by higher_is_better medal percentile improvement best_improvement success beyond_noise error "
        "edition miniature"
    )
    return {
        **{name: getattr(record, name) for name in same.split()},
        **record.usage.model_dump(),
        "submitted": record.submission_sha256 is not None,
        "valid": bool(record.valid),
        "score": as_number(record.score),
        "above_median": bool(record.above_median),
        "started": record.times.started,
        "ended": record.times.ended,
        "sandbox": record.sandbox.get("provider"),
        "network": record.sandbox.get("network"),
        "versions": ", ".join(f"{name} {version}" for name, version in record.versions.items()),
    }


def _from_import(folder: Path, name: str, found: Import) -> Entry:
    rows = []
    for task, reports in found.by_task().items():
        common: dict[str, Any] = {"experiment": name, "task": task, "agent": found.agent, "model": None}
        common |= task_facts(task)
        for seed in range(found.seeds):
            report = reports[seed] if seed < len(reports) else None
            rows.append(Row(**common, seed=seed, **({"status": "missing"} if report is None else _reported(report))))
    return Entry(
        name=name,
        folder=folder,
        agent=found.agent,
        model=None,
        tasks=tuple(found.by_task()),
        seeds=found.seeds,
        created=found.created,
        rows=tuple(rows),
        imported=True,
    )


def _reported(report: dict[str, Any]) -> dict[str, Any]:
    """What one of MLE-bench's competition reports says, under the names of the table."""
    medal = next((name for name in ("gold", "silver", "bronze") if report[f"{name}_medal"]), None)
    lower, score = report.get("is_lower_better"), as_number(report.get("score"))
    return {
        "status": "finished",
        "submitted": bool(report["submission_exists"]),
        "valid": bool(report["valid_submission"]),
        "score": score,
        "higher_is_better": None if lower is None else not lower,
        "medal": medal,
        "above_median": bool(report["above_median"]),
        "percentile": None if score is None else _percentile(report["competition_id"], score),
        "error": report.get("error"),
        "edition": report.get("edition", "v1"),
        "ended": report.get("created_at"),
    }


def _percentile(task: str, score: float) -> float | None:
    """Where a score stands among people, as the catalogue knows them; grading reports do not say."""
    board = leaderboards().get(task, {})
    if "quantiles" not in board:
        return None
    return find_position(score, Leaderboard(board["lower_is_better"], quantiles=tuple(board["quantiles"]))).percentile


def as_number(value: Any) -> float | None:
    """A score as records have it (a number, or its name where JSON has none) as a number; None if there is none."""
    number = None if value is None else float(value)
    return None if number is None or math.isnan(number) else number


@cache
def task_facts(task: str) -> dict[str, Any]:
    """What the catalogue says of a task without importing it."""
    board = leaderboards().get(task)
    if task.startswith("forge-"):  # one that is listed stands for its family: forge-FAMILY-DIFFICULTY-SEED
        family = task.rsplit("-", 2)[0] + "-"
        listing = next((found for found in builtin_listings() if found.id.startswith(family)), None)
    else:
        listing = find_listing(task)
    return {
        "kind": listing.kind if listing else "unknown",
        "complexity": board["complexity"] if board and board["in_75"] else None,
        "competition": listing.competition if listing else not task.startswith("folder-"),
    }
