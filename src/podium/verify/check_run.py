"""Verification of a run: reads its folder as hostile input and writes nothing into it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from podium.errors import PodiumError, RecordError
from podium.runs.records import RunRecord
from podium.runs.run_folder import RunFolder
from podium.runs.versions import versions
from podium.text import printable
from podium.verify.check_events import ending_problems, order_problems, remarks
from podium.verify.check_grade import OwnData, curve_problems, data_problems, grade_problems, unchecked_grades
from podium.verify.check_identity import folder_problems, plan_problems, record_problems
from podium.verify.check_snapshots import snapshot_problems, text_problems
from podium.verify.run_evidence import Evidence, read_evidence, scored_steps
from podium.verify.verdict import OK, Verdict
from podium.workspace.history.history import History

MAX_PROBLEMS = 3
"""Maximum number of reported problems per check."""
FACTS = {"backend", "sandbox", "edition", "budget", "versions", "data_sha256"}


def verify_run(
    run: RunFolder, *, data_dir: Path | None = None, env: Path | None = None, rehash: bool = False
) -> Verdict:
    """Verify a run.

    Args:
        data_dir: this machine's data folder if not the default; the experiment's setting is never used.
        env: the Python environment for submitted programs; None for the one that runs Podium.
        rehash: hash this machine's data again to detect changes since its preparation.
    """
    verdict = Verdict(str(run.path), f"{run.path.parent.name}/{run.path.name}")
    try:
        evidence = read_evidence(run)
    except PodiumError as error:
        verdict.checks["journal"] = _join(iter([str(error)]))
        return verdict
    except Exception as error:  # noqa: BLE001 (an unforeseen error in a stranger's folder is a finding)
        verdict.checks["journal"] = _join(iter([_unforeseen(error)]))
        return verdict
    verdict.status, verdict.result = evidence.record.status, describe_record(evidence.record)
    verdict.origin = evidence.journal.hash_of(1)
    verdict.allowed = evidence.start.model_dump(mode="json", include=FACTS)
    verdict.checks["journal"] = OK
    for name, problems in (
        ("folder", folder_problems),
        ("plan", plan_problems),
        ("record", record_problems),
        ("order", order_problems),
        ("ending", ending_problems),
    ):
        verdict.checks[name] = _join(problems(evidence))
    with suppress(RecordError):  # reported by a check
        verdict.remarks += [printable(remark) for remark in dict.fromkeys(remarks(evidence))]
    _check_workspace(evidence, verdict)
    if evidence.record.is_graded:
        _check_grades(evidence, verdict, data_dir=data_dir, env=env, rehash=rehash)
    return verdict


def _check_workspace(evidence: Evidence, verdict: Verdict) -> None:
    with evidence.run.read_history() as history:
        verdict.checks["snapshots"] = _join(snapshot_problems(history, evidence))
        verdict.checks["texts"] = _join(text_problems(history, evidence))


def _check_grades(
    evidence: Evidence, verdict: Verdict, *, data_dir: Path | None, env: Path | None, rehash: bool
) -> None:
    try:
        own = OwnData.find(evidence, data_dir=data_dir, env=env)
    except PodiumError as error:
        verdict.checks["grade"] = _join(iter([f"cannot be checked here: {error}"]))
        return
    verdict.checks["data"] = _join(data_problems(evidence, own, rehash=rehash))
    with evidence.run.read_history() as history:
        verdict.checks["grade"] = _join(grade_problems(evidence, own, history))
        if scored_steps(evidence):
            _check_held_out(verdict, evidence, own, history)
    verdict.checks["curve"] = _join(curve_problems(evidence, own))
    verdict.unchecked |= unchecked_grades(evidence, own)
    if not rehash:
        verdict.unchecked["data"] = "changes of this machine's data since its preparation (use --rehash)"
    theirs, ours = evidence.record.versions.get("podium"), versions()["podium"]
    if theirs != ours:
        verdict.remarks.append(printable(f"graded by Podium {theirs}, verified by {ours}"))


def _check_held_out(verdict: Verdict, evidence: Evidence, own: OwnData, history: History) -> None:
    try:
        from podium.verify.check_held_out import held_out_problems
    except ImportError:  # reports can be installed without agents
        verdict.unchecked["held-out"] = "held-out scores (requires: pip install 'podium[run]')"
    else:
        verdict.checks["held-out"] = _join(held_out_problems(evidence, own, history))


def _join(problems: Iterator[str]) -> str:
    """Join the first problems into printable text; an error of the check itself is a problem."""
    try:
        found = list(islice(problems, MAX_PROBLEMS))
    except PodiumError as error:
        found = [f"cannot be checked: {error}"]
    except Exception as error:  # noqa: BLE001 (the other checks and runs go on)
        found = [_unforeseen(error)]
    return printable("; ".join(dict.fromkeys(found))) or OK


def _unforeseen(error: Exception) -> str:
    return f"cannot be checked: {type(error).__name__}: {str(error)[:200]}"


def describe_record(record: RunRecord) -> str:
    """Return a short text with the result that a record claims."""
    if not record.is_graded:
        return record.status
    graded = f"score {record.score}" if record.valid else "no valid submission"
    worth = f"{record.medal} medal, " if record.medal else ""
    fallback = " (the initial submission, unchanged)" if record.fallback else ""
    return f"{'failed, ' if record.status == 'failed' else ''}{worth}{graded}{fallback}"
