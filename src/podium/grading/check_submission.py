"""Validation and alignment: checks a submission's rows and cells and brings them into the order of the answers.

All messages about ids and cells are worded here, once: they name the column, the row (counted from 1 below the
header) and the id, and the expected value.
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

MAX_EXAMPLES = 3
MAX_EXACT_INTEGER = 2**53
"""Largest magnitude up to which floating-point numbers represent all integers exactly."""

Refuse = Callable[[np.ndarray, str], None]
"""Callback that raises InvalidSubmission if any cell is marked as wrong, naming the first one."""

_BETWEEN_IDS = "\0"
"""Separator between the ids of a row: no CSV can hold it, so ("a", "b c") and ("a b", "c") stay distinct."""
_TRUE, _FALSE = {"true", "1", "1.0", "t"}, {"false", "0", "0.0", "f"}

_MISSING = ("id is missing", "ids are missing")
_UNKNOWN = ("id is unknown", "ids are unknown")
_REPEATED = ("id occurs more than once", "ids occur more than once")
_TOO_FEW = ("id is missing or occurs too few times", "ids are missing or occur too few times")
_TOO_MANY = ("id occurs too many times", "ids occur too many times")


def align(table: pd.DataFrame, form: Columns, ids: pd.DataFrame) -> pd.DataFrame:
    """Return the submission's rows in the order of `ids`, with their cells checked and converted.

    Args:
        ids: the id columns of the answers or of the sample submission, as text.
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
    # One `concat`: pandas warns about fragmentation after a hundred single inserts.
    cells = {name: convert(ordered[name], form.rule(name), name, rows) for name in form.targets}
    aligned = pd.concat([ids.reset_index(drop=True), pd.DataFrame(cells)], axis=1)
    _check_totals(aligned, form, rows)
    return aligned


def _align_by_position(table: pd.DataFrame, form: Columns, expected: int) -> pd.DataFrame:
    if len(table) != expected:
        raise InvalidSubmission(
            f"The submission has {len(table):,} rows; {expected:,} are expected, in the order of the test data."
        )
    return pd.DataFrame({name: convert(table[name], form.rule(name), name) for name in form.targets})


@dataclass(frozen=True)
class _Rows:
    """Positions and ids of aligned rows in the submission file, for messages."""

    order: np.ndarray
    names: np.ndarray
    """Id of each row of the file."""

    def describe(self, position: int) -> str:
        row = int(self.order[position])
        return f"row {row + 1} (id {clip(_name(self.names[row]))})"


def convert(values: pd.Series, rule: Values, column: str, rows: _Rows | None = None) -> np.ndarray:
    """Return the cells of a column as an array; raise InvalidSubmission for the first cell that breaks the rule."""

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
    """Return the numbers in the scored rows, one column per target; cells in other rows may be blank, these may not."""
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
    refuse(np.abs(numbers) > MAX_EXACT_INTEGER, "is too large; a whole number below 2^53 is expected")
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
        refuse(~texts.isin(rule.choices).to_numpy(), f"is not one of {list_some(list(rule.choices), 8)}")
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
            f"{rows.describe(first).capitalize()}: the columns {list_some(list(form.targets), 4)} add up to "
            f"{totals[first]:.6g} instead of {form.row_total:g}{others}."
        )


def _times(wanted: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return the positions of the expected ids, each repeated as often as in the submission, and at least once."""
    places = pd.Index(wanted).get_indexer(pd.Index(found))
    times = np.bincount(places[places >= 0], minlength=len(wanted))
    return np.repeat(np.arange(len(wanted)), np.maximum(times, 1))


def _keys(table: pd.DataFrame, form: Columns, whole: set[str]) -> np.ndarray:
    """Return one comparable key per row; the columns named in `whole` compare as integers, so that 007 equals 7."""
    columns = [_key_column(table[name], whole=name in whole) for name in form.ids]
    if len(columns) == 1:
        return columns[0]
    texts = (map(str, column.tolist()) for column in columns)
    return np.array([_BETWEEN_IDS.join(row) for row in zip(*texts, strict=True)], dtype=object)


def _key_column(values: pd.Series, *, whole: bool) -> np.ndarray:
    if not whole:
        return values.astype(str).to_numpy(object)
    numbers = to_numbers(values).to_numpy(np.float64)
    exact = (np.abs(numbers) < MAX_EXACT_INTEGER) & (numbers == np.round(numbers))
    if exact.all():
        return numbers.astype(np.int64)
    keys = values.astype(str).to_numpy(object)
    keys[exact] = numbers[exact].astype(np.int64)
    return keys


def _whole_numbers(reference: pd.Series) -> bool:
    """Return whether every id is an integer and different ids are different numbers."""
    texts = reference.astype(str)
    for part in (texts.head(100), texts):  # ids that are not numbers usually show it in the first rows
        if not part.str.fullmatch(r"-?\d{1,15}").all():
            return False
    return bool(texts.astype(np.int64).nunique() == texts.nunique())


def _order(wanted: np.ndarray, found: np.ndarray, form: Columns) -> np.ndarray:
    """Return the row of each expected id; an id that is expected several times takes its rows in order."""
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
    """Return keys made unique by the number of earlier occurrences."""
    turn = pd.Series(np.zeros(len(keys))).groupby(keys.to_numpy()).cumcount()
    return pd.MultiIndex.from_arrays([keys.to_numpy(), turn.to_numpy()])


def _refuse_ids(target: pd.Index, source: pd.Index, form: Columns) -> None:
    may_repeat = isinstance(target, pd.MultiIndex)
    wanted, found = (keys.get_level_values(0) if may_repeat else keys for keys in (target, source))
    known = found.isin(wanted)
    missing = wanted[~target.isin(source)].unique()
    unknown = found[~known].unique()
    surplus = found[known & (source.duplicated() | ~source.isin(target))].unique()
    problems = [
        f"{len(keys)} {singular if len(keys) == 1 else plural} ({list_some(_names(keys), MAX_EXAMPLES)})"
        for keys, (singular, plural) in (
            (missing, _TOO_FEW if may_repeat else _MISSING),
            (unknown, _UNKNOWN),
            (surplus, _TOO_MANY if may_repeat else _REPEATED),
        )
        if len(keys)
    ]
    if problems:
        column = " + ".join(f"'{name}'" for name in form.ids)
        rule = "rows are expected, some ids several times" if may_repeat else "ids are expected, each once"
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
    """Return an id as it is shown in messages."""
    return str(key).replace(_BETWEEN_IDS, " / ") or "''"


def list_some(names: list[str], max_names: int) -> str:
    """Return the first names, separated by commas, and the number of the others."""
    more = f", … {len(names) - max_names} more" if len(names) > max_names else ""
    return ", ".join(clip(name) for name in names[:max_names]) + more


def name_rows(ids: pd.DataFrame) -> list[str]:
    """Return the name of each row in messages: the word id and its ids."""
    return ["id " + ", ".join(map(str, row)) for row in ids.itertuples(index=False)]


def clip(text: str, max_characters: int = 60) -> str:
    """Return a text fit for a message: shortened, without line breaks or control characters."""
    start = text[: max_characters + 1]
    printable = start if start.isprintable() else start.encode("unicode_escape").decode()
    return printable if len(printable) <= max_characters else printable[: max_characters - 3] + "…"


def too_large(name: str, size_bytes: int, max_bytes: int) -> InvalidSubmission:
    """Return the error for a file that is larger than the limit."""
    return InvalidSubmission(f"{name} has {size_bytes:,} bytes; at most {max_bytes:,} are read for this task.")


def _quote(cell: object) -> str:
    if isinstance(cell, str):
        return f"'{clip(cell)}'" if cell.strip() else "the cell"
    return "the cell" if cell != cell else f"{cell}"
