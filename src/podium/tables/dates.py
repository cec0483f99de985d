"""Parser for dates in many formats."""

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
"""Pattern of a date and time with a point, such as `21.47`."""
OFFSET = re.compile(r"^(.*\d[ T]\d{1,2}[:.]?\d{2}\S*?)\s*(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)\s*$")
"""Pattern of a time with a UTC offset, such as `10:30+02:00`."""
ROWS_TO_SEE = 10_000
"""Number of dates inspected to decide whether the day comes first."""
CELLS_TO_SEE = 1000
"""Number of cells sampled to decide whether a column has UTC offsets; checking all takes as long as parsing."""


def parse_dates(written: pd.Series, *, utc: bool = False) -> pd.Series:
    """Parse a column of dates; cells that are not dates become missing.

    Args:
        utc: True for points in time that can be compared, in UTC. Otherwise local times without a time zone, which
            distinguish morning from evening; UTC offsets in the cells are ignored.
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
        warnings.simplefilter("ignore", UserWarning)  # "Could not infer format"
        found: pd.Series = pd.to_datetime(written, errors="coerce", utc=utc, dayfirst=day_first)
    missed = found.isna() & written.notna()
    if missed.any() and found.dtype.kind == "M":  # from `May` in the first cell pandas infers full names of months
        left = written[missed] if utc else without_offset(written[missed])
        again = pd.to_datetime(left, errors="coerce", utc=utc, dayfirst=day_first, format="mixed")
        found = found.where(~missed, again)
    return found if utc or found.dt.tz is None else found.dt.tz_localize(None)


def without_offset(written: pd.Series) -> pd.Series:
    """Return local times without their UTC offsets."""
    return written.astype(str).str.replace(OFFSET, r"\1", regex=True).where(written.notna())


def is_day_first(written: pd.Series) -> bool:
    """Return whether dates begin with the day: always with points (`3.4.2020`), else if a first number exceeds 12."""
    parts = written.astype(str).str.extract(r"^\s*(\d{1,2})([./])\d{1,2}\2\d")
    return bool((parts[1] == ".").any() or (parts[0].astype(float) > 12).any())
