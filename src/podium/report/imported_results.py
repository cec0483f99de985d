"""MLE-bench grading reports imported as an experiment: one file, `imported.json`, that `podium report` reads."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from podium.errors import RecordError, UsageError
from podium.safefs.atomic_files import write_atomically
from podium.safefs.open_nofollow import read_regular
from podium.task import Medal

IMPORTED_FILE = "imported.json"
METADATA = "metadata.json"
MAX_BYTES = 256 << 20
Document = TypeVar("Document")


@dataclass(frozen=True)
class CompetitionReport:
    """Result of one run in MLE-bench's grading report, under MLE-bench's names. Podium adds the fields from `edition`
    on; Harbor's trials fill the last ones."""

    competition_id: str
    gold_medal: bool
    silver_medal: bool
    bronze_medal: bool
    above_median: bool
    submission_exists: bool
    valid_submission: bool
    score: float | None = None
    gold_threshold: float | None = None
    silver_threshold: float | None = None
    bronze_threshold: float | None = None
    median_threshold: float | None = None
    is_lower_better: bool | None = None
    created_at: str | None = None
    edition: str | None = "v1"
    miniature: bool = False
    error: str | None = None
    percentile: float | None = None
    improvement: float | None = None
    success: bool | None = None
    usage: dict[str, int | float] = field(default_factory=dict)
    """Resource usage under the names of `podium.workspace.budget.Usage`."""

    @property
    def medal(self) -> Medal | None:
        flags: dict[Medal, bool] = {"gold": self.gold_medal, "silver": self.silver_medal, "bronze": self.bronze_medal}
        return next((name for name, won in flags.items() if won), None)

    @property
    def higher_is_better(self) -> bool | None:
        return None if self.is_lower_better is None else not self.is_lower_better


@dataclass(frozen=True)
class GradingReport:
    """Part of MLE-bench's grading report that is read."""

    competition_reports: tuple[CompetitionReport, ...]


@dataclass(frozen=True)
class Import:
    """Imported competition reports in the order in which MLE-bench aggregates them."""

    agent: str
    source: str
    created: str
    reports: tuple[CompetitionReport, ...]
    planned: dict[str, int]
    """Number of runs by competition in the run groups' metadata, if more than were graded."""

    def by_task(self) -> dict[str, list[CompetitionReport]]:
        """Return the reports of each competition; the i-th is seed i."""
        found: dict[str, list[CompetitionReport]] = {}
        for report in self.reports:
            found.setdefault(report.competition_id, []).append(report)
        for task in self.planned:
            found.setdefault(task, [])
        return dict(sorted(found.items()))

    @property
    def seeds(self) -> int:
        """Largest number of graded or planned runs of a competition."""
        return max([*(len(reports) for reports in self.by_task().values()), *self.planned.values()], default=0)


def is_grading_reports(path: Path) -> bool:
    """Return whether a path is a grading report, or a folder with grading reports or run groups."""
    if path.is_dir():
        return not (path / "mlebench" / "competitions").is_dir() and bool(_report_files(path) or _metadata_files(path))
    return path.suffix == ".json"


def import_reports(path: Path, out: Path, *, agent: str | None = None) -> Import:
    """Import a grading report, or all reports below a folder, sorted by path as MLE-bench does.

    Raises:
        UsageError: There are no reports, a file is not a report, or `out` is not empty.
    """
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} already exists and is not empty. Choose another --out.")
    files = _report_files(path) if path.is_dir() else [path]
    groups = _metadata_files(path) if path.is_dir() else _metadata_files(path.parent)[:1]
    if not files:
        raise UsageError(
            f"{path} contains run groups but no grading report. Grade them first, with MLE-bench or with: "
            "podium grade --jsonl FILE --out DIR"
        )
    reports = tuple(report for file in files for report in _read_reports(file))
    found = Import(
        agent=agent or _agent_name(groups) or path.stem,
        source=path.name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        reports=reports,
        planned=_planned(groups, reports),
    )
    write_atomically(out / IMPORTED_FILE, json.dumps(asdict(found), indent=1, ensure_ascii=False) + "\n")
    return found


def read_import(folder: Path) -> Import:
    """Read the import in a folder.

    Raises:
        RecordError: The import cannot be read.
    """
    path = folder / IMPORTED_FILE
    try:
        found = _parse(read_regular(path, MAX_BYTES), Import)
        datetime.fromisoformat(found.created)
        return found
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise RecordError(f"{path} is damaged: {error}. Import the grading reports again.") from error


def _report_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*grading_report*.json") if _is_file_below(folder, path))


def _metadata_files(folder: Path) -> list[Path]:
    """Return the metadata files of a run group, or of all run groups directly below a folder."""
    found = (folder / METADATA, *folder.glob(f"*/{METADATA}"))
    return sorted(path for path in found if _is_file_below(folder, path))


def _is_file_below(folder: Path, path: Path) -> bool:
    """Return whether a path is a file reached without links, so that an import never follows one out of the folder."""
    return path.is_file() and path.resolve() == folder.resolve() / path.relative_to(folder)


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def _read_reports(path: Path) -> tuple[CompetitionReport, ...]:
    try:
        found = _parse(_read(path), GradingReport)
    except ValueError as error:
        raise UsageError(f"{path} is not an MLE-bench grading report: {error}.") from error
    return tuple(sorted(found.competition_reports, key=lambda report: report.competition_id))


def _parse(data: bytes, kind: type[Document]) -> Document:
    """Parse a JSON document.

    Raises:
        ValueError: The document is invalid; the message names the first problem.
    """
    from pydantic import TypeAdapter, ValidationError  # not installed if only leaderboards are imported

    try:
        return TypeAdapter(kind).validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def _planned(groups: list[Path], reports: tuple[CompetitionReport, ...]) -> dict[str, int]:
    """Return the number of runs in the metadata without a report, which count as missing."""
    named: Counter[str] = Counter()
    for path in groups:
        runs = _read_metadata(path).get("runs", {})
        named.update(str(run).partition("_")[0] for run in runs)
    graded = Counter(report.competition_id for report in reports)
    return {task: count for task, count in named.items() if count > graded[task]}


def _agent_name(groups: list[Path]) -> str | None:
    """Return the agent in the name of a run group, `TIME_run-group_AGENT`, or None."""
    names = {str(_read_metadata(path).get("run_group", "")).partition("_run-group_")[2] for path in groups}
    return names.pop() or None if len(names) == 1 else None


def _read_metadata(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(_read(path))
    except ValueError as error:
        raise UsageError(f"{path} is not the metadata of an MLE-bench run group: {error}") from error
    return document if isinstance(document, dict) else {}
