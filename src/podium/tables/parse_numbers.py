"""Parser for untrusted numbers in text.

If an exponent has ten digits or more, as in `1e2147483648` and in some hashes, pandas before release 3 reads out of
bounds and the process crashes. So cells are checked before pandas parses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_HUGE_EXPONENT = r"[eE][+-]?\d{5}"


def has_huge_exponent(cells: pd.Series) -> pd.Series:
    """Return a mask of the texts that crash pandas' number parser; none of them is a valid number."""
    found: pd.Series = cells.str.contains(_HUGE_EXPONENT, na=False)
    return found


def to_numbers(cells: pd.Series) -> pd.Series:
    """Return cells as numbers; NaN for cells that are not numbers."""
    import pandas as pd

    if cells.dtype == object:
        cells = cells.mask(has_huge_exponent(cells))
    return pd.to_numeric(cells, errors="coerce")
