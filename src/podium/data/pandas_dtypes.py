"""What pandas makes of texts that it is not told to leave alone; MLE-bench's graders read submissions that way."""

from __future__ import annotations

import csv
import io

import pandas as pd

from podium.tables.parse_numbers import has_huge_exponent


def retyped(texts: pd.Series) -> pd.Series:
    """The texts after pandas has guessed their type: NA and its like are blank, and numbers are written anew.

    Numbers change only where a column holds nothing else: 007 is then 7, or 7.0 if some cell is missing.
    """
    codes, distinct = pd.factorize(texts)  # the type depends on which cells there are, not on how many
    different = pd.Series(distinct, dtype=object)
    written = different.to_csv(index=False, header=["cell"], quoting=csv.QUOTE_ALL)
    kind = str if has_huge_exponent(different).any() else None  # they are not all numbers, and pandas must not try
    cells = pd.read_csv(io.StringIO(written), skip_blank_lines=False, low_memory=False, dtype=kind)["cell"]
    return cells.astype(str).mask(cells.isna(), "").iloc[codes].set_axis(texts.index)
