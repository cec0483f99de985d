"""Runs that are going on: whether somebody works on them, and how far they have come."""

from __future__ import annotations

import fcntl
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from podium.report.table import Row

_TAIL_BYTES = 4096
_USED = re.compile(rb'"used": (\{[^{}]*\})')


def is_going(folder: Path) -> bool:
    """Whether a process works on a run: it holds the run's lock for as long as it lives."""
    try:
        descriptor = os.open(folder / ".lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def used_so_far(folder: Path) -> dict[str, Any]:
    """What the newest line of a run's journal says was used."""
    try:
        descriptor = os.open(folder / "steps.jsonl", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return {}
    try:
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, _TAIL_BYTES, max(0, size - _TAIL_BYTES))
    finally:
        os.close(descriptor)
    found = _USED.findall(tail[: tail.rfind(b"\n") + 1])
    try:
        return dict(json.loads(found[-1])) if found else {}
    except ValueError:
        return {}


def current(row: Row) -> tuple[Row, str]:
    """A run with what it has used by now, and its status in words."""
    if row.status != "running" or row.folder is None:
        return row, {"missing": "not started"}.get(row.status, row.status)
    used = {name: value for name, value in used_so_far(row.folder).items() if hasattr(row, name)}
    return replace(row, **used), "running" if is_going(row.folder) else "interrupted"
