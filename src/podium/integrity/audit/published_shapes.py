"""Comparison of files and columns with the published ones, and of a miniature with the real data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from podium.data.formats.archives import opened_member
from podium.data.prepare import prepare_task
from podium.integrity.audit.audited_task import AuditedTask, TaskFinding

ColumnNames = list[str] | int | None
"""Columns of a table: all names in order, or their number; None if it is no table or they are unknown."""
DIFFERS = "files differ from the published ones"


@cache
def published() -> dict[str, dict[str, ColumnNames]]:
    """Return the public files and folders that MLE-bench prepares, with the columns of tables, by competition."""
    shapes: dict[str, dict[str, ColumnNames]] = json.loads(Path(__file__).with_name("shapes.json").read_bytes())
    return shapes


def published_shape(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that the published files and columns exist, in a miniature as in the real data."""
    if task.prepared.edition == "v1":  # a fixed edition may leave out what leaks
        yield from _compare(task, published().get(task.id, {}), task.public, DIFFERS)


def miniature_shape(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that the miniature of real data has its tables, with the same columns."""
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
            yield task.finding(kind, f"{name} does not exist.", 0.9, file=name)
        elif columns is not None:
            found = _columns(path)
            if columns not in (found, len(found)):
                wanted = str(columns) if isinstance(columns, int) else ", ".join(columns)[:200]
                reason = f"The columns of {name} are {', '.join(found)[:200]}. Expected: {wanted}."
                yield task.finding(kind, reason, 0.9, file=name)


def _columns(path: Path) -> list[str]:
    import csv

    with opened_member(path) as file:
        return next(csv.reader([file.readline().decode("utf-8-sig", "replace")]), [])
