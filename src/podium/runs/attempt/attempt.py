"""Attempt: one process working on a run. Opens it, lets the agent work, grades the submission, writes the record."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable
from typing import Any

from podium.agents import agent_class
from podium.catalog.registry import load
from podium.errors import PodiumError
from podium.grading.file_submission import fingerprint
from podium.grading.grade import Grade
from podium.grading.prepared_task import PreparedTask
from podium.runs.attempt.grade_run import grade_snapshot, graded_path, is_first_submission, prepared_task
from podium.runs.attempt.inspect_eval import Evaluated, evaluate_run
from podium.runs.attempt.loop import Ending
from podium.runs.attempt.open_run import RunContext, open_run
from podium.runs.attempt.progress_files import Reporter
from podium.runs.experiment import default_budget
from podium.runs.records import Plan, RunRecord, Times
from podium.runs.run_folder import RunFolder
from podium.runs.versions import versions
from podium.workspace.budget import Usage
from podium.workspace.history.history import History
from podium.workspace.journal.events import End, Resume, Start, now
from podium.workspace.journal.journal import JournalReader

logger = logging.getLogger(__name__)


def run_attempt(
    folder: RunFolder,
    plan: Plan,
    task: str,
    seed: int,
    *,
    stop: threading.Event,
    before_grading: Callable[[], None] | None = None,
    evaluate: Callable[[RunContext, Callable[[], None]], Evaluated] = evaluate_run,
) -> RunRecord:
    """Execute a run or the rest of it, and write its record; errors become part of the record.

    Args:
        plan: plan of the experiment.
        stop: event that makes the current step the last.
        before_grading: called when everything is journalled, before the answers are read.
        evaluate: lets the agent work and grades its submission.
    """
    found = load(task).in_edition(plan.edition)
    budget = default_budget(plan, found)
    plan = plan.model_copy(update={"edition": found.edition, "budget": budget})
    before_grading = before_grading or _nothing
    record = _begun(folder, plan, task, seed)
    folder.write_record(record)
    try:
        prepared = prepared_task(task, plan)
        record = record.model_copy(update={"miniature": prepared.miniature})
        with Reporter(folder) as reporter:
            context = open_run(folder, plan, prepared, seed, reporter=reporter, stop=stop)
            evaluated = _grade_ended(context, before_grading) or evaluate(context, before_grading)
            record = _ended(context, record, evaluated)
    except Exception as error:
        logger.exception("The run failed.")
        reason = str(error) if isinstance(error, PodiumError) else "".join(traceback.format_exception_only(error))
        record = grade_failed_run(folder, plan, record, reason.strip(), before_grading)
    folder.write_record(record)
    return record


def _nothing() -> None:
    """Do nothing: the default for `before_grading`."""


def _begun(folder: RunFolder, plan: Plan, task: str, seed: int) -> RunRecord:
    """Return the record of a running run, with the usage of earlier attempts."""
    before = folder.read_record()
    assert plan.edition is not None
    return RunRecord(
        task=task,
        agent=plan.agent,
        model=plan.model,
        seed=seed,
        status="running",
        edition=plan.edition,
        usage=before.usage if before else Usage(),
        validations=before.validations if before else 0,
        times=Times(started=(before.times.started if before else None) or now()),
        versions={**versions(), **agent_class(plan.agent).versions()},
    )


def _grade_ended(context: RunContext, before_grading: Callable[[], None]) -> Evaluated | None:
    """Grade a run that was killed after its last journal line and before its record was written."""
    last = context.journal.last if len(context.journal) else None
    if not isinstance(last, End) or last.stopped:
        return None
    before_grading()
    place = graded_path(context.folder, context.prepared)
    grade = grade_snapshot(context.history, last.snapshot, context.prepared, context.plan, place)
    return Evaluated(Ending(last.cause), grade=grade)


def _ended(context: RunContext, record: RunRecord, evaluated: Evaluated) -> RunRecord:
    """Return the record of a finished or stopped run."""
    assert evaluated.ending is not None
    update = {
        **_journalled(context.journal),
        "versions": [event for event in context.journal if isinstance(event, Start | Resume)][-1].versions,
        "ended_by": evaluated.ending.cause,
        "validations": record.validations + evaluated.validations,
    }
    if evaluated.grade is None:
        return record.model_copy(update={**update, "status": "stopped"})
    context.history.compact()
    graded = _graded(context.folder, context.prepared, record, evaluated.grade, context.history, context.journal)
    return record.model_copy(update={**update, **graded, "status": "finished"})


def grade_failed_run(
    folder: RunFolder, plan: Plan, record: RunRecord, reason: str, before_grading: Callable[[], None] = _nothing
) -> RunRecord:
    """Return the record of a failed run: the reason, its usage, and the grade of its last snapshot.

    The grade is replaced when the run is resumed later.
    """
    failed = record.model_copy(update={"status": "failed", "error": reason})
    try:
        journal = folder.read_journal()
        failed = failed.model_copy(update=_journalled(journal))
        snapshot = journal.snapshot
    except PodiumError:
        return failed  # the run failed before it began
    try:
        before_grading()
        prepared = prepared_task(record.task, plan)
        with folder.read_history() as history:
            grade = grade_snapshot(history, snapshot, prepared, plan, graded_path(folder, prepared))
            graded = _graded(folder, prepared, record, grade, history, journal)
    except Exception:
        logger.exception("The submission of the failed run could not be graded.")
        return failed
    return failed.model_copy(update={**graded, "error": reason})


def _journalled(journal: JournalReader) -> dict[str, Any]:
    """Return the record fields that are copied from the journal."""
    start = journal.start
    resumes = journal.all_of(Resume)
    return {
        "usage": journal.last.usage,
        "journal_head": journal.head,
        "backend": start.backend,
        "sandbox": start.sandbox,
        "changes": tuple(change for resume in resumes for change in resume.changes),
    }


def _graded(
    folder: RunFolder, prepared: PreparedTask, record: RunRecord, grade: Grade, history: History, journal: JournalReader
) -> dict[str, Any]:
    facts = grade.to_dict()
    return {
        **{name: facts[name] for name in facts.keys() & RunRecord.model_fields.keys()},
        "submission_sha256": fingerprint(graded_path(folder, prepared)),
        "fallback": grade.valid and is_first_submission(history, journal),
        "times": Times(started=record.times.started, ended=journal.last.time, graded=now()),
    }
