"""MLE-bench grading reports, taken over as an experiment: one file, `imported.json`, that `podium report` reads."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from podium.data.files import write_atomically
from podium.errors import PodiumError, UsageError

FILE = "imported.json"
METADATA = "metadata.json"
_FLAGS = ("gold_medal", "silver_medal", "bronze_medal", "above_median", "submission_exists", "valid_submission")


@dataclass(frozen=True)
class Import:
    """Competition reports as MLE-bench writes them, in the order that its aggregation reads them."""

    agent: str
    source: str
    created: str
    reports: tuple[dict[str, Any], ...]
    planned: dict[str, int]
    """How many runs of each competition the run groups' metadata name, where that is more than were graded."""

    def by_task(self) -> dict[str, list[dict[str, Any]]]:
        """The reports of each competition; the i-th is seed i."""
        found: dict[str, list[dict[str, Any]]] = {}
        for report in self.reports:
            found.setdefault(report["competition_id"], []).append(report)
        for task in self.planned:
            found.setdefault(task, [])
        return dict(sorted(found.items()))

    @property
    def seeds(self) -> int:
        """The most runs that any competition has, or should have had."""
        return max([*(len(reports) for reports in self.by_task().values()), *self.planned.values()])


def is_grading_reports(path: Path) -> bool:
    """Whether a path is a grading report, or a folder with grading reports or run groups."""
    if path.is_dir():
        return not (path / "mlebench" / "competitions").is_dir() and bool(_report_files(path) or _metadata_files(path))
    return path.suffix == ".json"


def import_reports(path: Path, out: Path, *, agent: str | None = None) -> Import:
    """Takes over a grading report, or all below a folder, sorted by path as MLE-bench's aggregation does.

    Raises:
        UsageError: there are none, one of them is something else, or `out` is taken.
    """
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is there already. Give another --out.")
    files = _report_files(path) if path.is_dir() else [path]
    groups = _metadata_files(path) if path.is_dir() else _metadata_files(path.parent)[:1]
    if not files:
        raise UsageError(
            f"{path} holds run groups but no grading report. Grade them first, with MLE-bench or with: "
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
    document = {name: getattr(found, name) for name in ("agent", "source", "created", "planned", "reports")}
    write_atomically(out / FILE, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return found


def read_import(folder: Path) -> Import:
    """What was taken over into a folder."""
    path = folder / FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return Import(**document | {"reports": tuple(document["reports"])})
    except (ValueError, KeyError, TypeError) as error:
        raise PodiumError(f"{path} is damaged: {error}. Import the grading reports again.") from error


def _report_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*grading_report*.json") if path.is_file())


def _metadata_files(folder: Path) -> list[Path]:
    """The metadata of a run group, or of all run groups right below a folder."""
    return sorted(path for path in (folder / METADATA, *folder.glob(f"*/{METADATA}")) if path.is_file())


def _read_reports(path: Path) -> list[dict[str, Any]]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        reports = document["competition_reports"]
        for report in reports:
            missing = [name for name in ("competition_id", *_FLAGS) if name not in report]
            if missing:
                raise KeyError(missing[0])
        return sorted(reports, key=lambda report: str(report["competition_id"]))
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is not a grading report of MLE-bench: {error!r}.") from error


def _planned(groups: list[Path], reports: tuple[dict[str, Any], ...]) -> dict[str, int]:
    """Runs that the metadata names and no report covers: they happened, or should have, and are not forgotten."""
    named: Counter[str] = Counter()
    for path in groups:
        runs = _read_metadata(path).get("runs", {})
        named.update(str(run).partition("_")[0] for run in runs)
    graded = Counter(str(report["competition_id"]) for report in reports)
    return {task: count for task, count in named.items() if count > graded[task]}


def _agent_name(groups: list[Path]) -> str | None:
    """The agent in the name of a run group, `TIME_run-group_AGENT`."""
    names = {str(_read_metadata(path).get("run_group", "")).partition("_run-group_")[2] for path in groups}
    return names.pop() or None if len(names) == 1 else None


def _read_metadata(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} is not the metadata of a run group: {error}") from error
    return document if isinstance(document, dict) else {}
