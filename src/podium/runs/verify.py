"""Checks a run as a stranger would: chain intact, snapshots sound, submission graded again, and only after the end."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.errors import PodiumError
from podium.grading.files import fingerprint
from podium.runs.experiment import read_experiment
from podium.runs.grading import grade_snapshot, prepared_task
from podium.runs.record import Plan, RunFolder, RunRecord
from podium.workspace.history import History
from podium.workspace.journal import read_journal


@dataclass
class Verdict:
    """What was checked, and what was found wrong."""

    run: str
    checks: dict[str, str] = field(default_factory=dict)
    """By what was checked: "ok", or what is wrong."""
    allowed: dict[str, Any] = field(default_factory=dict)
    """What the sandbox allowed, as the journal's first line says."""

    @property
    def passed(self) -> bool:
        return all(result == "ok" for result in self.checks.values())

    def to_dict(self) -> dict[str, Any]:
        return {"run": self.run, "passed": self.passed, "checks": self.checks, "allowed": self.allowed}


def verify(run: RunFolder, *, data_dir: Path | None = None) -> Verdict:
    """Verifies a run that has ended. Writes nothing into it.

    Args:
        data_dir: where the task's data lies, if not where the experiment says.
    """
    verdict = Verdict(str(run.path))
    record = run.read_record()
    try:
        journal = read_journal(run.journal)
    except PodiumError as error:
        verdict.checks["journal"] = str(error)
        return verdict
    lines = [line.fields for line in journal]
    if not lines or journal.torn:
        verdict.checks["journal"] = journal.torn.reason if journal.torn else "it is empty"
        return verdict
    verdict.checks["journal"] = "ok"
    start = lines[0]
    verdict.allowed = {name: start[name] for name in ("sandbox", "edition", "budget", "versions", "data")}
    verdict.checks["record"] = _check_record(record, lines, journal.head)
    verdict.checks["order"] = _check_order(record, lines)
    history = History(run.history, run.path)  # only read: the workspace itself may be gone
    snapshots = [line["snapshot"] for line in lines if line.get("snapshot")]
    problems = history.check(snapshots[-1])
    ancestors = set(history.chain(snapshots[-1])) if not problems else set(snapshots)
    problems += [f"{commit} is not part of the history" for commit in snapshots if commit not in ancestors]
    verdict.checks["snapshots"] = "ok" if not problems else "; ".join(problems[:3])
    if record is not None and _is_graded(record):
        plan = read_experiment(run.path.parent.parent).plan
        if data_dir is not None:
            plan = plan.model_copy(update={"data_dir": data_dir})
        verdict.checks["grade"] = _check_grade(record, history, snapshots[-1], plan)
    return verdict


def _is_graded(record: RunRecord) -> bool:
    """Whether there is a grade to check: a failed run has one if it came to a first snapshot."""
    return record.status == "finished" or (record.status == "failed" and record.valid is not None)


def _check_record(record: RunRecord | None, lines: list[dict[str, Any]], head: str) -> str:
    if record is None:
        return "run.json is missing"
    start = lines[0]
    for name in ("task", "agent", "model", "seed", "edition"):
        if getattr(record, name) != start[name]:
            return f"run.json says {name} {getattr(record, name)}, the journal {start[name]}"
    if _is_graded(record) and record.journal_head != head:
        return "the journal was changed after the run ended"
    if _is_graded(record) and record.usage.model_dump() != lines[-1]["used"]:
        return "run.json and the journal differ in what was used"
    return "ok"


def _check_order(record: RunRecord | None, lines: list[dict[str, Any]]) -> str:
    """Whether grading came after the last step, as the times say."""
    times = [line["time"] for line in lines]
    if times != sorted(times):
        return "the journal's times run backwards"
    if record is None or not _is_graded(record):
        return "ok"
    if record.status == "finished" and lines[-1]["kind"] != "end":
        return "the run counts as finished, but its journal has no end"
    if not record.times.graded or record.times.graded < lines[-1]["time"]:
        return "the submission was graded before the run had ended"
    return "ok"


def _agree(said: Any, found: Any, tolerance: float) -> bool:
    """Whether two values are the same, or two numbers as near as an evaluation can be repeated."""
    if isinstance(said, float) and isinstance(found, float):
        return math.isclose(said, found, rel_tol=tolerance)
    return bool(said == found)


def _check_grade(record: RunRecord, history: History, snapshot: str, plan: Plan) -> str:
    with tempfile.TemporaryDirectory(prefix="podium-verify-") as folder:
        path = Path(folder, "submission")
        try:
            prepared = prepared_task(record.task, plan)
            grade = grade_snapshot(history, snapshot, prepared, plan, path)
        except PodiumError as error:
            return f"cannot be checked here: {error}"
        found = {**grade.to_dict(), "submission_sha256": fingerprint(path)}
    for name in ("submission_sha256", "valid", "score", "medal", "percentile", "above_median"):
        if not _agree(getattr(record, name), found[name], prepared.task.submission.tolerance):
            return f"run.json says {name} {getattr(record, name)}, grading again gives {found[name]}"
    return "ok"
