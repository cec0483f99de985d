"""Reference scores: medal thresholds, ceilings of forged tasks and baselines of research tasks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.catalog.forge.field import stored_field
from podium.catalog.forge.forge_ids import parse_id
from podium.catalog.registry import load
from podium.data.home import DataFolder, locate
from podium.errors import PodiumError
from podium.grading.medals import thresholds
from podium.grading.reference import LEADERBOARD_FILE, find_reference
from podium.report.imported_results import CompetitionReport, read_import
from podium.report.results import Results
from podium.runs.plan.trusted_plans import own_data_dir
from podium.task import Baseline, Leaderboard

THRESHOLDS = ("gold", "silver", "bronze", "median")


@dataclass(frozen=True)
class ReferenceScores:
    """Reference scores of a task; None if there is none or it is unknown."""

    title: str
    metric: str | None = None
    higher_is_better: bool | None = None
    gold: float | None = None
    silver: float | None = None
    bronze: float | None = None
    median: float | None = None
    ceiling: float | None = None
    """Score of a forged task's true mechanism."""
    baseline: float | None = None
    """Score of a research task's starter code."""


def read_references(results: Results) -> dict[str, ReferenceScores]:
    """Return the reference scores of each task of an experiment."""
    if results.imported:
        reports = read_import(results.experiment.folder).by_task()
        return {task: _from_report(found[0]) if found else ReferenceScores(task) for task, found in reports.items()}
    data_dir = own_data_dir(results.plan)
    editions = {row.task: row.edition for row in results.rows if row.reported}
    miniature = results.plan.miniature
    return {task: find_references(task, editions.get(task), data_dir, miniature) for task in results.tasks}


def _from_report(report: CompetitionReport) -> ReferenceScores:
    limits = {name: getattr(report, f"{name}_threshold") for name in THRESHOLDS}
    return ReferenceScores(title=report.competition_id, higher_is_better=report.higher_is_better, **limits)


def find_references(
    task_id: str, edition: str | None, data_dir: Path | None, miniature: bool = False
) -> ReferenceScores:
    """Return the reference scores of a task: measured locally, imported or declared by the catalogue."""
    try:
        task = load(task_id)
        task = task.in_edition(edition if edition in task.editions else next(iter(task.editions)))
        place = locate(task_id, edition=task.edition, data_dir=data_dir, miniature=miniature and not task.generated)
        field = measured_field(task_id, place)
        reference = (
            Leaderboard(field["lower_is_better"], tuple(field["scores"])) if field else find_reference(task, place)
        )
    except PodiumError:
        return ReferenceScores(title=task_id)  # a task of another version of Podium
    common: dict[str, Any] = {
        "title": task.title,
        "metric": task.metric.title,
        "higher_is_better": task.metric.higher_is_better,
    }
    match reference:
        case Leaderboard():
            limits = thresholds(reference)
            known = {name: getattr(limits, name) for name in THRESHOLDS}
            return ReferenceScores(**common, **known, ceiling=field.get("ceiling") if field else None)
        case Baseline(score=score):
            return ReferenceScores(**common, baseline=score)
        case _:
            return ReferenceScores(**common)


def measured_field(task_id: str, place: DataFolder) -> dict[str, Any] | None:
    """Return the measured leaderboard of a forged task: prepared locally or shipped with Podium."""
    if not task_id.startswith("forge-"):
        return None
    path = place.private / LEADERBOARD_FILE
    text = path.read_text(encoding="utf-8") if path.is_file() else stored_field(parse_id(task_id))
    found: dict[str, Any] | None = json.loads(text) if text else None
    return found
