"""One attempt at a run: open it, let the agent work, grade what it left."""

from __future__ import annotations

import threading
from typing import Any

from podium.grading.grade import Grade
from podium.runs.experiment import now
from podium.runs.grading import fingerprint
from podium.runs.record import Plan, RunFolder, RunRecord, Times, Used
from podium.runs.sample import play
from podium.runs.session import newest
from podium.runs.stage import Report, set_stage


def conduct(folder: RunFolder, plan: Plan, record: RunRecord, *, report: Report, stop: threading.Event) -> RunRecord:
    """Plays a run to its end and returns its record."""
    stage = set_stage(folder, plan, record, report=report, stop=stop)
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
            **_graded(played.grade),
            "status": "finished",
            "submission_sha256": fingerprint(folder.submission),
            "times": Times(started=record.times.started, ended=played.ended, graded=now()),
        }
    )


def _graded(grade: Grade) -> dict[str, Any]:
    facts = grade.to_dict()
    names = "valid score medal above_median percentile improvement success higher_is_better error miniature".split()  # noqa: SIM905
    return {name: facts[name] for name in names}
