"""Progress of unfinished runs: whether a process works on them, and their usage so far."""

from __future__ import annotations

from dataclasses import replace

from podium.errors import RecordError
from podium.report.results import Row
from podium.runs.attempt.progress_files import has_running_attempt
from podium.runs.run_folder import RunFolder, check_numbers
from podium.workspace.journal.journal import read_last_event


def current(row: Row) -> tuple[Row, str]:
    """Return a row with its run's usage so far, and the run's status."""
    if row.status not in ("running", "interrupted") or row.folder is None:
        return row, "not started" if row.status == "missing" else row.status
    folder = RunFolder(row.folder)
    status = "running" if has_running_attempt(folder) else "interrupted"
    try:
        event = read_last_event(folder.journal, top=folder.experiment) if folder.journal.exists() else None
        usage = {} if event is None else event.usage.model_dump()
        check_numbers(usage, folder.journal)
    except RecordError as error:
        return replace(row, error=str(error)), status
    return replace(row, **usage), status
