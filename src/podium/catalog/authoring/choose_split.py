"""Choice of the split (by time, by group or at random) based on the columns, with an explanation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from podium.catalog.authoring.choose_goal import SubmissionGoal
from podium.catalog.authoring.column_roles import is_group, is_time
from podium.catalog.authoring.source_table import Table
from podium.data.columns import BLANK, parse_times, time_format
from podium.errors import UsageError
from podium.text import plural

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

TEST_SHARE = 0.2
SHARES = (0.08, 0.4)
"""Minimum and maximum share of the test part in splits by time or group."""


@dataclass(frozen=True)
class Split:
    """Split of the rows, with its reason."""

    kind: Literal["random", "group", "time"]
    column: str | None
    reason: str
    """Paragraph for the brief."""


def check_columns(rows: pd.DataFrame, *, group: str | None = None, time: str | None = None) -> None:
    """Raise UsageError if the column of a split does not exist."""
    for option, column in (("--group", group), ("--time", time)):
        if column is not None and column not in rows:
            columns = ", ".join(map(str, rows))
            raise UsageError(f"{option} {column}: there is no such column. The columns are: {columns}")


def choose_split(
    table: Table, goal: SubmissionGoal, *, group: str | None = None, time: str | None = None, at_random: bool = False
) -> Split:
    """Return the requested split, or the most realistic one that the rows allow.

    Raises:
        UsageError: The requested split is impossible.
    """
    if bool(group) + bool(time) + at_random > 1:
        raise UsageError("Use only one of --group, --time and --random.")
    asked: list[tuple[Literal["group", "time"], str]] = (
        [("time", time)] if time else [("group", group)] if group else []
    )
    failed = ""
    if time:
        _check_times(table.rows[time])
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
    """Yield columns for a split, the best first: times before groups."""
    facts = [str(name) for name in table.rows if name not in (table.id, table.target)]
    for name in facts:
        if is_time(table.rows[name]):
            yield "time", name
    for name in facts:
        if is_group(table.rows, name, table.target):
            yield "group", name


def _check_times(cells: pd.Series) -> None:
    """Raise UsageError for a column with too few times, naming a cell with another format."""
    import numpy as np

    from podium.data.split import time_values

    if np.isfinite(time_values(cells)).mean() > 0.5:
        return
    present = cells[~cells.isin(BLANK)]
    written = time_format(present, at_least=0)
    odd = present[np.isnan(parse_times(present, written))] if written else present
    raise UsageError(
        f"Rows cannot be split by '{cells.name}': too few of its cells are numbers or times of one format, such as "
        f"2026-05-31; for example, '{next(iter(odd), '')}' is not."
    )


def _parts(table: Table, goal: SubmissionGoal, kind: str, column: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    from podium.data.split import split_later, split_whole_groups

    if kind == "time":
        return split_later(table.rows, column, TEST_SHARE)
    classes = None if goal.prediction == "number" else table.rows[table.target]
    return split_whole_groups(table.rows, column, TEST_SHARE, stratify=classes)


def _problem(parts: tuple[pd.DataFrame, pd.DataFrame], table: Table, goal: SubmissionGoal) -> str | None:
    """Return the reason why these parts are unusable, or None."""
    share = len(parts[1]) / len(table.rows)
    if not SHARES[0] <= share <= SHARES[1]:
        return f"{share:.0%} of the rows would be for testing"
    known, asked = (part[table.target].value_counts() for part in parts)
    if goal.prediction == "number":
        return None if min(len(known), len(asked)) > 1 else "one part would have only one value of the target"
    unknown = set(asked.index) - set(known.index)
    if unknown:
        return f"the class '{min(unknown)}' would occur in the test part alone"
    if known.min() < 2:
        return f"there would be a single row of the class '{known.idxmin()}' to learn from"
    return None if len(asked) > 1 else "the test part would have only one class"


def _reason(kind: str, column: str, train: pd.DataFrame, test: pd.DataFrame, *, given: bool) -> str:
    """Return the paragraph that explains a split."""
    if kind == "time":
        asked = "as was asked for" if given else "because whoever uses a model knows only the past"
        return _reason_of_time(train[column], test[column], asked)
    groups = train[column].nunique() + test[column].nunique()
    asked = "as was asked for" if given else "because a model that has seen one of them would recognise the others"
    return (
        f"Rows with the same `{column}` stay together, {asked}: of {groups} groups, {test[column].nunique()} are in "
        "`test.csv` and in no row of `train.csv`. Validate with whole groups too."
    )


def _reason_of_time(train: pd.Series, test: pd.Series, asked: str) -> str:
    import numpy as np
    import pandas as pd

    from podium.data.split import time_values

    cells = pd.concat([train, test])  # parsed together: the format of some cells may be ambiguous
    values = time_values(cells)
    latest, unknown = values[len(train) :], int(np.isnan(values).sum())
    first, last = (_written(end, time_format(cells)) for end in (latest.min(), latest.max()))
    others = f", as are {plural(unknown, 'row')} without a time" if unknown else ""
    return (
        f"Test rows are the latest, {asked}: `{train.name}` is from {first} to {last} there. Earlier rows are in "
        f"`train.csv`{others}. A model that is validated on random rows looks better than it is."
    )


def _written(value: np.floating, as_time: str | None) -> str:
    return datetime.fromtimestamp(float(value), UTC).strftime("%Y-%m-%d") if as_time else f"{value:.10g}"
