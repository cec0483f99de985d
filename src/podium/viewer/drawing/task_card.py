"""Task card: goal, metric, submission format, data, reference and known issues of a task, looked up by its id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from podium.catalog.registry import load
from podium.data.home import DataFolder, locate
from podium.data.manifest import Manifest, read_manifest
from podium.errors import PodiumError
from podium.grading.medals import thresholds
from podium.grading.reference import find_reference
from podium.report.score_references import measured_field
from podium.task import Baseline, Columns, Edition, Leaderboard, Reference, Task
from podium.text import format_duration, plural
from podium.viewer.index.find_experiments import stamp_of

SHOWN_FILES = 30
BRIEF_CHARACTERS = 50_000


@dataclass(frozen=True)
class PublicFile:
    """File of the public folder."""

    name: str
    size_bytes: int


@dataclass(frozen=True)
class DataCard:
    """Data of a task as prepared on this machine."""

    edition: str
    is_miniature: bool
    source: str
    files: list[PublicFile]
    """Largest files."""
    count: int
    size_bytes: int


@dataclass(frozen=True)
class TaskCard:
    """Facts about a task that do not depend on runs."""

    task: Task
    brief: str
    form: str
    budget: str
    thresholds: dict[str, float]
    board: Leaderboard | None
    is_forged: bool
    baseline: Baseline | None
    faults: list[tuple[Edition, str]]
    """Reason for each further edition."""
    data: DataCard | None


def read_card(
    task_id: str, edition: Edition | None, data_dir: Path | None, *, miniature: bool = False
) -> TaskCard | None:
    """Return the card of a task in an edition, or None if the task is unknown."""
    place = locate(task_id, edition=edition or "v1", data_dir=data_dir, miniature=miniature)
    return _card(task_id, edition, place, stamp_of(place.manifest))


@lru_cache(maxsize=64)
def _card(task_id: str, edition: Edition | None, place: DataFolder, stamp: str) -> TaskCard | None:
    """Return the card, cached until the stamp of the data's manifest changes."""
    try:
        known = load(task_id)
        task = known.in_edition(edition if edition in known.editions else None)
        reference = _reference(task, place)
        data = _data(place)
        brief = task.brief or _description(place)
    except (PodiumError, OSError, ValueError, LookupError):
        return None
    board = reference if isinstance(reference, Leaderboard) else None
    limits = thresholds(board) if board else None
    names = ("gold", "silver", "bronze", "median")
    return TaskCard(
        task=task,
        brief=brief,
        form=_form(task),
        budget=_budget(task),
        thresholds={name: value for name in names if (value := getattr(limits, name, None)) is not None},
        board=board,
        is_forged=task_id.startswith("forge-"),
        baseline=reference if isinstance(reference, Baseline) else None,
        faults=[(name, parts.reason) for name, parts in known.editions.items() if parts.reason],
        data=data,
    )


def _reference(task: Task, place: DataFolder) -> Reference | None:
    field = measured_field(task.id, place)
    return Leaderboard(field["lower_is_better"], tuple(field["scores"])) if field else find_reference(task, place)


def _description(place: DataFolder) -> str:
    path = place.public / "description.md"
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(BRIEF_CHARACTERS)


def _form(task: Task) -> str:
    form = task.submission
    if isinstance(form, Columns):
        return f"table with columns {_listed((*form.ids, *form.targets))}"
    return f"files: {_listed(form.names)}"


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"


def _budget(task: Task) -> str:
    parts = [task.time_s and format_duration(task.time_s), task.steps and plural(task.steps, "step")]
    return ", ".join(part for part in parts if part)


def _data(place: DataFolder) -> DataCard | None:
    manifest = read_manifest(place)
    if manifest is None:
        return None
    files = list(_public_files(manifest))
    largest = sorted(files, key=lambda file: (-file.size_bytes, file.name))[:SHOWN_FILES]
    return DataCard(
        edition=manifest.edition,
        is_miniature=manifest.miniature,
        source=manifest.source if manifest.source in ("generated", "fabricated", "download") else "a folder",
        files=largest,
        count=len(files),
        size_bytes=sum(file.size_bytes for file in files),
    )


def _public_files(manifest: Manifest) -> Iterator[PublicFile]:
    for path, facts in manifest.files.items():
        folder, _, name = path.partition("/")
        if folder == "public":
            yield PublicFile(name, int(facts.get("bytes", 0)))
