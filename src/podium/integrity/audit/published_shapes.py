"""Whether files have the published names and columns, and a miniature those of the data it stands for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from podium.data.formats.archives import opened_member
from podium.data.prepare import prepare_task
from podium.integrity.audit.audited_task import AuditedTask, TaskFinding

ColumnNames = list[str] | int | None
"""Of a table: all names in their order, or how many; None of what is not a table, or not known."""
DIFFERS = "files differ from the published ones"


@cache
def published() -> dict[str, dict[str, ColumnNames]]:
    """By competition the public files and folders that MLE-bench prepares, with columns of tables."""
    shapes: dict[str, dict[str, ColumnNames]] = json.loads(Path(__file__).with_name("shapes.json").read_bytes())
    return shapes


def published_shape(task: AuditedTask) -> Iterator[TaskFinding]:
    """Names and columns that were published must be there, in a miniature as in the data itself."""
    if task.prepared.edition == "v1":  # a fixed edition may leave out what leaks
        yield from _compare(task, published().get(task.id, {}), task.public, DIFFERS)


def miniature_shape(task: AuditedTask) -> Iterator[TaskFinding]:
    """The miniature of real data must have its tables, with the same columns."""
    prepared = task.prepared
    if prepared.miniature or prepared.task.generated or prepared.task.fabricator is None:
        return
    real = {path.name: _columns(path) for path in sorted(task.public.glob("*.csv"))}
    made = prepare_task(prepared.task, data_dir=task.folder / "miniature", miniature=True, edition=prepared.edition)
    yield from _compare(task, dict(real), made.place.public, "the miniature differs from the data")


def _compare(task: AuditedTask, expected: dict[str, ColumnNames], folder: Path, kind: str) -> Iterator[TaskFinding]:
    for name, columns in expected.items():
        path = folder / name
        if not path.exists():
            yield task.finding(kind, f"{name} is missing", 0.9, file=name)
        elif columns is not None:
            found = _columns(path)
            if columns not in (found, len(found)):
                reason = f"its columns are {', '.join(found)[:200]}; expected: {str(columns)[:200]}"
                yield task.finding(kind, reason, 0.9, file=name)


def _columns(path: Path) -> list[str]:
    import csv

    with opened_member(path) as file:
        return next(csv.reader([file.readline().decode("utf-8-sig", "replace")]), [])
