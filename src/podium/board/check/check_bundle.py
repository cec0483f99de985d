"""Check of a bundle: verifies everything with the checker's own data and computes the row of the entry."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from podium.board.board_rules import Rules
from podium.board.bundle import Bundle, read_bundle
from podium.board.check.check_registration import RunName, ledger_problems, ledger_remarks
from podium.board.check.check_rules import rule_problems
from podium.board.check.entry_row import compute_row
from podium.board.check.scan_bundle import scan_summary
from podium.board.ledger.audit_ledger import Audit
from podium.errors import PodiumError
from podium.grading.file_submission import fingerprint
from podium.runs.attempt.evaluate_programs import evaluate_in_sandboxes
from podium.runs.attempt.grade_run import graded_path
from podium.runs.experiment import Experiment, read_experiment
from podium.runs.run_folder import RunFolder
from podium.text import printable
from podium.verify import OK, verify_run
from podium.verify.check_experiment import repeated, unplanned_runs
from podium.verify.check_grade import OwnData, differences_of_grades
from podium.verify.run_evidence import Evidence, read_evidence
from podium.verify.verdict import Verdict

NEEDS_SNAPSHOTS = {"snapshots", "texts", "grade", "held-out", "curve"}
UNPROVABLE = (
    "that the named model answered: only its provider can confirm the ids of its responses",
    "that no second, hidden machine or person helped",
    "that the publisher has no second key under which other attempts were registered",
    "that the board's keeper treats all publishers alike (an audit against an older head detects rewritten history)",
)


@dataclass
class BundleCheck:
    """Result of checking a bundle: accepted, or all reasons for refusal."""

    bundle: str = ""
    publisher: str = ""
    reasons: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """Remarks for readers that are no reason for refusal."""
    row: dict[str, Any] | None = None
    unprovable: tuple[str, ...] = UNPROVABLE

    @property
    def accepted(self) -> bool:
        return not self.reasons and self.row is not None

    def to_dict(self) -> dict[str, Any]:
        return {
            "accepted": self.accepted,
            "bundle": self.bundle,
            "publisher": self.publisher,
            "reasons": self.reasons,
            "remarks": self.remarks,
            "row": self.row,
            "unprovable": list(self.unprovable),
        }


def check(
    path: Path, rules: Rules, *, ledger: Audit | None, data_dir: Path | None = None, env: Path | None = None
) -> BundleCheck:
    """Check a bundle.

    Args:
        ledger: Audited ledger of the board; without it registration and anchors cannot be checked.
        data_dir: Folder of the checker's own data, if not the default.
        env: Python environment for submitted programs.
    """
    found = BundleCheck()
    try:
        bundle = read_bundle(path)
        found.bundle, found.publisher = bundle.digest, bundle.publisher
        with TemporaryDirectory(prefix="podium-check-") as scratch:
            folder = Path(scratch, "entry")
            bundle.unpack(folder)
            _judge(found, bundle, read_experiment(folder), rules, ledger, data_dir=data_dir, env=env)
    except PodiumError as error:
        found.reasons.append(printable(str(error)))
    return found


def _judge(
    found: BundleCheck,
    bundle: Bundle,
    experiment: Experiment,
    rules: Rules,
    ledger: Audit | None,
    *,
    data_dir: Path | None,
    env: Path | None,
) -> None:
    runs: dict[RunName, Evidence] = {}
    verdicts = []
    for run in experiment.runs():
        evidence = _read(run, found)
        if evidence is None:
            continue
        runs[run.path.parent.name, int(run.path.name)] = evidence
        if evidence.record.is_graded:
            verdict = verify_run(run, data_dir=data_dir, env=env)
            if bundle.manifest.light:
                _check_copy(verdict, evidence, data_dir=data_dir, env=env)
            verdicts.append(verdict)
            found.reasons += [f"{verdict.name}: {problem}" for problem in verdict.problems]
            found.remarks += [f"{verdict.name}: {remark}" for remark in verdict.remarks]
    problems = [
        *unplanned_runs(experiment),
        *repeated(verdicts),
        *rule_problems(bundle.manifest, experiment, runs, rules),
    ]
    problems += _ledger_problems(bundle, experiment, runs, rules, ledger)
    found.reasons += [printable(problem) for problem in problems]
    found.remarks += [printable(remark) for remark in ledger_remarks(bundle, ledger.entries if ledger else ())]
    if any(task in experiment.tasks for task in rules.tasks):
        found.row = {
            **compute_row(experiment.folder, rules.tasks),
            **_about(bundle),
            "scan": scan_summary(experiment.folder),
        }


def _read(run: RunFolder, found: BundleCheck) -> Evidence | None:
    """Return the evidence of a run, or None if it is unreadable; without a claimed result it counts as failed."""
    try:
        return read_evidence(run)
    except PodiumError as error:
        name = f"{run.path.parent.name}/{run.path.name}"
        record = run.read_record() if os.path.lexists(run.record) else None
        claims = record is not None and record.is_graded
        if claims:
            found.reasons.append(printable(f"{name}: {error}"))
        else:
            found.remarks.append(printable(f"{name}: {error} It counts as failed."))
        return None


def _check_copy(verdict: Verdict, evidence: Evidence, *, data_dir: Path | None, env: Path | None) -> None:
    """Grade the copy of a submission if the snapshots are missing."""
    for name in NEEDS_SNAPSHOTS:
        verdict.checks.pop(name, None)
    own = OwnData.find(evidence, data_dir=data_dir, env=env)
    copy = graded_path(evidence.run, own.prepared)
    if fingerprint(copy) != evidence.record.submission_sha256:
        verdict.checks["grade"] = "the submission differs from the graded one"
        return
    execute = evaluate_in_sandboxes(
        backend=own.plan.sandbox, env=own.plan.env, limits=own.plan.limits, cores=own.plan.cores, gpus=own.plan.gpus
    )
    grade = own.prepared.grade(copy, execute)
    problems = list(differences_of_grades(evidence.record.model_dump(), grade, own.prepared))
    verdict.checks["grade"] = "; ".join(problems) or OK


def _ledger_problems(
    bundle: Bundle, experiment: Experiment, runs: dict[RunName, Evidence], rules: Rules, ledger: Audit | None
) -> Iterator[str]:
    if ledger is None:
        if rules.registration.required:
            yield "Registration and anchors cannot be checked without a ledger. Add --board."
        return
    yield from (f"The board's ledger fails its audit: {problem}" for problem in ledger.problems)
    yield from ledger_problems(bundle, experiment, runs, ledger.entries, rules)


def _about(bundle: Bundle) -> dict[str, Any]:
    manifest = bundle.manifest
    return {
        "name": printable(manifest.name),
        "publisher": bundle.publisher,
        "registration": manifest.registration,
        "light": manifest.light,
        "machine": {name: printable(text) for name, text in manifest.machine.items()},
        "podium": printable(manifest.podium),
        "podium_sha256": manifest.podium_sha256,
        **{name: printable(getattr(manifest.disclosures, name)) for name in ("by", "licence", "notes")},
        "disclosures": {printable(name): printable(text) for name, text in manifest.disclosures.answers.items()},
    }
