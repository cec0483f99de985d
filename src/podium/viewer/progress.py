"""Runs that are going on: whether a process works on them, and what they have used so far."""

from __future__ import annotations

import fcntl
import os
from dataclasses import replace

from podium.data.inside import open_regular
from podium.errors import RecordError
from podium.report.table import Row
from podium.runs.folder import RunFolder, check_numbers
from podium.workspace.journal import read_last_event


def is_going(folder: RunFolder) -> bool:
    """Whether a process works on a run: it holds the run's lock for as long as it lives."""
    try:
        descriptor = open_regular(folder.lock, top=folder.experiment)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def current(row: Row) -> tuple[Row, str]:
    """A row with what its run has used by now, and its status in words."""
    if row.status != "running" or row.folder is None:
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
