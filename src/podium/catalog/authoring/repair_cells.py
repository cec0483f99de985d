"""Cells that mean a number and are not written as one: decimal commas, single odd cells, classes such as 2.0."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from podium.catalog.authoring.choose_goal import CLASSES_OF_NUMBERS, MOSTLY, predicted
from podium.catalog.authoring.column_roles import IDENTIFIERS, words_of
from podium.data.columns import BLANK
from podium.tables.parse_numbers import to_numbers

if TYPE_CHECKING:
    import pandas as pd

MOST_ODD = 3
"""Different texts among numbers that are slips or signs for unknown; with more, the column holds codes."""
LARGEST_WHOLE = 2**53


def with_decimal_points(rows: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Numbers such as 12,5 with a point; those such as 1,250 alone could be thousands, and stay."""
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
    """Columns of numbers with blanks for single cells that are none, such as a question mark.

    Args:
        kept: columns that stay as they are.
    """
    rows, blanked = rows.copy(), []
    for name in (str(name) for name in rows if name not in kept and not IDENTIFIERS & set(words_of(str(name)))):
        present, numbers = ~rows[name].isin(BLANK), to_numbers(rows[name])
        odd = present & ~numbers.abs().lt(float("inf"))
        texts = rows[name][odd].unique()
        meant = odd.sum() <= (1 - MOSTLY) * present.sum() and numbers.nunique() > CLASSES_OF_NUMBERS
        if meant and 0 < len(texts) <= MOST_ODD:
            rows[name] = rows[name].mask(odd, "")
            blanked.append(f"{odd.sum()} of '{name}' ('{texts[0]}')")
    if blanked:
        notes.append(f"Made blank: cells beside numbers that are none, {', '.join(blanked)}.")
    return rows


def with_whole_classes(rows: pd.DataFrame, target: str, metric: str | None, notes: list[str]) -> pd.DataFrame:
    """Classes such as 1.0 and 2.0, which pandas makes of whole numbers beside blank cells, as 1 and 2."""
    numbers = to_numbers(rows[target])
    written_so = rows[target].str.contains(".", regex=False).any()
    whole = bool((numbers % 1 == 0).all()) and numbers.abs().max() < LARGEST_WHOLE
    if not written_so or not whole or predicted(rows[target], metric) == "number":
        return rows
    notes.append(f"The classes of '{target}' are written as whole numbers: 1, not 1.0.")
    rows = rows.copy()
    rows[target] = numbers.astype("int64").astype(str)
    return rows
