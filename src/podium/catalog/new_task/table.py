"""The table that a new task is made from: what cannot be used is left out and told, or refused with a reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from podium.catalog.new_task.goal import FEWEST_OF_CLASS, SubmissionGoal, choose_goal, choose_target, rare_classes
from podium.data.columns import BLANK, Column, describe_column
from podium.data.numbers import to_numbers
from podium.errors import UsageError
from podium.text import plural

if TYPE_CHECKING:
    import pandas as pd

FEWEST_ROWS = 50
SHUFFLE_SEED = 0
COUNTERS = ("", "index", "rownames", "row", "obs", "unnamed: 0", "row_names", "no")
"""Names of columns that count the rows of a file, which is no fact about them."""
POSSIBLE_PER_ROW = 5e3
"""Rows that agree in all columns are one row written twice only where so many times more different rows could occur."""
MOST_TELLING = 30
"""Values that a column may have to be taken for the target in other words; with more, agreement can be chance."""


@dataclass(frozen=True)
class Table:
    """Rows as texts, with an id and a target in each."""

    rows: pd.DataFrame
    id: str
    target: str
    new_id: bool
    """Whether the ids were added here."""
    notes: tuple[str, ...] = ()
    """What was left out, and other things that somebody who knows the file would want to know."""

    def columns(self, *, classes: bool) -> list[Column]:
        """What each column holds; whether the target holds classes cannot be told from its values alone."""
        columns = [describe_column(self.rows[name], classes=classes and name == self.target) for name in self.rows]
        return [Column(column.name, "id") if column.name == self.id else column for column in columns]


def clean_table(
    cells: pd.DataFrame, path: Path, *, target: str | None, metric: str | None, id_column: str | None
) -> tuple[Table, SubmissionGoal]:
    """The rows that can be used, and what is predicted of them.

    Raises:
        UsageError: no task can be made of it; says why.
    """
    _check_names(cells, path, target=target, id_column=id_column)
    cells, notes = _without_counters(cells, target, id_column)
    chosen = target or choose_target(cells.drop(columns=id_column or []), metric)
    if target is None:
        notes.append(f"No target was named; '{chosen}' was chosen.")
    rows = cells[~cells[chosen].isin(BLANK)].reset_index(drop=True)
    if len(rows) < len(cells):
        notes.append(f"Left out: {plural(len(cells) - len(rows), 'row')} without '{chosen}'.")
    if len(rows) < FEWEST_ROWS:
        raise UsageError(f"{path} has {len(rows)} rows with a '{chosen}'; a task needs at least {FEWEST_ROWS}.")
    rare = rare_classes(rows[chosen], metric)
    if rare:
        notes.append(f"Left out: classes with fewer than {FEWEST_OF_CLASS} rows ({', '.join(rare)}).")
        rows = rows[~rows[chosen].isin(rare)].reset_index(drop=True)
    goal = choose_goal(rows[chosen], metric)
    rows = _without_copies_of_target(rows, chosen, goal, notes)
    rows = _without_repeated(rows, chosen, id_column, notes)
    table = _with_id(Table(rows, id_column or "", chosen, id_column is None), path)
    if set(table.rows.columns) == {table.id, chosen}:
        raise UsageError(f"{path} has no columns besides '{chosen}' to predict it from.")
    return replace(table, notes=tuple(notes)), goal


def _check_names(cells: pd.DataFrame, path: Path, *, target: str | None, id_column: str | None) -> None:
    header = [str(name) for name in cells]
    for name in filter(None, (target, id_column)):
        if name not in header:
            close = get_close_matches(name, header, n=1)
            hint = f"Did you mean '{close[0]}'? " if close else ""
            raise UsageError(f"{path} has no column '{name}'. {hint}It has: {', '.join(header)}")
    if target and target == id_column:
        raise UsageError(f"'{target}' is both --target and --id; they are different columns.")


def _without_counters(cells: pd.DataFrame, target: str | None, id_column: str | None) -> tuple[pd.DataFrame, list[str]]:
    """Without columns that number the rows: they tell the order of the file, often sorted by the answers."""
    kept = (target, id_column)
    counters = [
        str(name)
        for name in cells
        if name not in kept and (str(name).lower() in COUNTERS or _names_rows(name)) and _counts(cells[name])
    ]
    if "" in cells and "" not in counters:  # names of rows, as R and pandas write them
        cells = cells.rename(columns={"": next(name for name in ("name", "row_name", "key") if name not in cells)})
    notes = [f"Left out: the column '{name}', which numbers the rows of the file." for name in counters]
    return cells.drop(columns=counters), notes


def _counts(column: pd.Series) -> bool:
    """Whether a column says 0, 1, 2 and so on, or 1, 2, 3."""
    first = str(column.iloc[0]) if len(column) else ""
    return first in ("0", "1") and list(column) == [str(number + int(first)) for number in range(len(column))]


def _without_copies_of_target(rows: pd.DataFrame, target: str, goal: SubmissionGoal, notes: list[str]) -> pd.DataFrame:
    """Without columns that say as much as the target, in other words."""

    if goal.prediction == "number":
        numbers = rows.drop(columns=target).apply(to_numbers).dropna(axis=1)
        truth = to_numbers(rows[target])
        same = [
            str(name) for name in numbers if numbers[name].nunique() > 2 and abs(numbers[name].corr(truth)) > 1 - 1e-9
        ]
    else:
        same = [str(name) for name in rows if name != target and _tells(rows[name], rows[target])]
    if same:
        notes.append(f"Left out: columns that give '{target}' away ({', '.join(same)}).")
    return rows.drop(columns=same)


def _tells(column: pd.Series, target: pd.Series) -> bool:
    """Whether a column of few values has one class for each of them."""
    import pandas as pd

    values = column.nunique()
    return 1 < values <= MOST_TELLING and values == len(pd.concat([column, target], axis=1).drop_duplicates())


def _without_repeated(rows: pd.DataFrame, target: str, id_column: str | None, notes: list[str]) -> pd.DataFrame:
    """Without rows that agree with an earlier one in all columns but the target: the other part must not have them."""
    facts = [name for name in rows if name not in (target, id_column) and not _is_id(rows, str(name))]
    again = rows.duplicated(facts) if facts else rows[target].isna()
    if not again.any():
        return rows
    possible = 1.0
    for name in facts:
        possible *= min(rows[name].nunique(), 1e6)
    if possible <= POSSIBLE_PER_ROW * len(rows):
        notes.append("Many rows look alike, because the columns hold few values: all of them were kept.")
        return rows
    notes.append(
        f"Left out: {plural(int(again.sum()), 'duplicate')} of other rows, alike in all columns but the target."
    )
    return rows[~again].reset_index(drop=True)


def _names_rows(name: object) -> bool:
    return str(name).lower().endswith(("id", "_index"))


def _is_id(rows: pd.DataFrame, name: str) -> bool:
    """Whether a column names rows: it is called so, and no two rows share a value."""
    return _names_rows(name) and rows[name].is_unique and not rows[name].isin(BLANK).any()


def _with_id(table: Table, path: Path) -> Table:
    """The table with the id that was asked for, one that was found, or a new one."""
    rows = table.rows
    if table.id:
        _check_id(rows[table.id], path)
        return table
    found = next((str(name) for name in rows if name != table.target and _is_id(rows, str(name))), None)
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
    """The rows with new ids, which do not tell the order of the file."""
    import numpy as np

    name = next(name for name in ("id", "row_id", "podium_id") if name not in rows.columns)
    ids = np.random.default_rng(SHUFFLE_SEED).permutation(len(rows))
    rows = rows.copy()
    rows.insert(0, name, [str(number) for number in ids])
    return rows
