"""Grade check: grades a run again with this machine's own data and compares the result with the record."""

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
    graded_path,
    is_first_submission,
    prepared_task,
)
from podium.runs.records import Plan
from podium.task import Baseline
from podium.text import plural
from podium.verify.run_evidence import Evidence
from podium.workspace.history.history import History

COMPARED_FIELDS = ("valid", "score", "medal", "above_median", "percentile", "higher_is_better")
GRADE_ONLY_FIELDS = ("task", "edition", "miniature", "field", "score_rounded", "rank", "teams")
"""Further fields of grades: all are in curve points, some in records."""
RESEARCH_FIELDS = ("improvement", "success", "beyond_noise", "interval")
"""Fields that grades of competitions do not have."""


@dataclass(frozen=True)
class OwnData:
    """This machine's data of a run's task, and the settings for running submitted programs."""

    prepared: PreparedTask
    plan: Plan
    """Only the number of cores and GPUs comes from the experiment."""

    @classmethod
    def find(cls, evidence: Evidence, *, data_dir: Path | None, env: Path | None) -> OwnData:
        """Find the data of a run's task; raises PodiumError if it is not prepared."""
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
    """Yield a problem if the run used other data than this machine's."""
    prepared, start = own.prepared, evidence.start
    if prepared.data_sha256 != start.data_sha256:
        yield (
            f"the run used other data: its hash is {start.data_sha256[:16]}, the hash of {prepared.place.root} is "
            f"{prepared.data_sha256[:16]}"
        )
    altered = altered_files(prepared.place, prepared.manifest) if rehash else []
    if altered:
        yield f"{plural(len(altered), 'file')} in {prepared.place.root} changed after preparation, such as {altered[0]}"


def grade_problems(evidence: Evidence, own: OwnData, history: History) -> Iterator[str]:
    """Check the copy, the hash and the grade of the last snapshot's submission."""
    record, prepared = evidence.record, own.prepared
    with tempfile.TemporaryDirectory(prefix="podium-verify-") as scratch:
        path = Path(scratch, "submission")
        grade = grade_snapshot(history, evidence.journal.snapshot, prepared, own.plan, path)
        actual = fingerprint(path)
        size = _size(path)
    copy = graded_path(evidence.run, prepared)
    if record.submission_sha256 != actual:
        yield f"submission_sha256 differs: {record.submission_sha256} in run.json, {actual} in the last snapshot"
    if _size(copy) != size or fingerprint(copy) != actual:
        yield f"{copy.name} is not the submission of the last snapshot"
    is_fallback = grade.valid and is_first_submission(history, evidence.journal)
    if record.fallback is not is_fallback:
        yield f"fallback differs: {record.fallback} in run.json, {is_fallback} in the snapshots"
    yield from differences_of_grades(record.model_dump(), grade, prepared)


def unchecked_grades(evidence: Evidence, own: OwnData) -> dict[str, str]:
    """Return the parts of a grade that cannot be checked on this machine, with the reason."""
    reference = own.prepared.reference
    if evidence.record.improvement is None or isinstance(reference, Baseline):
        return {}
    task = evidence.record.task
    reason = f"improvement and success, which need a baseline measured here (run: podium baseline {task})"
    return {"improvement": reason}


def curve_problems(evidence: Evidence, own: OwnData) -> Iterator[str]:
    """Check the grades of all submissions during the run, if `curve.json` exists."""
    claimed, record = evidence.run.read_curve(), evidence.record
    if claimed is None:
        if record.best_improvement is not None:
            yield "run.json has a best_improvement, but there is no curve.json"
        return
    with tempfile.TemporaryDirectory(prefix="podium-verify-") as scratch:
        actual = grade_curve(evidence.run, own.prepared, own.plan, Path(scratch, "submission"))
    if [(point.line, point.submission, point.usage) for point in claimed] != [
        (point.line, point.submission, point.usage) for point in actual
    ]:
        yield "curve.json does not list the submissions of the snapshots"
        return
    for one, other in zip(claimed, actual, strict=True):
        for problem in differences_of_grades(one.grade.to_dict(), other.grade, own.prepared):
            yield f"curve.json, line {one.line}: {problem}"
    best = best_improvement(claimed)
    if record.best_improvement is not None and record.best_improvement != best:
        yield f"best_improvement differs: {record.best_improvement} in run.json, {best} in curve.json"


def differences_of_grades(claimed: Mapping[str, Any], actual: Grade, prepared: PreparedTask) -> Iterator[str]:
    """Yield differences between a claimed and an actual grade that exceed the tolerance of the evaluation."""
    tolerance = prepared.task.submission.tolerance
    facts = actual.to_dict()
    reference = prepared.reference
    if isinstance(reference, Baseline) and claimed["improvement"] is not None and actual.improvement is not None:
        yield from _improvement_problems(claimed, actual, reference, tolerance)
    if claimed["interval"] is not None and not (
        claimed["interval"][0] <= float(claimed["score"]) <= claimed["interval"][1]
    ):
        yield f"the score {claimed['score']} is outside its own interval"
    strangers = () if isinstance(reference, Baseline | None) else RESEARCH_FIELDS
    for name in (*COMPARED_FIELDS, *strangers, *(name for name in GRADE_ONLY_FIELDS if name in claimed)):
        if not agree(claimed[name], facts[name], tolerance):
            yield f"{name} is recorded as {claimed[name]}, but grading again gives {facts[name]}"


def _improvement_problems(
    claimed: Mapping[str, Any], actual: Grade, reference: Baseline, tolerance: float
) -> Iterator[str]:
    """Compare improvements over a baseline that each machine measures, within the baseline's spread."""
    assert actual.improvement is not None
    spread = 0.0 if reference.by_definition else 3 * (reference.sd or 0.0)
    most = 100 * (tolerance * abs(actual.score or 0.0) + spread) / abs(reference.score or 1.0)
    if not math.isclose(claimed["improvement"], actual.improvement, rel_tol=1e-9, abs_tol=most):
        yield f"improvement is recorded as {claimed['improvement']}, but grading again gives {actual.improvement}"
    if claimed["success"] and not (
        claimed["improvement"] > reference.success_at and claimed["beyond_noise"] is not False
    ):
        yield "success is recorded, but the improvement is too small for it"
    if most == 0 and (claimed["success"], claimed["beyond_noise"]) != (actual.success, actual.beyond_noise):
        yield f"success is recorded as {claimed['success']}, but grading again gives {actual.success}"


def agree(claimed: Any, actual: Any, tolerance: float) -> bool:
    """Return whether two values are equal, or two numbers equal within a relative tolerance."""
    if isinstance(claimed, float) and isinstance(actual, float):
        return math.isclose(claimed, actual, rel_tol=tolerance)
    return bool(claimed == actual)


def _size(submission: Path) -> int:
    """Return the total size of all files, compared before reading because a stranger's copy may be huge."""
    files = [submission] if submission.is_file() else submission.rglob("*")
    return sum(path.lstat().st_size for path in files if path.is_file())
