"""One attempt at a run: open it, let the agent work, grade what it left."""

from __future__ import annotations

import logging
import threading
from typing import Any

from podium.actions import Person
from podium.errors import PodiumError
from podium.grading.files import fingerprint
from podium.grading.grade import Grade
from podium.grading.prepared import PreparedTask
from podium.runs.experiment import now
from podium.runs.grading import grade_snapshot, graded_place, prepared_task
from podium.runs.record import Plan, RunFolder, RunRecord, Times, Used
from podium.runs.sample import play
from podium.runs.session import newest
from podium.runs.stage import Report, set_stage
from podium.workspace.history import History
from podium.workspace.journal import read_journal

logger = logging.getLogger(__name__)


def conduct(
    folder: RunFolder,
    plan: Plan,
    record: RunRecord,
    *,
    report: Report,
    stop: threading.Event,
    person: Person | None = None,
) -> RunRecord:
    """Plays a run to its end and returns its record."""
    stage = set_stage(folder, plan, record, report=report, stop=stop, person=person)
    played = play(stage)
    update: dict[str, Any] = {
        "usage": Used.model_validate(newest(stage.journal, "used")),
        "ended_by": played.cause,
        "validations": record.validations + played.validations,
        "sandbox": stage.journal.read(1).fields["sandbox"],
        "journal_head": stage.journal.head,
    }
    if played.grade is None:
        return record.model_copy(update={**update, "status": "stopped"})
    stage.history.compact()
    return record.model_copy(
        update={
            **update,
            **_graded(folder, stage.prepared, record, played.grade, ended=played.ended),
            "status": "finished",
        }
    )


def salvage(folder: RunFolder, plan: Plan, record: RunRecord, reason: str) -> RunRecord:
    """The record of a run that failed: why, what it used, and the grade of what it had submitted until then.

    The grade is that of the last snapshot; it is replaced when the run goes on later.
    """
    update: dict[str, Any] = {"status": "failed", "error": reason}
    try:
        journal = read_journal(folder.journal)
        ended = newest(journal, "time")
        snapshot = newest(journal, "snapshot")
        update["usage"] = Used.model_validate(newest(journal, "used"))
        update["sandbox"] = journal.read(1).fields["sandbox"]
        update["journal_head"] = journal.head
    except PodiumError:
        return record.model_copy(update=update)  # it failed before it began
    try:
        prepared = prepared_task(record.task, plan)
        with History(folder.history, folder.workspace) as history:
            grade = grade_snapshot(history, snapshot, prepared, plan, graded_place(folder, prepared))
    except Exception:  # whatever prevents the grading, what is told is why the run failed
        logger.exception("what the failed run had submitted cannot be graded")
    else:
        update |= {**_graded(folder, prepared, record, grade, ended=ended), "error": reason}
    return record.model_copy(update=update)


def _graded(
    folder: RunFolder, prepared: PreparedTask, record: RunRecord, grade: Grade, *, ended: str
) -> dict[str, Any]:
    facts = grade.to_dict()
    return {
        **{name: facts[name] for name in facts.keys() & RunRecord.model_fields.keys()},
        "submission_sha256": fingerprint(graded_place(folder, prepared)),
        "times": Times(started=record.times.started, ended=ended, graded=now()),
    }
