"""Results table behind every report: one row per planned run of an experiment or of imported grading reports.

Only `experiment.json` and `run.json` are read, never journals or transcripts. Every planned run has a row: one without
a record is "missing"; one with an unreadable record is "unreadable" and keeps the error.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from podium.catalog.forge.forge_ids import has_public_seed
from podium.catalog.listing import builtin_listings
from podium.catalog.obfuscation.obfuscate import plain_id
from podium.catalog.registry import find_listing, leaderboards
from podium.errors import RecordError, UsageError
from podium.grading.leaderboard import find_position
from podium.report.imported_results import IMPORTED_FILE, CompetitionReport, read_import
from podium.runs.attempt.progress_files import has_running_attempt
from podium.runs.experiment import FILE as EXPERIMENT
from podium.runs.experiment import Experiment, check_plausible, read_experiment
from podium.runs.records import ExperimentDocument, Plan, RunRecord
from podium.runs.run_folder import check_numbers
from podium.task import Leaderboard, Medal
from podium.workspace.budget import Usage

RowStatus = Literal["finished", "failed", "stopped", "running", "interrupted", "missing", "unreadable"]
Complexity = Literal["low", "medium", "high"]


class RunKey(NamedTuple):
    """Experiment, task and seed of a run."""

    experiment: str
    task: str
    seed: int


@dataclass(frozen=True)
class Row:
    """Result of one run. Values that the source does not record are None."""

    experiment: str
    task: str
    seed: int
    agent: str
    model: str | None
    kind: str
    """Kind of data, such as `tabular classification`."""
    complexity: Complexity | None
    """Complexity that MLE-bench assigns to its 75 competitions."""
    competition: bool
    """True for a competition with medals; a research task has a baseline score instead."""
    status: RowStatus
    ended_by: str | None = None
    submitted: bool = False
    valid: bool = False
    score: float | None = None
    higher_is_better: bool | None = None
    medal: Medal | None = None
    above_median: bool = False
    percentile: float | None = None
    improvement: float | None = None
    """Improvement over a research task's baseline, in percent."""
    best_improvement: float | None = None
    """Largest improvement of any step; known only if every step was graded."""
    success: bool | None = None
    beyond_noise: bool | None = None
    """True if the improvement exceeds the baseline's own variation."""
    fallback: bool = False
    """True if the submission is the one that the run started with."""
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
    sandbox_gaps: str = ""
    """Guarantees that the sandbox did not fully enforce, separated by semicolons."""
    versions: str = ""
    folder: Path | None = None
    """Folder of the run; None for an imported result."""

    @property
    def key(self) -> RunKey:
        return RunKey(self.experiment, self.task, self.seed)

    @property
    def not_secret(self) -> bool:
        """True if anyone who knows the task's id can generate its answers."""
        return has_public_seed(self.task)

    @property
    def reported(self) -> bool:
        """True if the run has ended, successfully or not: MLE-bench has a report for such runs."""
        return self.status in ("finished", "failed")

    @property
    def counts(self) -> bool:
        """True if the run is a result: it has ended, or its record is unreadable, which is a failure."""
        return self.reported or self.status == "unreadable"

    @property
    def may_succeed(self) -> bool:
        """True if the submission can be the agent's work: the agent took a step and did not crash."""
        return self.status == "finished" and self.steps != 0

    @property
    def cause(self) -> str | None:
        """Category of the reason why there is no valid submission; None if there is one."""
        if self.valid:
            return None
        if self.status == "finished":
            return "invalid_submission" if self.submitted else "no_submission"
        return {"missing": "never_ran", "unreadable": "unreadable_record", "failed": "run_failed"}.get(
            self.status, "not_finished"
        )


@dataclass(frozen=True)
class Results:
    """Experiment with the rows of its runs."""

    name: str
    """Name that distinguishes the experiment in a report."""
    experiment: Experiment
    rows: tuple[Row, ...]
    """Rows ordered by task, then by seed."""
    imported: bool = False
    """True for MLE-bench grading reports: only the agent of the plan is known."""

    @property
    def plan(self) -> Plan:
        return self.experiment.plan

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.experiment.tasks

    @property
    def title(self) -> str:
        """Agent and model as text."""
        return f"{self.plan.agent} ({self.plan.model})" if self.plan.model else self.plan.agent


def read_all_results(folders: Sequence[Path]) -> list[Results]:
    """Return the experiments in the folders, each under a unique name.

    Raises:
        UsageError: A folder contains neither an experiment nor an import.
    """
    resolved = list(dict.fromkeys(folder.resolve() for folder in folders))
    names = Counter(folder.name for folder in resolved)
    return [read_results(folder, folder.name if names[folder.name] == 1 else str(folder)) for folder in resolved]


def read_results(folder: Path, name: str | None = None) -> Results:
    """Return the results of an experiment or of an import.

    Raises:
        UsageError: The folder contains neither.
        RecordError: The experiment cannot be read. A run that cannot be read becomes an "unreadable" row.
    """
    name = name or folder.resolve().name
    if (folder / EXPERIMENT).is_file():
        experiment = read_experiment(folder)
        runs = ((task, seed) for task in experiment.tasks for seed in range(experiment.seeds))
        return Results(name, experiment, tuple(read_row(experiment, name, task, seed) for task, seed in runs))
    if (folder / IMPORTED_FILE).is_file():
        return read_imported_results(folder, name)
    raise UsageError(
        f"{folder} is not an experiment: it has no {EXPERIMENT}. Create one with: podium run TASK --out {folder}, "
        "or import MLE-bench grading reports with: podium import PATH"
    )


def read_row(experiment: Experiment, name: str, task: str, seed: int) -> Row:
    """Return the row of a run from its `run.json`."""
    run = experiment.run(task, seed)
    plan = experiment.plan
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
        if record is None:
            return Row(**common, status="missing")
        if (record.task, record.seed) != (task, seed):
            raise RecordError(f"{run.record} belongs to another run, {record.task}/{record.seed}.")
        common |= _recorded(record, run.record)
        if record.status == "running" and not has_running_attempt(run):
            common["status"] = "interrupted"
    except RecordError as error:
        return Row(**common, status="unreadable", error=str(error))
    # The catalogue may not list a user's own task; the grade tells competitions and research tasks apart.
    competition = common["competition"] and record.improvement is None
    return Row(**common | {"competition": competition})


def _recorded(record: RunRecord, file: Path) -> dict[str, Any]:
    """Convert a record to the fields of `Row`.

    Raises:
        RecordError: A value is impossible.
    """
    same = (
        "agent model status ended_by higher_is_better medal percentile improvement best_improvement success "
        "beyond_noise error edition miniature fallback"
    )
    found = {
        **{name: getattr(record, name) for name in same.split()},
        **record.usage.model_dump(),
        "submitted": record.submission_sha256 is not None,
        "valid": bool(record.valid),
        "above_median": bool(record.above_median),
        "started": record.times.started,
        "ended": record.times.ended,
        "sandbox": record.backend,
        "network": None if record.sandbox is None else record.sandbox.network != "none",
        "sandbox_gaps": "" if record.sandbox is None else "; ".join(record.sandbox.gaps()),
        "versions": ", ".join(f"{name} {version}" for name, version in record.versions.items()),
    }
    check_numbers(found, file)
    return {**found, "score": None if record.score is None else _without_nan(float(record.score))}


def read_imported_results(folder: Path, name: str) -> Results:
    """Return the results of MLE-bench grading reports imported into a folder.

    Raises:
        RecordError: The import cannot be read.
    """
    found = read_import(folder)
    reports = found.by_task()
    plan = Plan(agent=found.agent)
    document = ExperimentDocument(plan=plan, tasks=tuple(reports), seeds=found.seeds, created=_in_utc(found.created))
    experiment = Experiment(folder, document)
    check_plausible(experiment, folder / IMPORTED_FILE)
    rows = []
    for task in experiment.tasks:
        common: dict[str, Any] = {"experiment": name, "task": task, "agent": found.agent, "model": None}
        common |= task_facts(task)
        for seed in range(experiment.seeds):
            is_there = seed < len(reports[task])
            known = _reported(reports[task][seed], folder / IMPORTED_FILE) if is_there else {"status": "missing"}
            rows.append(Row(**common, seed=seed, **known))
    return Results(name, experiment, tuple(rows), imported=True)


def _in_utc(time: str) -> str:
    return datetime.fromisoformat(time).astimezone(UTC).isoformat()


def _reported(report: CompetitionReport, file: Path) -> dict[str, Any]:
    """Convert an MLE-bench competition report or a Harbor trial to the fields of `Row`.

    Raises:
        RecordError: A value is impossible.
    """
    score, percentile = _without_nan(report.score), report.percentile
    if percentile is None and score is not None:
        percentile = _percentile(report.competition_id, score)
    found = {
        "status": "finished",
        "submitted": report.submission_exists,
        "valid": report.valid_submission,
        "higher_is_better": report.higher_is_better,
        "medal": report.medal if report.valid_submission else None,
        "above_median": report.above_median and report.valid_submission,
        "percentile": percentile,
        "improvement": report.improvement,
        "success": report.success,
        **{name: report.usage[name] for name in Usage.model_fields if name in report.usage},
        "error": report.error,
        "edition": report.edition,
        "miniature": report.miniature,
        "ended": report.created_at,
    }
    check_numbers(found, file)
    return {**found, "score": score}


def _without_nan(score: float | None) -> float | None:
    return None if score is None or math.isnan(score) else score


def _percentile(task: str, score: float) -> float | None:
    """Return the percentile of a score on the catalogue's leaderboard, which grading reports lack."""
    board = leaderboards().get(task, {})
    if "quantiles" not in board:
        return None
    return find_position(score, Leaderboard(board["lower_is_better"], quantiles=tuple(board["quantiles"]))).percentile


@cache
def task_facts(task: str) -> dict[str, Any]:
    """Return the catalogue's facts about a task without importing the task."""
    task = plain_id(task)
    board = leaderboards().get(task)
    if task.startswith("forge-"):  # a listed task represents its family: forge-FAMILY-DIFFICULTY-SEED
        family = task.rsplit("-", 2)[0] + "-"
        listing = next((found for found in builtin_listings() if found.id.startswith(family)), None)
    else:
        listing = find_listing(task)
    return {
        "kind": listing.kind if listing else "unknown",
        "complexity": board["complexity"] if board and board["in_75"] else None,
        "competition": listing.competition if listing else not task.startswith("folder-"),
    }
