"""What columns are for, told by their names and cells: to number rows, to name them, to group them, or to say when."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from podium.data.columns import BLANK, time_format
from podium.tables.parse_numbers import to_numbers

if TYPE_CHECKING:
    import pandas as pd

UNNAMED = ("", "unnamed: 0")
COUNTERS = (*UNNAMED, "index", "row", "obs", "no")
"""Names of columns that number the rows of a file, which is not a fact about them, in whatever order they stand now."""
ROW_NAMES = ("rownames", "row_names")
"""What R calls them; where they do not count, they may be somebody's own numbers."""
FEWEST_TIMES = 8
FEWEST_GROUPS = 8
FEWEST_PER_GROUP = 1.8
"""Rows that a group has on average."""
ROWS_PER_GROUP = 50
"""From how many rows on a thing is a category that everybody knows, such as one of fifty states, and not a group."""
TIMES = frozenset({"date", "year", "yr", "month", "week", "quarter", "period", "time"})
OF_RECORDS = frozenset({"sample", "survey", "record", "obs", "observation", "fiscal", "calendar", "sold", "sale", "of"})
"""Words that a year's name may have besides: it is when a row was recorded, not when a house was built."""
BEGINNINGS = re.compile(r"birth|born|built|^dob$")
"""In the name of a time when somebody or something began, which says nothing of when a row was recorded."""
PEOPLE = frozenset({"patient", "subject", "subj", "usubj", "person", "participant", "individual", "user"})
IDENTIFIERS = PEOPLE | {"id", "ids", "code", "key"}
THINGS = IDENTIFIERS | {
    "customer", "client", "player", "speaker", "author", "family", "household", "hospital", "clinic", "school", "site",
    "plot", "batch", "device", "session", "country", "state", "county", "firm", "company", "city", "team", "store",
}  # fmt: skip
SHORT_IDS = frozenset({"pid", "sid", "uid", "uuid", "guid"})


def words_of(name: str) -> list[str]:
    """The words of a column's name, however it is written: `userid`, `USERID` and `UserId` have two."""
    found = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    return [part for word in found for part in _without_id(word)]


def _without_id(word: str) -> list[str]:
    thing = word.removesuffix("id")
    return [thing, "id"] if word in SHORT_IDS or (thing != word and thing in THINGS) else [word]


def is_called_id(name: str) -> bool:
    """Whether a column is called an id: `tree_id` and `PassengerId` are, `paid` and `grid` are not."""
    return words_of(name)[-1:] == ["id"]


def is_counter(cells: pd.Series) -> bool:
    """Whether a column numbers the rows of the file, or of files that were put together."""
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
    """Whether a column names rows: it is called so, no two rows share a value, and it measures nothing."""
    if not _may_name_rows(str(cells.name)) or not cells.is_unique or cells.isin(BLANK).any():
        return False
    return not (to_numbers(cells) % 1 > 0).any()


def _may_name_rows(name: str) -> bool:
    return is_called_id(name) or name.lower().endswith("_index")


def is_time(cells: pd.Series) -> bool:
    """Whether a column says when: by how its cells are written, or, for years, also by its name."""
    name, present = str(cells.name), cells[~cells.isin(BLANK)]
    if len(present) < 0.95 * len(cells) or present.nunique() < FEWEST_TIMES:
        return False
    if any(BEGINNINGS.search(word) for word in words_of(name)):
        return False
    return time_format(present) is not None or (_is_year(name) and bool(to_numbers(present).between(1500, 2200).all()))


def _is_year(name: str) -> bool:
    words = set(words_of(name))
    return bool(words & TIMES) and words <= TIMES | OF_RECORDS


def is_group(rows: pd.DataFrame, name: str, target: str) -> bool:
    """Whether a column names things with several rows each: it is called so, or other columns tell facts about them."""
    present = rows[name][~rows[name].isin(BLANK)]
    groups, words = present.nunique(), set(words_of(name))
    if groups < FEWEST_GROUPS or len(present) < FEWEST_PER_GROUP * groups:
        return False
    if words & IDENTIFIERS and present.str.contains(r"\d").all():  # numbers, or codes such as S01
        return True
    if to_numbers(present).notna().all():
        return False
    is_fine = groups > len(rows) / ROWS_PER_GROUP
    return bool(words & PEOPLE) or (is_fine and (bool(words & THINGS) or _has_facts(rows, name, target)))


def _has_facts(rows: pd.DataFrame, name: str, target: str) -> bool:
    """Whether another column has one value in each group, and not the same one in all of them."""
    others = [str(other) for other in rows if other not in (name, target) and rows[other].nunique() > 1]
    return any(rows.groupby(name)[other].nunique().max() == 1 for other in others)
