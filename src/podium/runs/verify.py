"""Checks a run as a stranger would: chain intact, snapshots sound, submission graded again, and only after the end."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.errors import PodiumError
from podium.grading.files import fingerprint
from podium.runs.experiment import FILE, find_run, read_experiment
from podium.runs.folder import RunFolder
from podium.runs.grading import grade_snapshot, prepared_task
from podium.runs.models import Plan, RunRecord
from podium.sandbox.backend import DEFAULT
from podium.workspace.events import End, Event, Resume
from podium.workspace.history import History
from podium.workspace.journal import JournalReader, read_journal

OK = "ok"


@dataclass
class Verdict:
    """What was checked, and what was found wrong."""

    run: str
    checks: dict[str, str] = field(default_factory=dict)
    """By what was checked: "ok", or what is wrong."""
    allowed: dict[str, Any] = field(default_factory=dict)
    """What the run was given and its sandbox enforced, as the journal's first line says."""

    @property
    def passed(self) -> bool:
        return all(result == OK for result in self.checks.values())

    def to_dict(self) -> dict[str, Any]:
        return {"run": self.run, "passed": self.passed, "checks": self.checks, "allowed": self.allowed}


def verify(path: Path, *, data_dir: Path | None = None) -> list[Verdict]:
    """Verifies a run, or every run of an experiment that has begun."""
    runs = read_experiment(path).runs() if (path / FILE).exists() else [find_run(path)]
    return [verify_run(run, data_dir=data_dir) for run in runs]


def verify_run(run: RunFolder, *, data_dir: Path | None = None) -> Verdict:
    """Verifies a run that has ended. Writes nothing into it.

    Args:
        data_dir: where the task's data lies, if not where the experiment says.
    """
    verdict = Verdict(str(run.path))
    try:
        record = run.read_record()
        journal = read_journal(run.journal)
        events = list(journal)
        start = journal.start
    except PodiumError as error:
        verdict.checks["journal"] = str(error)
        return verdict
    verdict.checks["journal"] = journal.torn.reason if journal.torn else OK
    facts = {"backend", "sandbox", "edition", "budget", "versions", "manifest_sha256"}
    verdict.allowed = start.model_dump(mode="json", include=facts)
    verdict.checks["record"] = _check_record(record, journal, events)
    verdict.checks["order"] = _check_order(record, events)
    history = History(run.history, run.path)  # only read: the workspace itself may be gone
    verdict.checks["snapshots"] = _check_snapshots(history, events)
    if record is not None and record.is_graded:
        plan = read_experiment(run.experiment).plan
        # Whoever wrote the plan is not trusted: submitted programs run in a sealed sandbox here, whatever it says.
        trusted = {"sandbox": DEFAULT} | ({} if data_dir is None else {"data_dir": data_dir})
        plan = plan.model_copy(update=trusted)
        verdict.checks["grade"] = _check_grade(record, history, journal.snapshot, plan)
    return verdict


def _check_record(record: RunRecord | None, journal: JournalReader, events: list[Event]) -> str:
    if record is None:
        return "run.json is missing"
    start = journal.start
    changes = [change for event in events if isinstance(event, Resume) for change in event.changes]
    said = {name: getattr(start, name) for name in ("task", "agent", "model", "seed", "edition")}
    said |= {change.name: change.after for change in changes if change.name in said}
    for name, value in said.items():
        if getattr(record, name) != value:
            return f"run.json says {name} {getattr(record, name)}, the journal {value}"
    if not record.is_graded:
        return OK
    if record.journal_head != journal.head:
        return "the journal was changed after the run ended"
    if record.usage != events[-1].usage:
        return "run.json and the journal differ in what was used"
    return OK


def _check_order(record: RunRecord | None, events: list[Event]) -> str:
    """Whether grading came after the last step, as the times say."""
    times = [event.time for event in events]
    if times != sorted(times):
        return "the journal's times run backwards"
    if record is None or not record.is_graded:
        return OK
    if record.status == "finished" and not isinstance(events[-1], End):
        return "the run counts as finished, but its journal has no end"
    if not record.times.graded or record.times.graded < events[-1].time:
        return "the submission was graded before the run had ended"
    return OK


def _check_snapshots(history: History, events: list[Event]) -> str:
    snapshots = [event.snapshot for event in events if hasattr(event, "snapshot")]
    problems = history.check(snapshots[-1])
    ancestors = set(history.chain(snapshots[-1])) if not problems else set(snapshots)
    problems += [f"{commit} is not part of the history" for commit in snapshots if commit not in ancestors]
    return "; ".join(problems[:3]) or OK


def _check_grade(record: RunRecord, history: History, snapshot: str, plan: Plan) -> str:
    with tempfile.TemporaryDirectory(prefix="podium-verify-") as folder:
        path = Path(folder, "submission")
        try:
            prepared = prepared_task(record.task, plan.model_copy(update={"edition": record.edition}))
            grade = grade_snapshot(history, snapshot, prepared, plan, path)
        except PodiumError as error:
            return f"cannot be checked here: {error}"
        found = {**grade.to_dict(), "submission_sha256": fingerprint(path)}
    tolerance = prepared.task.submission.tolerance
    for name in ("submission_sha256", "valid", "score", "medal", "percentile", "above_median"):
        if not _agree(getattr(record, name), found[name], tolerance):
            return f"run.json says {name} {getattr(record, name)}, grading again gives {found[name]}"
    return OK


def _agree(said: Any, found: Any, tolerance: float) -> bool:
    """Whether two values are the same, or two numbers as near as an evaluation can be repeated."""
    if isinstance(said, float) and isinstance(found, float):
        return math.isclose(said, found, rel_tol=tolerance)
    return bool(said == found)
