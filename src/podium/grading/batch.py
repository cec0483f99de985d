"""Grades many submissions at once and sums them up in the shape of MLE-bench's grading report."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from podium.data.home import locate
from podium.data.prepare import choose_edition
from podium.errors import PodiumError, UsageError
from podium.grading.grade import find_reference, grade_submission, plain
from podium.grading.medals import thresholds
from podium.task import Edition, Leaderboard, Medal, Task

LoadTask = Callable[[str], Task]


@dataclass(frozen=True)
class Entry:
    """One line of a batch: a task and the submission made to it, if there is one."""

    task: str
    submission: Path | None


def read_entries(path: Path) -> list[Entry]:
    """The lines of a JSONL file with `competition_id` (or `task`) and `submission_path`.

    Relative paths are taken from the folder of the file.
    """
    entries = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            task, submission = fields.get("competition_id") or fields["task"], fields["submission_path"]
            entries.append(Entry(str(task), path.parent / submission if submission else None))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            wanted = "a JSON object with 'competition_id' and 'submission_path'"
            raise UsageError(f"{path}, line {number}: expected {wanted} ({error!r}).") from error
    if not entries:
        raise UsageError(f"{path} holds no submissions.")
    return entries


def grade_batch(
    entries: list[Entry], load: LoadTask, *, data_dir: Path | None, edition: Edition | None, jobs: int
) -> Iterator[dict[str, Any]]:
    """A report per entry, in order, graded on `jobs` cores. `load` must be importable by worker processes."""
    calls = [(load, entry, data_dir, edition) for entry in entries]
    if jobs == 1 or len(entries) == 1:
        yield from map(_report, calls)
        return
    with ProcessPoolExecutor(min(jobs, len(entries)), multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_report, calls)


def summarise(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """MLE-bench's grading report: totals, then every report."""
    names = {
        "total_runs_with_submissions": "submission_exists",
        "total_valid_submissions": "valid_submission",
        "total_medals": "any_medal",
        "total_gold_medals": "gold_medal",
        "total_silver_medals": "silver_medal",
        "total_bronze_medals": "bronze_medal",
        "total_above_median": "above_median",
    }
    totals = {total: sum(bool(report[flag]) for report in reports) for total, flag in names.items()}
    return {"total_runs": len(reports), **totals, "competition_reports": reports}


def _report(call: tuple[LoadTask, Entry, Path | None, Edition | None]) -> dict[str, Any]:
    load, entry, data_dir, wanted = call
    task = load(entry.task)
    edition = choose_edition(task, wanted)
    reference = find_reference(task.in_edition(edition), locate(task.id, edition=edition, data_dir=data_dir))
    limits = thresholds(reference) if isinstance(reference, Leaderboard) else None
    exists = entry.submission is not None and entry.submission.is_file()
    grade = grade_submission(task, entry.submission, data_dir=data_dir, edition=edition) if exists else None  # type: ignore[arg-type]
    return competition_report(
        task.id,
        score=grade.score_rounded if grade else None,
        limits={name: getattr(limits, name, None) for name in ("gold", "silver", "bronze", "median")},
        medal=grade.medal if grade else None,
        above_median=bool(grade and grade.above_median),
        exists=exists,
        valid=bool(grade and grade.valid),
        lower_is_better=not task.metric.higher_is_better,
        created=datetime.now(UTC).isoformat(),
        path=str(entry.submission) if entry.submission else None,
        edition=edition,
        error=grade.error if grade else "there is no submission",
    )


def competition_report(
    task_id: str,
    *,
    score: float | None,
    limits: Mapping[str, float | None],
    medal: Medal | None,
    above_median: bool,
    exists: bool,
    valid: bool,
    lower_is_better: bool | None,
    created: str | None,
    path: str | None,
    edition: str | None,
    error: str | None,
) -> dict[str, Any]:
    """One run in a grading report, with MLE-bench's names; edition and error are our additions."""
    report = {
        "competition_id": task_id,
        "score": score,
        **{f"{name}_threshold": limits[name] for name in ("gold", "silver", "bronze", "median")},
        "any_medal": medal is not None,
        **{f"{name}_medal": medal == name for name in ("gold", "silver", "bronze")},
        "above_median": above_median,
        "submission_exists": exists,
        "valid_submission": valid,
        "is_lower_better": lower_is_better,
        "created_at": created,
        "submission_path": path,
        "edition": edition,
        "error": error,
    }
    return {name: plain(value) for name, value in report.items()}


def check_prepared(entries: list[Entry], load: LoadTask, *, data_dir: Path | None, edition: Edition | None) -> None:
    """Refuses a batch before any of it is graded if some task has no data."""
    tasks = [load(name) for name in sorted({entry.task for entry in entries})]
    places = {task.id: locate(task.id, edition=choose_edition(task, edition), data_dir=data_dir) for task in tasks}
    missing = [name for name, place in places.items() if not place.manifest.exists()]
    if missing:
        raise PodiumError(f"Not prepared: {', '.join(missing)}. Run: podium prepare {' '.join(missing)}")
