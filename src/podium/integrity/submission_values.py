"""Submission as a table for the detectors: ids, number of rows, values."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

MAX_ROWS = 100_000
_WORDS = re.compile(r"[^\s,;:'\"\[\](){}|]+")


@dataclass(frozen=True)
class SubmissionTable:
    """Rows of a submission; the first column holds ids."""

    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]

    @property
    def rows(self) -> int:
        return len(self.body)

    @cached_property
    def ids(self) -> frozenset[str]:
        return frozenset(row[0] for row in self.body if row)

    @cached_property
    def lines(self) -> frozenset[str]:
        """Rows in CSV."""
        return frozenset(",".join(row) for row in self.body if len(row) > 1)

    @cached_property
    def values(self) -> frozenset[str]:
        """Distinct predicted values."""
        return frozenset(cell for row in self.body for cell in row[1:])

    @cached_property
    def distinct(self) -> int:
        """Number of different predictions."""
        return len({row[1:] for row in self.body})

    def ids_in(self, text: str) -> int:
        """Return the number of different ids in a text, short plain numbers excepted."""
        found = set(_WORDS.findall(text[:2_000_000])) & self.ids
        return sum(not each.isdecimal() or len(each) > 5 for each in found)


def read_table(text: str) -> SubmissionTable | None:
    """Parse a submission, or return None if it is not a table."""
    try:
        header, *body = (tuple(row) for row in islice(csv.reader(io.StringIO(text.replace("\0", ""))), MAX_ROWS + 1))
    except (ValueError, csv.Error):
        return None
    return SubmissionTable(header, tuple(body))
