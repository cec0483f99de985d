"""Repair of malformed numbers: decimal commas, single odd cells, classes such as 2.0."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from podium.catalog.authoring.choose_goal import CLASSES_OF_NUMBERS, MIN_NUMERIC_SHARE, infer_prediction
from podium.catalog.authoring.column_roles import IDENTIFIERS, split_words
from podium.data.columns import BLANK
from podium.tables.parse_numbers import to_numbers

if TYPE_CHECKING:
    import pandas as pd

MAX_ODD_TEXTS = 3
"""Maximum number of different texts among numbers that count as typos or missing values; with more, they are codes."""
MAX_EXACT_INTEGER = 2**53


def with_decimal_points(rows: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return the rows with decimal points instead of commas; columns with only numbers such as 1,250 are ambiguous."""
    converted = [str(name) for name in rows if _has_decimal_commas(rows[name])]
    if not converted:
        return rows
    notes.append(f"Written with a decimal comma, and read as numbers: {', '.join(converted)}.")
    rows = rows.copy()
    for name in converted:
        rows[name] = rows[name].str.replace(",", ".")
    return rows


def _has_decimal_commas(cells: pd.Series) -> bool:
    present = cells[~cells.isin(BLANK)]
    if not present.str.contains(",", regex=False).any() or present.nunique() <= CLASSES_OF_NUMBERS:
        return False
    decimals = present.str.extract(r"^[+-]?\d+(?:,(\d+))?$")[0].dropna()
    return bool(present.str.fullmatch(r"[+-]?\d+(,\d+)?").all() and (decimals.str.len() != 3).any())


def without_odd_cells(rows: pd.DataFrame, kept: Collection[str], notes: list[str]) -> pd.DataFrame:
    """Return the rows with blanks for single non-numeric cells, such as question marks, in numeric columns.

    Args:
        kept: Columns that are not changed.
    """
    rows, blanked = rows.copy(), []
    for name in (str(name) for name in rows if name not in kept and not IDENTIFIERS & set(split_words(str(name)))):
        present, numbers = ~rows[name].isin(BLANK), to_numbers(rows[name])
        odd = present & ~numbers.abs().lt(float("inf"))
        texts = rows[name][odd].unique()
        meant = odd.sum() <= (1 - MIN_NUMERIC_SHARE) * present.sum() and numbers.nunique() > CLASSES_OF_NUMBERS
        if meant and 0 < len(texts) <= MAX_ODD_TEXTS:
            rows[name] = rows[name].mask(odd, "")
            blanked.append(f"{odd.sum()} of '{name}' ('{texts[0]}')")
    if blanked:
        notes.append(f"Made blank: cells beside numbers that are none, {', '.join(blanked)}.")
    return rows


def with_whole_classes(rows: pd.DataFrame, target: str, metric: str | None, notes: list[str]) -> pd.DataFrame:
    """Return the rows with classes 1 and 2 instead of 1.0 and 2.0, which pandas writes next to blank cells."""
    numbers = to_numbers(rows[target])
    written_so = rows[target].str.contains(".", regex=False).any()
    whole = bool((numbers % 1 == 0).all()) and numbers.abs().max() < MAX_EXACT_INTEGER
    if not written_so or not whole or infer_prediction(rows[target], metric) == "number":
        return rows
    notes.append(f"The classes of '{target}' are written as whole numbers: 1, not 1.0.")
    rows = rows.copy()
    rows[target] = numbers.astype("int64").astype(str)
    return rows
