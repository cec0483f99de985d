"""Scans of runs: every detector on each run, and comparisons between runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from podium.errors import RecordError
from podium.integrity.ask_model import ask_through_inspect
from podium.integrity.detectors import CROSS_RUN_DETECTORS, DETECTORS
from podium.integrity.model_questions import FROM_MODEL, ask_about
from podium.integrity.scan_evidence import RunEvidence, read_evidence
from podium.integrity.write_findings import record_findings, strongest_findings
from podium.report.stored_findings import Finding
from podium.runs.experiment import FILE, find_run, read_experiment
from podium.runs.plan.preflight import ping
from podium.runs.run_folder import RunFolder

FROM_SCAN = "scan"


@dataclass(frozen=True)
class ScannedRun:
    """Findings about a run."""

    path: Path
    task: str
    seed: int
    findings: tuple[Finding, ...]
    problems: tuple[str, ...] = ()
    """Parts that could not be read, one sentence each."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": str(self.path),
            "task": self.task,
            "seed": self.seed,
            "findings": [finding.model_dump(mode="json") for finding in self.findings],
            "problems": list(self.problems),
        }


def find_runs(paths: Sequence[Path]) -> list[RunFolder]:
    """Return the runs at paths, each of which is a run or an experiment.

    Raises:
        UsageError: if one is neither.
    """
    found: dict[Path, RunFolder] = {}
    for path in paths:
        runs = read_experiment(path.resolve()).runs() if os.path.lexists(path / FILE) else iter([find_run(path)])
        found |= {run.path: run for run in runs}
    return list(found.values())


def scan(
    paths: Sequence[Path],
    *,
    model: str | None = None,
    base_url: str | None = None,
    data_dir: Path | None = None,
    write: bool = True,
) -> list[ScannedRun]:
    """Scan runs, alone and against each other, and write the findings beside them.

    Args:
        paths: runs and experiments.
        model: model that is asked as well, in Inspect's notation.
        base_url: address of its server, if not the provider's.
        data_dir: folder with the data of tasks, for checks that need it; by default in Podium's home.
        write: whether to update the `findings.json` of the experiments.
    """
    runs = find_runs(paths)
    if model is not None:
        ping(model, base_url)  # before the long work
    read, unread = _read_all(runs, data_dir)
    compared = [found for comparison in CROSS_RUN_DETECTORS for found in comparison(read)]
    scanned = [_scanned(run, [finding for about, finding in compared if about is run]) for run in read]
    if model is not None:
        noted = [(run, each.findings) for run, each in zip(read, scanned, strict=True)]
        answers = ask_about(noted, ask_through_inspect(model, base_url))
        told = [tuple(finding for about, finding in answers if about is run) for run in read]
        scanned = [replace(each, findings=each.findings + more) for each, more in zip(scanned, told, strict=True)]
    for run in scanned if write else ():
        for source in (FROM_SCAN,) if model is None else (FROM_SCAN, FROM_MODEL):
            found = [finding for finding in run.findings if finding.source == source]
            record_findings(run.path.parent.parent, source, found, run=(run.task, run.seed))
    return [*scanned, *unread]


def _scanned(run: RunEvidence, compared: Sequence[Finding]) -> ScannedRun:
    found, problems = list(compared), list(run.problems)
    for detector in DETECTORS:
        try:
            found += detector(run)
        except RecursionError:  # a program nested on purpose
            problems.append(f"The detector {detector.__name__} was skipped because a program is nested too deeply.")
    return ScannedRun(run.folder.path, run.task, run.seed, tuple(strongest_findings(found)), tuple(problems))


def _read_all(folders: Sequence[RunFolder], data_dir: Path | None) -> tuple[list[RunEvidence], list[ScannedRun]]:
    read, unread = [], []
    for folder in folders:
        try:
            read.append(read_evidence(folder, data_dir))
        except RecordError as error:
            seed = int(folder.path.name) if folder.path.name.isdecimal() else 0
            unread.append(ScannedRun(folder.path, folder.path.parent.name, seed, (), (str(error),)))
    return read, unread
