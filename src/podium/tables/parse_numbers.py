"""Texts as numbers, whoever wrote them.

Where an exponent has ten digits or more, as in `1e2147483648` and in some hashes, pandas before release 3 reads memory
that is not its own, and the process dies. So a cell is looked at before pandas reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_HUGE_EXPONENT = r"[eE][+-]?\d{5}"


def has_huge_exponent(cells: pd.Series) -> pd.Series:
    """Which texts pandas must not read as numbers; it could not anyway."""
    found: pd.Series = cells.str.contains(_HUGE_EXPONENT, na=False)
    return found


def to_numbers(cells: pd.Series) -> pd.Series:
    """Cells as numbers; NaN where a cell is none."""
    import pandas as pd

    if cells.dtype == object:
        cells = cells.mask(has_huge_exponent(cells))
    return pd.to_numeric(cells, errors="coerce")
