"""Experiments made up from a few numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podium.catalog.registry import suites
from podium.report.imported_results import import_reports
from podium.report.results import Results, Row, read_results, task_facts
from podium.runs.experiment import Experiment
from podium.runs.records import ExperimentDocument, Plan
from podium.workspace.budget import Budget

LOW, MEDIUM, HIGH = (list(suites()[f"mle-bench-{name}"].tasks) for name in ("lite", "medium", "high"))


def report(task: str, medal: str | None = None, **changes: Any) -> dict[str, Any]:
    """One of MLE-bench's competition reports."""
    return {
        "competition_id": task,
        "score": 0.5,
        "gold_threshold": 0.9,
        "silver_threshold": 0.8,
        "bronze_threshold": 0.7,
        "median_threshold": 0.6,
        "any_medal": medal is not None,
        "gold_medal": medal == "gold",
        "silver_medal": medal == "silver",
        "bronze_medal": medal == "bronze",
        "above_median": medal is not None,
        "submission_exists": True,
        "valid_submission": True,
        "is_lower_better": False,
        "created_at": "2025-01-01T00:00:00",
        "submission_path": "submission.csv",
    } | changes


def write_report(path: Path, reports: Sequence[dict[str, Any]]) -> Path:
    """A grading report file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"competition_reports": list(reports)}))
    return path


def medalists(tasks: Sequence[str], count: int, medal: str = "gold") -> list[dict[str, Any]]:
    """A seed in which the first so many tasks get a medal."""
    return [report(task, medal if number < count else None) for number, task in enumerate(tasks)]


def imported(folder: Path, seeds: Sequence[Sequence[dict[str, Any]]], agent: str = "aide") -> Results:
    """An experiment imported from one grading report per seed."""
    for number, reports in enumerate(seeds):
        write_report(folder / "groups" / f"2025-01-0{number}" / "x_grading_report.json", reports)
    import_reports(folder / "groups", folder / "out", agent=agent)
    return read_results(folder / "out")


def row(task: str = "spaceship-titanic", seed: int = 0, experiment: str = "one", **changes: Any) -> Row:
    """A finished run with a valid submission."""
    known: dict[str, Any] = {
        "experiment": experiment,
        "task": task,
        "seed": seed,
        "agent": "agent",
        "model": None,
        "status": "finished",
        "submitted": True,
        "valid": True,
        "score": 0.5,
        "higher_is_better": True,
        "edition": "v1",
        **task_facts(task),
    }
    return Row(**known | changes)


def results(name: str, rows: Sequence[Row], **plan: Any) -> Results:
    """An experiment of ours with these runs."""
    document = ExperimentDocument(
        plan=Plan(**{"agent": "agent", "budget": Budget(time_s=60.0)} | plan),
        tasks=tuple(dict.fromkeys(row.task for row in rows)),
        seeds=max(row.seed for row in rows) + 1,
        created="2025-01-01T00:00:00+00:00",
    )
    return Results(name, Experiment(Path(name), document), tuple(rows))
