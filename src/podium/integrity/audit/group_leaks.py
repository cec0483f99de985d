"""Group leaks: people or things on both sides of the split, which a model can learn to recognise."""

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
MIN_GROUPS = 8
MIN_CROSSING_SHARE = 0.5
"""Smallest share of test rows with a group in the training data that counts as a leak."""
MIN_TIME_SHARE = 0.9
"""Smallest share of cells that must be times in a column of times."""
_SECONDS = re.compile(r"1\d{9}(\d{3})?")
"""Seconds or milliseconds since 1970, for the years from 2001 to 2033."""
_IDENTIFIER = re.compile(r"(?=.*\d)[0-9A-Za-z]{4,}")


def groups_in_columns(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find columns that identify the source of a row and share values between train and test."""
    for table, other in task.table_pairs:
        for column in (name for name in table.cells if _WHO.search(str(name)) and name not in task.form.ids):
            if column not in other.cells:
                continue
            reason = _crossing(f"Column '{column}'", list(other.cells[column]), list(table.cells[column]))
            if reason:
                yield task.finding("groups that cross the split", reason, 0.7, severity="remark", file=table.name)


def groups_in_names(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find parts of raw file names, such as a speaker's, that occur in train and test, even if public names hide
    them.
    """
    named = {found: file for file in task.raw_files if (found := digest(file)) is not None}
    sides: tuple[list[str], list[str]] = ([], [])
    for file in task.public_files:
        raw = named.get(digest(file) or b"")
        if raw is not None:
            sides[not file.is_train].append(PurePosixPath(raw.name).stem)
    if min(map(len, sides)) < MIN_GROUPS:
        return
    parts = [[re.split(r"[_\-. ]+", name) for name in side] for side in sides]
    for place in range(min(min(map(len, side)) for side in parts)):
        train, test = ([name[place] for name in side] for side in parts)
        if _are_identities([*train, *test]):
            example = next((file.name for file in task.raw_files if test[0] in file.name), "")
            reason = _crossing(f"Part {place + 1} of the raw file names, as in {example},", train, test)
            if reason:
                yield task.finding("groups that cross the split", reason, 0.8)


def times_between(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find test rows between training rows in time: their neighbours on both sides are known."""
    for table, other in task.table_pairs:
        for column in (name for name in table.cells if name in other.cells and name not in task.form.targets):
            train, test = _times(other.cells[column], table.cells[column])
            if min(len(test), len(train)) < MIN_GROUPS:
                continue
            inside = int(((test > train.min()) & (test < train.max())).sum())
            if inside >= MIN_CROSSING_SHARE * len(test):
                reason = f"By column '{column}', {inside} of {len(test)} test rows are between training rows in time."
                yield task.finding("groups that cross the split", reason, 0.6, severity="remark", file=table.name)


def _times(train: pd.Series[str], test: pd.Series[str]) -> tuple[pd.Series, pd.Series]:
    """Return the times of a column in train and test; empty if the column does not hold times."""
    cells = pd.concat([train, test], ignore_index=True)  # parsed together, to decide whether the day comes first
    if cells.str.fullmatch(_SECONDS).mean() > MIN_TIME_SHARE:
        times = to_numbers(cells)
    elif cells.str.match(DATE).mean() > MIN_TIME_SHARE:
        times = parse_dates(cells.where(cells.str.match(DATE)), utc=True)
    else:
        times = pd.Series(dtype=float)
    return times[: len(train)].dropna(), times[len(train) :].dropna()


def _are_identities(values: Sequence[str]) -> bool:
    """Return whether these look like names of people or things with a few rows each, not like classes or row
    numbers.
    """
    counts = Counter(values)
    return (
        sum(_IDENTIFIER.fullmatch(value) is not None for value in counts) >= 0.9 * len(counts)
        and len(counts) >= MIN_GROUPS
        and len(values) >= 2 * len(counts)
        and max(counts.values()) <= 0.2 * len(values)
    )


def _crossing(source: str, train: list[str], test: list[str]) -> str | None:
    """Return a sentence about the groups of a source that cross the split, or None."""
    known, counts = set(train), Counter([*train, *test])
    test = [value for value in test if value]
    if len(counts) < MIN_GROUPS or len(test) < MIN_GROUPS or len(counts) > 0.9 * (len(train) + len(test)):
        return None
    crossing = sum(value in known for value in test)
    if crossing < MIN_CROSSING_SHARE * len(test):
        return None
    rows = f"{crossing} of {len(test)} test rows"
    return f"{source} has {len(counts)} groups; {rows} belong to a group that is also in the training data."
