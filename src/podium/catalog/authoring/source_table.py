"""Cleaned source table of a new task; unusable rows and columns are left out with a note, or refused."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from podium.catalog.authoring.choose_goal import (
    MIN_CLASS_ROWS,
    SubmissionGoal,
    choose_goal,
    choose_target,
    rare_classes,
)
from podium.catalog.authoring.column_roles import is_counter, is_group, is_id
from podium.catalog.authoring.repair_cells import with_decimal_points, with_whole_classes, without_odd_cells
from podium.data.columns import BLANK, Column, count_possible_rows, describe_column
from podium.errors import UsageError
from podium.tables.parse_numbers import to_numbers
from podium.text import plural

if TYPE_CHECKING:
    import pandas as pd

MIN_ROWS = 50
SHUFFLE_SEED = 0
POSSIBLE_PER_ROW = 5e3
"""Minimum number of possible distinct rows per row for equal rows to count as duplicates and not as coincidence."""
MAX_TELLING_VALUES = 30
"""Maximum number of values of a column that counts as a copy of the target; with more, it can be chance."""


@dataclass(frozen=True)
class Table:
    """Rows of text with an id and a target."""

    rows: pd.DataFrame
    id: str
    target: str
    new_id: bool
    """True if the ids were added."""
    notes: tuple[str, ...] = ()
    """Notes for the user on data that was left out or changed."""

    def columns(self, *, classes: bool) -> list[Column]:
        """Describe each column; `classes` marks a target of classes, which its values alone do not show."""
        columns = [describe_column(self.rows[name], classes=classes and name == self.target) for name in self.rows]
        return [Column(column.name, "id") if column.name == self.id else column for column in columns]


def clean_table(
    cells: pd.DataFrame,
    path: Path,
    *,
    target: str | None,
    metric: str | None,
    id_column: str | None,
    split_by: Sequence[str] = (),
    new_ids: bool = False,
) -> tuple[Table, SubmissionGoal]:
    """Return the usable rows, and the goal of the task.

    Args:
        split_by: Columns that are kept for the split, even if they give the target away.
        new_ids: True to create new ids even if a column could serve as ids.

    Raises:
        UsageError: No task can be made of it; the message says why.
    """
    _check_names(cells, path, target=target, id_column=id_column, split_by=split_by)
    notes: list[str] = []
    named = [name for name in (target, id_column, *split_by) if name]
    cells = _without_counters(with_decimal_points(cells, notes), named, notes)
    chosen = target or choose_target(cells.drop(columns=named), metric)
    if target is None:
        notes.append(f"No target was named; '{chosen}' was chosen.")
    rows = cells[~cells[chosen].isin(BLANK)].reset_index(drop=True)
    if len(rows) < len(cells):
        notes.append(f"Left out: {plural(len(cells) - len(rows), 'row')} without '{chosen}'.")
    rows = without_odd_cells(rows, [chosen, *named], notes)
    rows, goal = _learnable(rows, chosen, metric, path, notes)
    rows = _without_copies_of_target(rows, chosen, goal, notes, kept=named, groups_stay=True)
    different = _without_repeated(rows, chosen, id_column, notes)
    if len(different) < len(rows):
        rows, goal = _learnable(different, chosen, metric, path, notes, kind="different rows")
    table = _with_id(Table(rows, id_column or "", chosen, id_column is None), path, None if new_ids else named)
    return replace(table, notes=tuple(notes)), goal


def without_telling_groups(table: Table, goal: SubmissionGoal, kept: Collection[str]) -> Table:
    """Return the table without group columns that give the target away, except those used for the split."""
    notes: list[str] = []
    rows = _without_copies_of_target(table.rows, table.target, goal, notes, kept=[table.id, *kept])
    return replace(table, rows=rows, notes=(*table.notes, *notes))


def check_features(table: Table, path: Path) -> None:
    """Raise UsageError if there are no feature columns."""
    if set(table.rows.columns) == {table.id, table.target}:
        raise UsageError(f"{path} has no columns from which '{table.target}' could be predicted.")


def _check_names(
    cells: pd.DataFrame, path: Path, *, target: str | None, id_column: str | None, split_by: Sequence[str]
) -> None:
    header = [str(name) for name in cells]
    for name in filter(None, (target, id_column)):
        if name not in header:
            close = get_close_matches(name, header, n=1)
            hint = f"Did you mean '{close[0]}'? " if close else ""
            raise UsageError(f"{path} has no column '{name}'. {hint}The columns are: {', '.join(header)}")
        if name in split_by:
            raise UsageError(
                f"Rows cannot be split by '{name}', which is also --target or --id. Choose another column."
            )
    if target and target == id_column:
        raise UsageError(f"'{target}' is both --target and --id. Choose different columns.")


def _without_counters(cells: pd.DataFrame, named: Collection[str], notes: list[str]) -> pd.DataFrame:
    """Return the cells without row counters, which reveal the order of the file, often sorted by the answers."""
    counters = [str(name) for name in cells if name not in named and is_counter(cells[name])]
    if "" in cells and "" not in counters:  # names of rows, as R and pandas write them
        cells = cells.rename(columns={"": next(name for name in ("name", "row_name", "key") if name not in cells)})
    notes += [f"Left out: the column '{name}', which numbers the rows of the file." for name in counters]
    return cells.drop(columns=counters)


def _learnable(
    rows: pd.DataFrame, target: str, metric: str | None, path: Path, notes: list[str], *, kind: str = "rows"
) -> tuple[pd.DataFrame, SubmissionGoal]:
    """Return the rows without classes that are too rare to be learnt, and the goal of the task.

    Raises:
        UsageError: There are too few rows, or nothing can be predicted.
    """
    if len(rows) < MIN_ROWS:
        raise UsageError(f"{path} has {len(rows)} {kind} with a '{target}'; a task needs at least {MIN_ROWS}.")
    rows = with_whole_classes(rows, target, metric, notes)
    rare = rare_classes(rows[target], metric)
    if rare:
        notes.append(f"Left out: classes with fewer than {MIN_CLASS_ROWS} rows ({', '.join(rare)}).")
        rows = rows[~rows[target].isin(rare)].reset_index(drop=True)
    return rows, choose_goal(rows[target], metric)


def _without_copies_of_target(
    rows: pd.DataFrame,
    target: str,
    goal: SubmissionGoal,
    notes: list[str],
    *,
    kept: Collection[str],
    groups_stay: bool = False,
) -> pd.DataFrame:
    """Return the rows without columns that are equivalent to the target.

    Args:
        groups_stay: True to keep groups of one class each, which may be needed for a split by group.
    """
    tells = _is_linear if goal.prediction == "number" else _tells
    same = [
        name
        for name in map(str, rows)
        if name != target
        and name not in kept
        and tells(rows[name], rows[target])
        and not (groups_stay and is_group(rows, name, target))
    ]
    if same:
        notes.append(f"Left out: columns that give '{target}' away ({', '.join(same)}).")
    return rows.drop(columns=same)


def _is_linear(column: pd.Series, target: pd.Series) -> bool:
    """Return whether a numeric column is a linear function of the target."""
    numbers = to_numbers(column)
    return bool(numbers.notna().all() and numbers.nunique() > 2 and abs(numbers.corr(to_numbers(target))) > 1 - 1e-9)


def _tells(column: pd.Series, target: pd.Series) -> bool:
    """Return whether each value of a column with few values belongs to one class."""
    import pandas as pd

    values = column.nunique()
    return 1 < values <= MAX_TELLING_VALUES and values == len(pd.concat([column, target], axis=1).drop_duplicates())


def _without_repeated(rows: pd.DataFrame, target: str, id_column: str | None, notes: list[str]) -> pd.DataFrame:
    """Return the rows without duplicates in all columns but the target, which could end up in both parts."""
    facts = [name for name in rows if name not in (target, id_column) and not is_id(rows[name])]
    again = rows.duplicated(facts) if facts else rows[target].isna()
    if not again.any():
        return rows
    if count_possible_rows(rows[facts]) <= POSSIBLE_PER_ROW * len(rows):
        notes.append("Many rows look alike, because the columns hold few values: all of them were kept.")
        return rows
    notes.append(
        f"Left out: {plural(int(again.sum()), 'duplicate')} of other rows, alike in all columns but the target."
    )
    return rows[~again].reset_index(drop=True)


def _with_id(table: Table, path: Path, named: Collection[str] | None) -> Table:
    """Return the table with the requested, a detected or a new id column.

    Args:
        named: Columns with another role; None to create new ids.
    """
    rows = table.rows
    if table.id:
        _check_id(rows[table.id], path)
        return table
    others = [] if named is None else [str(name) for name in rows if name not in (table.target, *named)]
    found = next((name for name in others if is_id(rows[name])), None)
    if found:
        return replace(table, id=found, new_id=False)
    rows = _with_ids(rows)
    return replace(table, rows=rows, id=str(rows.columns[0]))


def _check_id(ids: pd.Series, path: Path) -> None:
    if ids.isin(BLANK).any():
        raise UsageError(f"{path}: the id column '{ids.name}' has blank cells. Leave out --id to get new ids.")
    if not ids.is_unique:
        repeated = ids[ids.duplicated()].iloc[0]
        raise UsageError(f"{path}: the id column '{ids.name}' has '{repeated}' more than once; ids are unique.")


def _with_ids(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with new ids, which do not reveal the order of the file."""
    import numpy as np

    name = next(name for name in ("id", "row_id", "podium_id") if name not in rows.columns)
    ids = np.random.default_rng(SHUFFLE_SEED).permutation(len(rows))
    rows = rows.copy()
    rows.insert(0, name, [str(number) for number in ids])
    return rows
