"""Checks a submission's rows and cells against the task's form and brings them into the order of the answers.

All messages about ids and cells are worded here, once: they name the column, the row (counted from 1 below the
header) and the id, and say what would be right.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.data.pandas_dtypes import retyped
from podium.errors import InvalidSubmission
from podium.tables.parse_numbers import to_numbers
from podium.task import Boolean, Columns, Integer, Number, Text, Values

EXAMPLES = 3
LARGEST_INTEGER = 2**53
"""Beyond this, numbers read as floating point are no longer exact."""

Refuse = Callable[[np.ndarray, str], None]
"""Raises if any cell is marked as wrong, naming the first one."""

_BETWEEN_IDS = "\0"
"""Joins the ids of a row; no CSV holds it, so that ("a", "b c") and ("a b", "c") stay apart."""
_TRUE, _FALSE = {"true", "1", "1.0", "t"}, {"false", "0", "0.0", "f"}


def align(table: pd.DataFrame, form: Columns, ids: pd.DataFrame) -> pd.DataFrame:
    """The submission's rows in the order of `ids`, their cells checked and converted.

    Args:
        ids: the id columns as they stand in the answers or in the sample submission, as text.
    """
    if not form.ids:
        return _align_by_position(table, form, len(ids))
    whole = {name for name in form.ids if _whole_numbers(ids[name])}
    found, wanted = _keys(table, form, whole), _keys(ids, form, whole)
    if form.missing_rows:
        there = pd.Index(wanted).isin(found)
        ids, wanted = ids[there], wanted[there]
    if form.repeated_rows:
        times = _times(wanted, found)
        ids, wanted = ids.iloc[times], wanted[times]
    rows = _Rows(order=_order(wanted, found, form), names=found)
    ordered = table.iloc[rows.order].reset_index(drop=True)
    # All at once: pandas complains about more than a hundred columns that came one by one.
    cells = {name: convert(ordered[name], form.rule(name), name, rows) for name in form.targets}
    aligned = pd.concat([ids.reset_index(drop=True), pd.DataFrame(cells)], axis=1)
    _check_totals(aligned, form, rows)
    return aligned


def _align_by_position(table: pd.DataFrame, form: Columns, expected: int) -> pd.DataFrame:
    if len(table) != expected:
        raise InvalidSubmission(f"{expected} rows are expected, in the order of the test data; there are {len(table)}.")
    return pd.DataFrame({name: convert(table[name], form.rule(name), name) for name in form.targets})


@dataclass(frozen=True)
class _Rows:
    """Where aligned rows stand in the file, for messages."""

    order: np.ndarray
    names: np.ndarray
    """The id of each row of the file."""

    def describe(self, position: int) -> str:
        row = int(self.order[position])
        return f"row {row + 1} (id {clip(_name(self.names[row]))})"


def convert(values: pd.Series, rule: Values, column: str, rows: _Rows | None = None) -> np.ndarray:
    """The cells of a column as the array its rule stands for; raises at the first cell that breaks the rule."""

    def refuse(wrong: np.ndarray, what: str) -> None:
        if wrong.any():
            first = int(np.argmax(wrong))
            where = rows.describe(first) if rows else f"row {first + 1}"
            others = f" ({int(wrong.sum())} such cells)" if wrong.sum() > 1 else ""
            raise InvalidSubmission(f"Column '{column}', {where}: {_quote(values.iloc[first])} {what}{others}.")

    match rule:
        case Number():
            return _numbers(values, rule, refuse)
        case Integer():
            return _integers(values, rule, refuse)
        case Boolean():
            return _booleans(values, refuse)
        case Text():
            return _texts(values, rule, refuse)


def scored_cells(submission: pd.DataFrame, scored: np.ndarray, columns: list[str], id: str) -> np.ndarray:  # noqa: A002
    """The numbers in the scored rows, a column each, where others may be blank; none of these may."""
    rows = submission[scored]
    for column in columns:
        blank = rows.loc[rows[column].isna(), id]
        if len(blank):
            others = f" ({len(blank)} such cells)" if len(blank) > 1 else ""
            raise InvalidSubmission(f"Column '{column}', id {blank.iloc[0]}: a scored cell is blank{others}.")
    return rows[columns].to_numpy(np.float64)


def _numbers(values: pd.Series, rule: Number | Integer, refuse: Refuse) -> np.ndarray:
    numbers = to_numbers(values).to_numpy(np.float64)
    blank = _is_blank(values) if values.dtype == object else np.isnan(numbers)
    if not (isinstance(rule, Number) and rule.blank):
        refuse(blank, "is blank; a number is expected")
    refuse(np.isnan(numbers) & ~blank, "is not a number")
    refuse(np.isinf(numbers), "is infinite; a finite number is expected")
    if rule.low is not None:
        refuse(numbers < rule.low, f"is below {rule.low:.15g}, the smallest value allowed")
    if rule.high is not None:
        refuse(numbers > rule.high, f"is above {rule.high:.15g}, the largest value allowed")
    return numbers


def _integers(values: pd.Series, rule: Integer, refuse: Refuse) -> np.ndarray:
    numbers = _numbers(values, rule, refuse)
    numbers = np.trunc(numbers) if rule.cut else numbers
    refuse(np.abs(numbers) > LARGEST_INTEGER, "is too large; a whole number below 2^53 is expected")
    refuse(numbers != np.round(numbers), "is not a whole number")
    return numbers.astype(np.int64)


def _booleans(values: pd.Series, refuse: Refuse) -> np.ndarray:
    texts = values.astype(str).str.strip().str.lower()
    refuse(_is_blank(texts), "is blank; True or False is expected")
    true = texts.isin(_TRUE).to_numpy()
    refuse(~(true | texts.isin(_FALSE).to_numpy()), "is neither True nor False")
    return true


def _texts(values: pd.Series, rule: Text, refuse: Refuse) -> np.ndarray:
    texts = values.astype(str).mask(values.isna(), "") if values.dtype != object else values
    texts = retyped(texts) if rule.retyped else texts
    texts = texts.replace("", rule.empty) if rule.empty else texts
    if not rule.blank:
        refuse(_is_blank(texts), "is blank; a text is expected")
    if rule.choices is not None:
        refuse(~texts.isin(rule.choices).to_numpy(), f"is not one of {some(list(rule.choices), 8)}")
    return texts.to_numpy(object)


def _is_blank(texts: pd.Series) -> np.ndarray:
    return texts.str.strip().eq("").to_numpy()


def _check_totals(aligned: pd.DataFrame, form: Columns, rows: _Rows) -> None:
    if form.row_total is None:
        return
    with np.errstate(over="ignore"):
        totals = aligned[list(form.targets)].to_numpy(np.float64).sum(axis=1)
    wrong = np.abs(totals - form.row_total) > form.row_tolerance
    if wrong.any():
        first = int(np.argmax(wrong))
        others = f" ({int(wrong.sum())} such rows)" if wrong.sum() > 1 else ""
        raise InvalidSubmission(
            f"{rows.describe(first).capitalize()}: the columns {some(list(form.targets), 4)} add up to "
            f"{totals[first]:.6g} instead of {form.row_total:g}{others}."
        )


def _times(wanted: np.ndarray, found: np.ndarray) -> np.ndarray:
    """The positions of the wanted ids, each as often as the submission has it, and at least once."""
    places = pd.Index(wanted).get_indexer(pd.Index(found))
    times = np.bincount(places[places >= 0], minlength=len(wanted))
    return np.repeat(np.arange(len(wanted)), np.maximum(times, 1))


def _keys(table: pd.DataFrame, form: Columns, whole: set[str]) -> np.ndarray:
    """One comparable key per row. The columns named in `whole` compare as whole numbers: 007 is 7."""
    columns = [_key_column(table[name], whole=name in whole) for name in form.ids]
    if len(columns) == 1:
        return columns[0]
    texts = (map(str, column.tolist()) for column in columns)
    return np.array([_BETWEEN_IDS.join(row) for row in zip(*texts, strict=True)], dtype=object)


def _key_column(values: pd.Series, *, whole: bool) -> np.ndarray:
    if not whole:
        return values.astype(str).to_numpy(object)
    numbers = to_numbers(values).to_numpy(np.float64)
    exact = (np.abs(numbers) < LARGEST_INTEGER) & (numbers == np.round(numbers))
    if exact.all():
        return numbers.astype(np.int64)
    keys = values.astype(str).to_numpy(object)
    keys[exact] = numbers[exact].astype(np.int64)
    return keys


def _whole_numbers(reference: pd.Series) -> bool:
    """Whether every id is a whole number, and different ids are different numbers."""
    texts = reference.astype(str)
    for part in (texts.head(100), texts):  # most ids that are not numbers show it at once
        if not part.str.fullmatch(r"-?\d{1,15}").all():
            return False
    return bool(texts.astype(np.int64).nunique() == texts.nunique())


def _order(wanted: np.ndarray, found: np.ndarray, form: Columns) -> np.ndarray:
    """For each wanted id the row that holds it; an id that is wanted several times takes its rows in turn."""
    if len(wanted) == len(found) and wanted.dtype == found.dtype and bool(np.all(wanted == found)):
        return np.arange(len(found))
    target, source = pd.Index(wanted), pd.Index(found)
    if not target.is_unique:
        target, source = _numbered(target), _numbered(source)
    places = target.get_indexer(source)
    rows = np.flatnonzero(places >= 0)
    if (len(rows) < len(source) and not form.extra_rows) or not _each_once(places[rows], len(target)):
        _refuse_ids(target, source[rows] if form.extra_rows else source, form)
    order = np.empty(len(target), dtype=np.int64)
    order[places[rows]] = rows
    return order


def _each_once(places: np.ndarray, count: int) -> bool:
    return len(places) == count and bool(np.all(np.bincount(places, minlength=count) == 1))


def _numbered(keys: pd.Index) -> pd.Index:
    """Keys made unique by how often each has occurred before."""
    turn = pd.Series(np.zeros(len(keys))).groupby(keys.to_numpy()).cumcount()
    return pd.MultiIndex.from_arrays([keys.to_numpy(), turn.to_numpy()])


def _refuse_ids(target: pd.Index, source: pd.Index, form: Columns) -> None:
    numbered = isinstance(target, pd.MultiIndex)
    wanted, found = (keys.get_level_values(0) if numbered else keys for keys in (target, source))
    known = found.isin(wanted)
    missing = wanted[~target.isin(source)].unique()
    unknown = found[~known].unique()
    surplus = found[known & (source.duplicated() | ~source.isin(target))].unique()
    problems = [
        f"{len(keys)} {'id is' if len(keys) == 1 else 'ids are'} {what} ({some(_names(keys), EXAMPLES)})"
        for keys, what in (
            (missing, "missing or not there often enough" if numbered else "missing"),
            (unknown, "unknown"),
            (surplus, "there too often" if numbered else "there more than once"),
        )
        if len(keys)
    ]
    if problems:
        column = " + ".join(f"'{name}'" for name in form.ids)
        rule = "rows are expected, some ids several times" if numbered else "ids are expected, each once"
        close = _closest(unknown, missing)
        raise InvalidSubmission(f"Column {column}: {'; '.join(problems)}. {len(target)} {rule}.{close}")


def _closest(unknown: pd.Index, missing: pd.Index) -> str:
    if not len(unknown) or not len(missing):
        return ""
    name = clip(_name(unknown[0]))
    close = difflib.get_close_matches(name, [clip(text) for text in _names(missing[:200])], n=1, cutoff=0.75)
    return f" Did you mean {close[0]} instead of {name}?" if close else ""


def _names(keys: pd.Index) -> list[str]:
    return [_name(key) for key in keys]


def _name(key: object) -> str:
    """An id as people know it."""
    return str(key).replace(_BETWEEN_IDS, " / ") or "''"


def some(names: list[str], most: int) -> str:
    """The first few names, and how many more there are."""
    more = f", … {len(names) - most} more" if len(names) > most else ""
    return ", ".join(clip(name) for name in names[:most]) + more


def name_rows(ids: pd.DataFrame) -> list[str]:
    """What messages call each row: the word id and its ids."""
    return ["id " + ", ".join(map(str, row)) for row in ids.itertuples(index=False)]


def clip(text: str, most: int = 60) -> str:
    """A text fit for a message: not too long, without line breaks or control characters."""
    start = text[: most + 1]
    printable = start if start.isprintable() else start.encode("unicode_escape").decode()
    return printable if len(printable) <= most else printable[: most - 3] + "…"


def _quote(cell: object) -> str:
    if isinstance(cell, str):
        return f"'{clip(cell)}'" if cell.strip() else "the cell"
    return "the cell" if cell != cell else f"{cell}"
