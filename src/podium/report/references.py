"""What scores are held against: medal thresholds, the ceiling of a forged task, the baseline of a research task."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.catalog import load
from podium.catalog.forge import parse_id, stored_field
from podium.data.home import locate
from podium.errors import PodiumError
from podium.grading.medals import thresholds
from podium.grading.reference import LEADERBOARD_FILE, find_reference
from podium.report.imported import read_import
from podium.report.table import Entry
from podium.task import Baseline, Leaderboard

THRESHOLDS = ("gold", "silver", "bronze", "median")


@dataclass(frozen=True)
class Lines:
    """The lines that a task's scores are drawn against; None where there is none or it is not known here."""

    title: str
    metric: str | None = None
    higher_is_better: bool | None = None
    gold: float | None = None
    silver: float | None = None
    bronze: float | None = None
    median: float | None = None
    ceiling: float | None = None
    """What the true mechanism of a forged task scores."""
    baseline: float | None = None
    """What the starter code of a research task scores."""


def read_lines(entry: Entry) -> dict[str, Lines]:
    """The lines of each task of an experiment."""
    if entry.imported:
        return {
            task: _from_report(task, reports[0] if reports else {})
            for task, reports in read_import(entry.folder).by_task().items()
        }
    data_dir = Path(entry.plan["data_dir"]) if entry.plan.get("data_dir") else None
    editions = {row.task: row.edition for row in entry.rows if row.reported}
    return {task: _from_catalogue(task, editions.get(task), data_dir) for task in entry.tasks}


def _from_report(task: str, report: dict[str, Any]) -> Lines:
    lower = report.get("is_lower_better")
    limits = {name: report.get(f"{name}_threshold") for name in THRESHOLDS}
    return Lines(title=task, higher_is_better=None if lower is None else not lower, **limits)


def _from_catalogue(task_id: str, edition: Any, data_dir: Path | None) -> Lines:
    try:
        task = load(task_id)
        task = task.in_edition(edition if edition in task.editions else next(iter(task.editions)))
        place = locate(task_id, edition=task.edition, data_dir=data_dir)
        field = _field(task_id, place.private / LEADERBOARD_FILE)
        reference = (
            Leaderboard(field["lower_is_better"], tuple(field["scores"])) if field else find_reference(task, place)
        )
    except PodiumError:
        return Lines(title=task_id)  # a task of another version of Podium: its scores stand alone
    common: dict[str, Any] = {
        "title": task.title,
        "metric": task.metric.title,
        "higher_is_better": task.metric.higher_is_better,
    }
    match reference:
        case Leaderboard():
            limits = thresholds(reference)
            known = {name: getattr(limits, name) for name in THRESHOLDS}
            return Lines(**common, **known, ceiling=field.get("ceiling") if field else None)
        case Baseline(score=score):
            return Lines(**common, baseline=score)
        case _:
            return Lines(**common)


def _field(task_id: str, path: Path) -> dict[str, Any] | None:
    """The measured field of a forged task: as prepared here, or as stored with Podium."""
    if not task_id.startswith("forge-"):
        return None
    text = path.read_text(encoding="utf-8") if path.is_file() else stored_field(parse_id(task_id))
    found: dict[str, Any] | None = json.loads(text) if text else None
    return found
