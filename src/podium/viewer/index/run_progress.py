"""Runs that are going on: whether a process works on them, and what they have used so far."""

from __future__ import annotations

from dataclasses import replace

from podium.errors import RecordError
from podium.report.results import Row
from podium.runs.attempt.progress_files import is_going
from podium.runs.run_folder import RunFolder, check_numbers
from podium.workspace.journal.journal import read_last_event


def current(row: Row) -> tuple[Row, str]:
    """A row with what its run has used by now, and its status in words."""
    if row.status not in ("running", "interrupted") or row.folder is None:
        return row, "not started" if row.status == "missing" else row.status
    folder = RunFolder(row.folder)
    status = "running" if is_going(folder) else "interrupted"
    try:
        event = read_last_event(folder.journal, top=folder.experiment) if folder.journal.exists() else None
        usage = {} if event is None else event.usage.model_dump()
        check_numbers(usage, folder.journal)
    except RecordError as error:
        return replace(row, error=str(error)), status
    return replace(row, **usage), status
