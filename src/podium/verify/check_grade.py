"""Grades a run again, with this machine's own data, and compares with what its folder says."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.data.manifest import altered_files
from podium.grading.file_submission import fingerprint
from podium.grading.grade import Grade
from podium.grading.prepared_task import PreparedTask
from podium.runs.attempt.grade_run import (
    best_improvement,
    grade_curve,
    grade_snapshot,
    graded_place,
    is_first_submission,
    prepared_task,
)
from podium.runs.records import Plan
from podium.task import Baseline
from podium.verify.run_evidence import Evidence
from podium.workspace.history.history import History

COMPARED = ("valid", "score", "medal", "above_median", "percentile", "higher_is_better")
ONLY_OF_GRADES = ("task", "edition", "miniature", "field", "score_rounded", "rank", "teams")
"""What points of a curve have beside that, and records in part."""
RESEARCH_FIELDS = ("improvement", "success", "beyond_noise", "interval")
"""What a grade on a leaderboard does not have."""


@dataclass(frozen=True)
class OwnData:
    """The data of a run's task on this machine, and how programs that were submitted are run here."""

    prepared: PreparedTask
    plan: Plan
    """Nothing in it comes from the experiment but how many cores and GPUs an evaluation has."""

    @classmethod
    def find(cls, evidence: Evidence, *, data_dir: Path | None, env: Path | None) -> OwnData:
        """Raises PodiumError where the task is not prepared."""
        record, theirs = evidence.record, evidence.experiment.plan
        plan = Plan(
            agent=record.agent,
            edition=record.edition,
            data_dir=data_dir,
            miniature=evidence.start.miniature,
            env=None if env is None else str(env),
            cores=theirs.cores,
            gpus=theirs.gpus,
        )
        return cls(prepared_task(record.task, plan), plan)


def data_problems(evidence: Evidence, own: OwnData, *, rehash: bool) -> Iterator[str]:
    """Whether the run worked with the data that is here."""
    prepared, start = own.prepared, evidence.start
    if prepared.data_sha256 != start.data_sha256:
        yield (
            f"the run worked with other data: its hash is {start.data_sha256[:16]}, that of {prepared.place.root} "
            f"{prepared.data_sha256[:16]}"
        )
    altered = altered_files(prepared.place, prepared.manifest) if rehash else []
    if altered:
        yield f"{len(altered)} files in {prepared.place.root} are not what was prepared, such as {altered[0]}"


def grade_problems(evidence: Evidence, own: OwnData, history: History) -> Iterator[str]:
    """The submission of the last snapshot: its copy, its hash, its grade."""
    record, prepared = evidence.record, own.prepared
    with tempfile.TemporaryDirectory(prefix="podium-verify-") as scratch:
        path = Path(scratch, "submission")
        grade = grade_snapshot(history, evidence.journal.snapshot, prepared, own.plan, path)
        found = fingerprint(path)
        size = _size(path)
    copy = graded_place(evidence.run, prepared)
    if record.submission_sha256 != found:
        yield f"run.json says submission_sha256 {record.submission_sha256}, the last snapshot has {found}"
    if _size(copy) != size or fingerprint(copy) != found:
        yield f"{copy.name} is not the submission of the last snapshot"
    is_fallback = grade.valid and is_first_submission(history, evidence.journal)
    if record.fallback is not is_fallback:
        yield f"run.json says fallback {record.fallback}, the snapshots {is_fallback}"
    yield from differences_of_grades(record.model_dump(), grade, prepared)


def unchecked_grades(evidence: Evidence, own: OwnData) -> dict[str, str]:
    """What of a grade cannot be found again here."""
    reference = own.prepared.reference
    if evidence.record.improvement is None or isinstance(reference, Baseline):
        return {}
    task = evidence.record.task
    reason = f"improvement and success: no baseline of {task} was measured here. Run: podium baseline {task}"
    return {"improvement": reason}


def curve_problems(evidence: Evidence, own: OwnData) -> Iterator[str]:
    """Every submission that the run had on the way, if its folder says what they scored."""
    said, record = evidence.run.read_curve(), evidence.record
    if said is None:
        if record.best_improvement is not None:
            yield "run.json says best_improvement, but there is no curve.json"
        return
    with tempfile.TemporaryDirectory(prefix="podium-verify-") as scratch:
        found = grade_curve(evidence.run, own.prepared, own.plan, Path(scratch, "submission"))
    if [(point.line, point.submission, point.usage) for point in said] != [
        (point.line, point.submission, point.usage) for point in found
    ]:
        yield "curve.json does not name the submissions that the snapshots hold"
        return
    for one, other in zip(said, found, strict=True):
        for problem in differences_of_grades(one.grade.to_dict(), other.grade, own.prepared):
            yield f"curve.json, line {one.line}: {problem}"
    best = best_improvement(said)
    if record.best_improvement is not None and record.best_improvement != best:
        yield f"run.json says best_improvement {record.best_improvement}, curve.json {best}"


def differences_of_grades(said: Mapping[str, Any], found: Grade, prepared: PreparedTask) -> Iterator[str]:
    """Where a grade differs from the one that was found here, by more than an evaluation can be repeated."""
    tolerance = prepared.task.submission.tolerance
    facts = found.to_dict()
    reference = prepared.reference
    if isinstance(reference, Baseline) and said["improvement"] is not None and found.improvement is not None:
        yield from _improvement_problems(said, found, reference, tolerance)
    if said["interval"] is not None and not (said["interval"][0] <= float(said["score"]) <= said["interval"][1]):
        yield f"the score {said['score']} lies outside of its own interval"
    strangers = () if isinstance(reference, Baseline | None) else RESEARCH_FIELDS
    for name in (*COMPARED, *strangers, *(name for name in ONLY_OF_GRADES if name in said)):
        if not agree(said[name], facts[name], tolerance):
            yield f"{name} is said to be {said[name]}, grading again gives {facts[name]}"


def _improvement_problems(
    said: Mapping[str, Any], found: Grade, reference: Baseline, tolerance: float
) -> Iterator[str]:
    """Improvements are over a baseline that each machine measures: they agree within its spread."""
    assert found.improvement is not None
    spread = 0.0 if reference.by_definition else 3 * (reference.sd or 0.0)
    most = 100 * (tolerance * abs(found.score or 0.0) + spread) / abs(reference.score or 1.0)
    if not math.isclose(said["improvement"], found.improvement, rel_tol=1e-9, abs_tol=most):
        yield f"improvement is said to be {said['improvement']}, grading again gives {found.improvement}"
    if said["success"] and not (said["improvement"] > reference.success_at and said["beyond_noise"] is not False):
        yield "success is said, but the improvement is not enough for it"
    if most == 0 and (said["success"], said["beyond_noise"]) != (found.success, found.beyond_noise):
        yield f"success is said to be {said['success']}, grading again gives {found.success}"


def agree(said: Any, found: Any, tolerance: float) -> bool:
    """Whether two values are the same, or two numbers as near as an evaluation can be repeated."""
    if isinstance(said, float) and isinstance(found, float):
        return math.isclose(said, found, rel_tol=tolerance)
    return bool(said == found)


def _size(submission: Path) -> int:
    """The bytes of all files: compared first, as a stranger's copy may be larger than anything one wants to read."""
    files = [submission] if submission.is_file() else submission.rglob("*")
    return sum(path.lstat().st_size for path in files if path.is_file())
