"""Scans runs: every detector over each of them, and all of them compared with each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from podium.errors import RecordError
from podium.integrity.ask_model import through_inspect
from podium.integrity.detectors import CROSS_RUN_DETECTORS, DETECTORS
from podium.integrity.model_questions import FROM_MODEL, ask_about
from podium.integrity.scan_evidence import RunEvidence, read_evidence
from podium.integrity.write_findings import fewest, record_findings
from podium.report.stored_findings import Finding
from podium.runs.experiment import FILE, find_run, read_experiment
from podium.runs.plan.preflight import ping
from podium.runs.run_folder import RunFolder

FROM_SCAN = "scan"


@dataclass(frozen=True)
class ScannedRun:
    """A run that was looked at."""

    path: Path
    task: str
    seed: int
    findings: tuple[Finding, ...]
    problems: tuple[str, ...] = ()
    """What of it could not be read."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": str(self.path),
            "task": self.task,
            "seed": self.seed,
            "findings": [finding.model_dump(mode="json") for finding in self.findings],
            "problems": list(self.problems),
        }


def find_runs(paths: Sequence[Path]) -> list[RunFolder]:
    """The runs that paths name: each a run, or an experiment with all its runs.

    Raises:
        UsageError: one is neither.
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
    """Looks at runs, alone and against each other, and writes what was found beside them.

    Args:
        paths: runs and experiments.
        model: is asked as well, in Inspect's notation.
        base_url: where it is served, if not where its maker serves it.
        data_dir: where data of tasks lie that tell more about a run, if not in Podium's home.
        write: whether `findings.json` of their experiments is brought up to date.
    """
    runs = find_runs(paths)
    if model is not None:
        ping(model, base_url)  # before anything takes long
    read, unread = _read_all(runs, data_dir)
    compared = [found for comparison in CROSS_RUN_DETECTORS for found in comparison(read)]
    scanned = [_scanned(run, [finding for about, finding in compared if about is run]) for run in read]
    if model is not None:
        noted = [(run, each.findings) for run, each in zip(read, scanned, strict=True)]
        answers = ask_about(noted, through_inspect(model, base_url))
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
            problems.append(f"{detector.__name__} was given up: a program is nested too deeply")
    return ScannedRun(run.folder.path, run.task, run.seed, tuple(fewest(found)), tuple(problems))


def _read_all(folders: Sequence[RunFolder], data_dir: Path | None) -> tuple[list[RunEvidence], list[ScannedRun]]:
    read, unread = [], []
    for folder in folders:
        try:
            read.append(read_evidence(folder, data_dir))
        except RecordError as error:
            seed = int(folder.path.name) if folder.path.name.isdecimal() else 0
            unread.append(ScannedRun(folder.path, folder.path.parent.name, seed, (), (str(error),)))
    return read, unread
