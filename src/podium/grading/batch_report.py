"""Batch grading: grades many submissions and summarises them in the format of MLE-bench's grading report."""

from __future__ import annotations

import json
import logging
import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from podium.errors import NotPreparedError, PodiumError, UsageError, explain
from podium.grading.check_submission import clip
from podium.grading.grade import json_value
from podium.grading.medals import thresholds
from podium.grading.prepared_task import find_prepared
from podium.task import Edition, Leaderboard, Medal, Task

logger = logging.getLogger(__name__)

LoadTask = Callable[[str], Task]


@dataclass(frozen=True)
class BatchEntry:
    """Line of a batch: a task and the path of its submission, if any."""

    task: str
    submission: Path | None


def read_batch(path: Path) -> list[BatchEntry]:
    """Read the lines of a JSONL file with `competition_id` (or `task`) and `submission_path`.

    Paths are relative to the folder of the file.
    """
    entries = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            task, submission = fields.get("competition_id") or fields["task"], fields["submission_path"]
            entries.append(BatchEntry(str(task), path.parent / submission if submission else None))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            wanted = "a JSON object with 'competition_id' and 'submission_path'"
            raise UsageError(f"{path}, line {number}: expected {wanted} ({error!r}).") from error
    if not entries:
        raise UsageError(f"{path} lists no submissions.")
    return entries


def grade_batch(
    entries: list[BatchEntry], load: LoadTask, *, data_dir: Path | None, edition: Edition | None, jobs: int
) -> Iterator[dict[str, Any]]:
    """Yield a report per entry, in order, graded on `jobs` cores. Worker processes must be able to import `load`.

    An entry that cannot be graded gets a report with the error; the others are still graded.
    """
    calls = [_Call(load, entry, data_dir, edition) for entry in entries]
    if jobs == 1 or len(entries) == 1:
        yield from map(_report, calls)
        return
    with _workers(min(jobs, len(entries))) as pool:
        futures = [pool.submit(_report, call) for call in calls]
        for call, future in zip(calls, futures, strict=True):
            try:
                yield future.result()
            except BrokenProcessPool:  # possibly caused by another entry
                yield _report_alone(call)


def batch_report(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """Return MLE-bench's grading report: totals, then every report."""
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
    miniature = any(report["miniature"] for report in reports)
    return {"miniature": miniature, "total_runs": len(reports), **totals, "competition_reports": reports}


@dataclass(frozen=True)
class _Call:
    """Arguments of a worker process."""

    load: LoadTask
    entry: BatchEntry
    data_dir: Path | None
    edition: Edition | None


def _workers(count: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(count, multiprocessing.get_context("spawn"))


def _report_alone(call: _Call) -> dict[str, Any]:
    """Grade an entry in a process of its own and return its report, also if the process is killed."""
    with _workers(1) as pool:
        try:
            return pool.submit(_report, call).result()
        except BrokenProcessPool:
            return _failure(call, "The grading process was killed, possibly because memory ran out.")


def _report(call: _Call) -> dict[str, Any]:
    try:
        return _graded(call)
    except (PodiumError, OSError) as error:
        return _failure(call, explain(error))
    except Exception as error:
        logger.debug("Grading %s failed", call.entry, exc_info=True)
        return _failure(call, f"Grading failed ({type(error).__name__}: {clip(str(error), 300)}).")


def _failure(call: _Call, reason: str) -> dict[str, Any]:
    path = call.entry.submission
    return competition_report(
        call.entry.task,
        score=None,
        limits=dict.fromkeys(("gold", "silver", "bronze", "median")),
        medal=None,
        above_median=False,
        exists=_find(call.entry) is not None,
        valid=False,
        lower_is_better=None,
        created=datetime.now(UTC).isoformat(),
        path=str(path) if path else None,
        edition=call.edition,
        miniature=False,
        error=reason,
    )


def _find(entry: BatchEntry) -> Path | None:
    """Return the path of the submission, or None if there is no file."""
    try:
        return entry.submission if entry.submission and entry.submission.is_file() else None
    except OSError:  # invalid file name
        return None


def _graded(call: _Call) -> dict[str, Any]:
    entry = call.entry
    prepared = find_prepared(call.load(entry.task), edition=call.edition, data_dir=call.data_dir)
    reference = prepared.reference
    limits = thresholds(reference) if isinstance(reference, Leaderboard) else None
    path = _find(entry)
    grade = prepared.grade(path) if path else None
    return competition_report(
        prepared.task.id,
        score=grade.score_rounded if grade else None,
        limits={name: getattr(limits, name, None) for name in ("gold", "silver", "bronze", "median")},
        medal=grade.medal if grade else None,
        above_median=bool(grade and grade.above_median),
        exists=path is not None,
        valid=bool(grade and grade.valid),
        lower_is_better=not prepared.task.metric.higher_is_better,
        created=datetime.now(UTC).isoformat(),
        path=str(entry.submission) if entry.submission else None,
        edition=prepared.edition,
        miniature=prepared.miniature,
        error=grade.error if grade else "There is no submission.",
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
    miniature: bool,
    error: str | None,
) -> dict[str, Any]:
    """Return a run's entry in a grading report, with MLE-bench's keys and `edition`, `miniature` and `error`."""
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
        "miniature": miniature,
        "error": error,
    }
    return {name: json_value(value) for name, value in report.items()}


def check_prepared(
    entries: list[BatchEntry], load: LoadTask, *, data_dir: Path | None, edition: Edition | None
) -> None:
    """Raise PodiumError, before anything is graded, if a task's data is not prepared."""
    missing = []
    for name in sorted({entry.task for entry in entries}):
        try:
            find_prepared(load(name), edition=edition, data_dir=data_dir)
        except NotPreparedError:
            missing.append(name)
    if missing:
        raise PodiumError(f"Tasks are not prepared: {', '.join(missing)}. Run: podium prepare {' '.join(missing)}")
