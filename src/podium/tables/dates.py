"""Dates, in the ways people write them."""

import re
import warnings

import pandas as pd

MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
WAYS = (
    *(r"(?:1[89]|20)\d{2}-(?:0[1-9]|1[0-2])", r"\d{4}-\d{1,2}-\d{1,2}", r"\d{4}/\d{1,2}/\d{1,2}"),
    *(r"\d{1,2}/\d{1,2}/\d{2,4}", r"\d{1,2}\.\d{1,2}\.\d{4}", r"(?:19|20)\d{6}(?=T)"),
    *(r"\d{1,2}[ -]" + MONTH + r"[ -]\d{2,4}", MONTH + r" \d{1,2},? \d{4}"),
)
DATE = re.compile(rf"^\s*(?:{'|'.join(WAYS)})(?:[ T]\d{{1,2}}[:.]?\d{{2}}.*)?\s*$", re.IGNORECASE)
POINT_IN_TIME = re.compile(r"^(.*\d[ T]\d{1,2})\.(\d{2})\s*$")
"""A time such as `21.47`."""
OFFSET = re.compile(r"^(.*\d[ T]\d{1,2}[:.]?\d{2}\S*?)\s*(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)\s*$")
"""A time with its distance from UTC, such as `10:30+02:00`."""
ROWS_TO_SEE = 10_000
"""So many dates show whether the day comes first."""
CELLS_TO_SEE = 1000
"""So many, from all over a column, show whether it has offsets: to look at all takes as long as to read them."""


def parse_dates(written: pd.Series, *, utc: bool = False) -> pd.Series:
    """A column of dates; missing where a cell is not one.

    Args:
        utc: whether moments are asked for, which compare. Otherwise they are what a clock on the wall said, which tells
            morning from evening: without a time zone, whatever cells say of it and whether they all do.
    """
    known = written.dropna()
    some = known.iloc[:: max(1, len(known) // CELLS_TO_SEE)]
    if not utc and some.dtype.kind == "O" and some.astype(str).str.match(OFFSET).any():
        written = without_offset(written)
    first = str(known.iloc[0]) if len(known) else ""
    if POINT_IN_TIME.match(first):
        written = written.astype(str).str.replace(POINT_IN_TIME, r"\1:\2", regex=True)
    day_first = is_day_first(known.head(ROWS_TO_SEE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that no single format was found
        found: pd.Series = pd.to_datetime(written, errors="coerce", utc=utc, dayfirst=day_first)
    missed = found.isna() & written.notna()
    if missed.any() and found.dtype.kind == "M":  # pandas takes the `May` of a first cell for a month in full
        left = written[missed] if utc else without_offset(written[missed])
        again = pd.to_datetime(left, errors="coerce", utc=utc, dayfirst=day_first, format="mixed")
        found = found.where(~missed, again)
    return found if utc or found.dt.tz is None else found.dt.tz_localize(None)


def without_offset(written: pd.Series) -> pd.Series:
    """Times as a clock on the wall says them."""
    return written.astype(str).str.replace(OFFSET, r"\1", regex=True).where(written.notna())


def is_day_first(written: pd.Series) -> bool:
    """Whether dates such as `3.4.2020` or `3/4/2020` begin with the day: those with points do, others if some must."""
    parts = written.astype(str).str.extract(r"^\s*(\d{1,2})([./])\d{1,2}\2\d")
    return bool((parts[1] == ".").any() or (parts[0].astype(float) > 12).any())
