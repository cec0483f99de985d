"""Which rows are for testing: later ones, whole groups, or any; chosen by what the columns hold, and explained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from podium.catalog.new_task.goal import SubmissionGoal
from podium.catalog.new_task.table import Table
from podium.data.columns import BLANK, time_format
from podium.data.numbers import to_numbers
from podium.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

TEST_SHARE = 0.2
SHARES = (0.08, 0.4)
"""How large the test part may become, where times or groups decide."""
FEWEST_TIMES = 8
FEWEST_GROUPS = 8
FEWEST_PER_GROUP = 1.8
"""Rows that a group has on average."""
ROWS_PER_GROUP = 50
"""From how many rows on a thing is a category that everybody knows, such as one of fifty states, and not a group."""
TIMES = frozenset({"date", "year", "yr", "month", "week", "quarter", "period", "time"})
OF_RECORDS = frozenset({"sample", "survey", "record", "obs", "observation", "fiscal", "calendar", "sold", "sale", "of"})
"""Words that a year's name may have besides: it is when a row was recorded, not when a house was built."""
IDENTIFIERS = frozenset(
    {"id", "ids", "code", "key", "patient", "subject", "person", "participant", "individual", "user"}
)
THINGS = IDENTIFIERS | {
    "customer", "client", "player", "speaker", "author", "family", "household", "hospital", "clinic", "school", "site",
    "plot", "batch", "device", "session", "country", "state", "county", "firm", "company", "city", "team", "store",
}  # fmt: skip


@dataclass(frozen=True)
class Split:
    """How rows are divided, and why so."""

    kind: Literal["random", "group", "time"]
    column: str | None
    reason: str
    """A paragraph for whoever uses the task."""


def check_columns(rows: pd.DataFrame, *, group: str | None = None, time: str | None = None, **_: object) -> None:
    """Raises UsageError where rows are to be split by a column that they do not have."""
    for option, column in (("--group", group), ("--time", time)):
        if column is not None and column not in rows:
            raise UsageError(f"{option} {column}: there is no such column. There are: {', '.join(map(str, rows))}")


def choose_split(
    table: Table, goal: SubmissionGoal, *, group: str | None = None, time: str | None = None, at_random: bool = False
) -> Split:
    """The split that was asked for, or the most honest one that the rows allow.

    Raises:
        UsageError: what was asked for cannot be done.
    """
    check_columns(table.rows, group=group, time=time)
    if bool(group) + bool(time) + at_random > 1:
        raise UsageError("Give one of --group, --time and --random.")
    asked: list[tuple[Literal["group", "time"], str]] = (
        [("time", time)] if time else [("group", group)] if group else []
    )
    failed = ""
    if time and not _holds_times(table.rows[time]):
        raise UsageError(f"Rows cannot be split by '{time}': it holds no times, such as 2026-05-31, and no numbers.")
    for kind, column in asked or ([] if at_random else _candidates(table)):
        parts = _parts(table, goal, kind, column)
        problem = _problem(parts, table, goal)
        if problem is None:
            return Split(kind, column, _reason(kind, column, *parts, given=bool(asked)))
        if asked:
            raise UsageError(f"Rows cannot be split by '{column}': {problem}.")
        failed += f" A split by {kind}, with `{column}`, was not possible: {problem}."
    why = "nothing better is possible" if failed else "no column tells of times or of groups that rows belong to"
    why = "as was asked for" if at_random else why
    classes = "" if goal.prediction == "number" else ", with the same share of each class on both sides"
    return Split("random", None, f"Test rows were drawn at random{classes}: {why}.{failed}")


def _candidates(table: Table) -> Iterator[tuple[Literal["group", "time"], str]]:
    """Columns by which rows could be split, the best first: times before groups, whose future is then predicted."""
    facts = [str(name) for name in table.rows if name not in (table.id, table.target)]
    for name in facts:
        if is_time(table.rows[name]):
            yield "time", name
    for name in facts:
        if is_group(table.rows, name, table.target):
            yield "group", name


def is_time(cells: pd.Series) -> bool:
    """Whether a column says when: by how its cells are written, or, for years, also by its name."""
    present = cells[~cells.isin(BLANK)]
    if len(present) < 0.95 * len(cells) or present.nunique() < FEWEST_TIMES:
        return False
    return time_format(present) is not None or (_is_year(str(cells.name)) and _are_years(present))


def _holds_times(cells: pd.Series) -> bool:
    import numpy as np

    from podium.data.split import time_values

    return bool(np.isfinite(time_values(cells)).mean() > 0.5)


def _is_year(name: str) -> bool:
    words = _words(name)
    return bool(words & TIMES) and words <= TIMES | OF_RECORDS


def _are_years(cells: pd.Series) -> bool:

    numbers = to_numbers(cells)
    return bool(numbers.between(1500, 2200).all())


def is_group(rows: pd.DataFrame, name: str, target: str) -> bool:
    """Whether a column names things with several rows each: it is called so, or other columns tell facts about them."""
    cells = rows[name]
    present = cells[~cells.isin(BLANK)]
    groups = present.nunique()
    if groups < FEWEST_GROUPS or len(present) < FEWEST_PER_GROUP * groups:
        return False
    if not _is_number(present):
        is_fine = groups > len(rows) / ROWS_PER_GROUP
        return is_fine and (bool(_words(name) & THINGS) or _has_facts(rows, name, target))
    return bool(_words(name) & IDENTIFIERS)


def _words(name: str) -> set[str]:
    """The words of a column's name, however it is written."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def _is_number(cells: pd.Series) -> bool:

    return bool(to_numbers(cells).notna().all())


def _has_facts(rows: pd.DataFrame, name: str, target: str) -> bool:
    """Whether another column has one value in each group, and not the same one in all of them."""
    others = [str(other) for other in rows if other not in (name, target) and rows[other].nunique() > 1]
    return any(rows.groupby(name)[other].nunique().max() == 1 for other in others)


def _parts(table: Table, goal: SubmissionGoal, kind: str, column: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    from podium.data.split import split_later, split_whole_groups

    if kind == "time":
        return split_later(table.rows, column, TEST_SHARE)
    classes = None if goal.prediction == "number" else table.rows[table.target]
    return split_whole_groups(table.rows, column, TEST_SHARE, stratify=classes)


def _problem(parts: tuple[pd.DataFrame, pd.DataFrame], table: Table, goal: SubmissionGoal) -> str | None:
    """What makes these parts useless."""
    share = len(parts[1]) / len(table.rows)
    if not SHARES[0] <= share <= SHARES[1]:
        return f"{share:.0%} of the rows would be for testing"
    known, asked = (set(part[table.target]) for part in parts)
    if goal.prediction == "number":
        return None if min(len(known), len(asked)) > 1 else "one part would have only one value of the target"
    if asked - known:
        return f"the class '{min(asked - known)}' would occur in the test part alone"
    return None if len(asked) > 1 else "the test part would have only one class"


def _reason(kind: str, column: str, train: pd.DataFrame, test: pd.DataFrame, *, given: bool) -> str:
    """Why rows are split so, as people read it."""
    if kind == "time":
        first, last = _ends(test[column])
        asked = "as was asked for" if given else "because whoever uses a model knows only the past"
        return (
            f"Test rows are the latest, {asked}: `{column}` is from {first} to {last} there, and "
            "earlier in `train.csv`. A model that is validated on random rows looks better than it is."
        )
    groups = train[column].nunique() + test[column].nunique()
    asked = "as was asked for" if given else "because a model that has seen one of them would recognise the others"
    return (
        f"Rows with the same `{column}` stay together, {asked}: of {groups} groups, {test[column].nunique()} are in "
        "`test.csv` and in no row of `train.csv`. Validate with whole groups too."
    )


def _ends(cells: pd.Series) -> tuple[str, str]:
    from podium.data.split import time_values

    values = time_values(cells)
    if time_format(cells):
        ends = [
            datetime.fromtimestamp(float(value), UTC).strftime("%Y-%m-%d") for value in (values.min(), values.max())
        ]
    else:
        ends = [f"{value:g}" for value in (values.min(), values.max())]
    return ends[0], ends[1]
