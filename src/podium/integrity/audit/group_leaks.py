"""People and things that are on both sides of the split: who was learnt by heart is then recognised."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import pandas as pd

from podium.integrity.audit.audited_task import AuditedTask, TaskFinding
from podium.integrity.audit.duplicate_rows import digest
from podium.tables.dates import DATE, parse_dates
from podium.tables.parse_numbers import to_numbers

_WHO = re.compile(
    r"patient|subject|speaker|person|donor|participant|individual|volunteer|author|user_?(id|name)|device|session",
    re.IGNORECASE,
)
FEWEST_GROUPS = 8
SHARED = 0.5
"""Share of the test rows whose group is in the training data as well."""
MOSTLY = 0.9
"""Share of the cells of a column that are times where it is about time."""
_SECONDS = re.compile(r"1\d{9}(\d{3})?")
"""Seconds or milliseconds since 1970, of the years from 2001 to 2033."""
_IDENTIFIER = re.compile(r"(?=.*\d)[0-9A-Za-z]{4,}")


def groups_in_columns(task: AuditedTask) -> Iterator[TaskFinding]:
    """Columns that say who or what a row comes from, with values in both parts."""
    for table, other in task.table_pairs:
        for column in (name for name in table.cells if _WHO.search(str(name)) and name not in task.form.ids):
            reason = _crossing(list(other.cells[column]), list(table.cells[column])) if column in other.cells else None
            if reason:
                told = f"{column}: {reason}"
                yield task.finding("groups that cross the split", told, 0.7, severity="remark", file=table.name)


def groups_in_names(task: AuditedTask) -> Iterator[TaskFinding]:
    """Parts of raw file names, such as a speaker's, that recur in both parts, also where public names hide them."""
    named = {found: file for file in task.raw_files if (found := digest(file)) is not None}
    sides: tuple[list[str], list[str]] = ([], [])
    for file in task.public_files:
        raw = named.get(digest(file) or b"")
        if raw is not None:
            sides[not file.is_train].append(PurePosixPath(raw.name).stem)
    if min(map(len, sides)) < FEWEST_GROUPS:
        return
    parts = [[re.split(r"[_\-. ]+", name) for name in side] for side in sides]
    for place in range(min(min(map(len, side)) for side in parts)):
        train, test = ([name[place] for name in side] for side in parts)
        if _are_identities([*train, *test]):
            reason = _crossing(train, test)
            if reason:
                example = next(file.name for file in task.raw_files if test[0] in file.name)
                told = f"part {place + 1} of the raw files' names, as in {example}: {reason}"
                yield task.finding("groups that cross the split", told, 0.8)


def times_between(task: AuditedTask) -> Iterator[TaskFinding]:
    """Test rows that lie between training rows in time: their neighbours on both sides are known."""
    for table, other in task.table_pairs:
        for column in (name for name in table.cells if name in other.cells and name not in task.form.targets):
            train, test = _times(other.cells[column], table.cells[column])
            if min(len(test), len(train)) < FEWEST_GROUPS:
                continue
            inside = int(((test > train.min()) & (test < train.max())).sum())
            if inside >= SHARED * len(test):
                reason = f"{column}: {inside} of {len(test)} test rows lie between training rows in time"
                yield task.finding("groups that cross the split", reason, 0.6, severity="remark", file=table.name)


def _times(train: pd.Series[str], test: pd.Series[str]) -> tuple[pd.Series, pd.Series]:
    """The times in both parts of a column that is about time; none of any other."""
    cells = pd.concat([train, test], ignore_index=True)  # read as one, for whether the day comes first
    if cells.str.fullmatch(_SECONDS).mean() > MOSTLY:
        times = to_numbers(cells)
    elif cells.str.match(DATE).mean() > MOSTLY:
        times = parse_dates(cells.where(cells.str.match(DATE)), utc=True)
    else:
        times = pd.Series(dtype=float)
    return times[: len(train)].dropna(), times[len(train) :].dropna()


def _are_identities(values: Sequence[str]) -> bool:
    """Whether these look like names of people or things with a few rows each, not like classes or row numbers."""
    counts = Counter(values)
    return (
        sum(_IDENTIFIER.fullmatch(value) is not None for value in counts) >= 0.9 * len(counts)
        and len(counts) >= FEWEST_GROUPS
        and len(values) >= 2 * len(counts)
        and max(counts.values()) <= 0.2 * len(values)
    )


def _crossing(train: list[str], test: list[str]) -> str | None:
    known, counts = set(train), Counter([*train, *test])
    test = [value for value in test if value]
    if len(counts) < FEWEST_GROUPS or len(test) < FEWEST_GROUPS or len(counts) > 0.9 * (len(train) + len(test)):
        return None
    crossing = sum(value in known for value in test)
    if crossing < SHARED * len(test):
        return None
    return f"{len(counts)} groups, and {crossing} of {len(test)} test rows belong to one that is in the training data"
