"""Report over experiments: summaries, reference scores, profiles, verification, findings and failure modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.catalog.registry import suites
from podium.errors import UnknownTaskError
from podium.grading.grade import json_value
from podium.report.aggregate import Summary, headline, summarise
from podium.report.export_results import miniature_note, records, sandbox_gaps
from podium.report.failure_causes import Failures, read_failures
from podium.report.performance_profiles import Profiles, profiles, task_scores
from podium.report.results import Results, read_all_results
from podium.report.score_references import ReferenceScores, read_references
from podium.report.stored_findings import Findings, read_findings
from podium.runs.plan.trusted_plans import own_data_dir

if TYPE_CHECKING:
    from podium.verify import Verification


@dataclass(frozen=True)
class Report:
    """Content of a report, as shown by the terminal, the page and JSON."""

    results: tuple[Results, ...]
    summaries: tuple[Summary, ...]
    references: dict[str, ReferenceScores]
    """Reference scores by task."""
    profiles: Profiles | None
    """Performance profiles over the tasks that all experiments share."""
    pad: bool
    seeds: int | None
    suite: str | None
    verified: dict[str, Verification] = field(default_factory=dict)
    """Verification by experiment; an absent experiment was not verified."""
    findings: dict[str, Findings] = field(default_factory=dict)
    """Integrity findings of scanned experiments, by name."""
    failures: dict[str, Failures] = field(default_factory=dict)
    """Failure modes of classified experiments, by name."""

    @property
    def warning(self) -> str | None:
        """Warning about fabricated data, shown before any number."""
        return miniature_note(self.summaries)

    @property
    def sandbox_gaps(self) -> list[str]:
        """Warnings about guarantees that sandboxes did not fully enforce."""
        return sandbox_gaps(self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON."""
        return {
            "warning": self.warning,
            "sandbox_gaps": self.sandbox_gaps,
            "experiments": [
                {"headline": headline(summary), **summary.to_dict(), **_planned(results)}
                for results, summary in zip(self.results, self.summaries, strict=True)
            ],
            "options": {"pad": self.pad, "seeds": self.seeds, "suite": self.suite},
            "aup": None if self.profiles is None else self.profiles.area,
            "tasks": {task: asdict(scores) for task, scores in self.references.items()},
            "verified": {name: found.to_dict() for name, found in self.verified.items()},
            "findings": {name: found.model_dump(mode="json") for name, found in self.findings.items()},
            "failures": {name: found.model_dump(mode="json") for name, found in self.failures.items()},
            "runs": [{name: json_value(value) for name, value in row.items()} for row in records(self.results)],
        }


def _planned(results: Results) -> dict[str, Any]:
    document = results.experiment.document
    return {"plan": {} if results.imported else document.plan.model_dump(mode="json"), "created": document.created}


def make_report(
    folders: Sequence[Path],
    *,
    pad: bool = False,
    seeds: int | None = None,
    suite: str | None = None,
    verify: bool = False,
    data_dir: Path | None = None,
) -> Report:
    """Read experiments and summarise them.

    Args:
        pad: Count missing runs as failures.
        seeds: Maximum number of seeds.
        suite: Count only the tasks of this suite; tasks that an experiment lacks are missing.
        verify: Check every run as `podium verify` does.
        data_dir: Folder with your own data, for verification.
    """
    if suite is not None and suite not in suites():
        raise UnknownTaskError(f"There is no suite '{suite}'. The suites are: {', '.join(suites())}")
    tasks = None if suite is None else suites()[suite].tasks
    results = read_all_results(folders)
    references = {task: found for each in reversed(results) for task, found in read_references(each).items()}
    baselines = {task: found.baseline for task, found in references.items() if found.baseline is not None}
    return Report(
        results=tuple(results),
        summaries=tuple(summarise(each, pad=pad, seeds=seeds, tasks=tasks) for each in results),
        references=references,
        profiles=profiles(task_scores(results, baselines)) if len(results) > 1 else None,
        pad=pad,
        seeds=seeds,
        suite=suite,
        verified={each.name: _verify(each, data_dir) for each in results if not each.imported} if verify else {},
        failures={each.name: modes for each in results if (modes := read_failures(each.experiment.folder)) is not None},
        findings={each.name: found for each in results if (found := read_findings(each.experiment.folder)) is not None},
    )


def _verify(results: Results, data_dir: Path | None) -> Verification:
    from podium.verify import verify

    return verify(results.experiment.folder, data_dir=data_dir or own_data_dir(results.plan))


def report(experiments: str | PathLike[str] | Sequence[str | PathLike[str]], **options: Any) -> Report:
    """Return the results of experiments: medals, scores, usage and uncertainty.

    Args:
        experiments: One or more experiment folders.
        options: Options of `make_report`: `pad`, `seeds`, `suite`, `verify`, `data_dir`.
    """
    folders = [experiments] if isinstance(experiments, str | PathLike) else experiments
    return make_report([Path(folder) for folder in folders], **options)
