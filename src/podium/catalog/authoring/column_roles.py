"""Column roles (row counter, id, group, time), inferred from names and cells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from podium.data.columns import BLANK, time_format
from podium.tables.parse_numbers import to_numbers

if TYPE_CHECKING:
    import pandas as pd

UNNAMED = ("", "unnamed: 0")
COUNTERS = (*UNNAMED, "index", "row", "obs", "no")
"""Names of columns that number the rows of a file, even if the rows were reordered since."""
ROW_NAMES = ("rownames", "row_names")
"""Names of R's row names; if they are not consecutive, they may be real ids."""
MIN_TIMES = 8
MIN_GROUPS = 8
MIN_ROWS_PER_GROUP = 1.8
"""Minimum average number of rows per group."""
MAX_ROWS_PER_GROUP = 50
"""Average number of rows per value from which a column is a known category, such as 50 states, not a group."""
TIMES = frozenset({"date", "year", "yr", "month", "week", "quarter", "period", "time"})
OF_RECORDS = frozenset({"sample", "survey", "record", "obs", "observation", "fiscal", "calendar", "sold", "sale", "of"})
"""Further words allowed in the name of a year of recording, as opposed to the year a house was built."""
BEGINNINGS = re.compile(r"birth|born|built|^dob$")
"""Parts of names of times that are not the time of recording, such as dates of birth."""
PEOPLE = frozenset({"patient", "subject", "subj", "usubj", "person", "participant", "individual", "user"})
IDENTIFIERS = PEOPLE | {"id", "ids", "code", "key"}
THINGS = IDENTIFIERS | {
    "customer", "client", "player", "speaker", "author", "family", "household", "hospital", "clinic", "school", "site",
    "plot", "batch", "device", "session", "country", "state", "county", "firm", "company", "city", "team", "store",
}  # fmt: skip
SHORT_IDS = frozenset({"pid", "sid", "uid", "uuid", "guid"})


def split_words(name: str) -> list[str]:
    """Return the words of a column's name in any spelling: `userid`, `USERID` and `UserId` have two words."""
    found = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    return [part for word in found for part in _without_id(word)]


def _without_id(word: str) -> list[str]:
    thing = word.removesuffix("id")
    return [thing, "id"] if word in SHORT_IDS or (thing != word and thing in THINGS) else [word]


def has_id_name(name: str) -> bool:
    """Return whether a column is named like an id: `tree_id` and `PassengerId`, but not `paid` and `grid`."""
    return split_words(name)[-1:] == ["id"]


def is_counter(cells: pd.Series) -> bool:
    """Return whether a column numbers the rows of the file, or of concatenated files."""
    name = str(cells.name).lower()
    if cells.empty or not cells.str.fullmatch(r"0|[1-9][0-9]{0,14}").all():
        return False
    numbers = cells.astype("int64")
    if name in COUNTERS and numbers.is_unique:
        return True
    goes_on = numbers.diff().iloc[1:] == 1
    if name in UNNAMED:
        goes_on |= numbers.iloc[1:] == numbers.iloc[0]
    elif not (name in ROW_NAMES or _may_name_rows(str(cells.name))):
        return False
    return bool(numbers.iloc[0] in (0, 1) and goes_on.all())


def is_id(cells: pd.Series) -> bool:
    """Return whether a column contains row ids: named like ids, unique, and not a measurement."""
    if not _may_name_rows(str(cells.name)) or not cells.is_unique or cells.isin(BLANK).any():
        return False
    return not (to_numbers(cells) % 1 > 0).any()


def _may_name_rows(name: str) -> bool:
    return has_id_name(name) or name.lower().endswith("_index")


def is_time(cells: pd.Series) -> bool:
    """Return whether a column contains times, by the format of its cells or, for years, also by its name."""
    name, present = str(cells.name), cells[~cells.isin(BLANK)]
    if len(present) < 0.95 * len(cells) or present.nunique() < MIN_TIMES:
        return False
    if any(BEGINNINGS.search(word) for word in split_words(name)):
        return False
    return time_format(present) is not None or (_is_year(name) and bool(to_numbers(present).between(1500, 2200).all()))


def _is_year(name: str) -> bool:
    words = set(split_words(name))
    return bool(words & TIMES) and words <= TIMES | OF_RECORDS


def is_group(rows: pd.DataFrame, name: str, target: str) -> bool:
    """Return whether a column contains groups of rows, by its name or because other columns are constant in groups."""
    present = rows[name][~rows[name].isin(BLANK)]
    groups, words = present.nunique(), set(split_words(name))
    if groups < MIN_GROUPS or len(present) < MIN_ROWS_PER_GROUP * groups:
        return False
    if words & IDENTIFIERS and present.str.contains(r"\d").all():  # numbers, or codes such as S01
        return True
    if to_numbers(present).notna().all():
        return False
    is_fine = groups > len(rows) / MAX_ROWS_PER_GROUP
    return bool(words & PEOPLE) or (is_fine and (bool(words & THINGS) or _has_facts(rows, name, target)))


def _has_facts(rows: pd.DataFrame, name: str, target: str) -> bool:
    """Return whether another column is constant within each group but differs between groups."""
    others = [str(other) for other in rows if other not in (name, target) and rows[other].nunique() > 1]
    return any(rows.groupby(name)[other].nunique().max() == 1 for other in others)
