"""Type inference of pandas' CSV reader, applied to columns of text as in MLE-bench's graders."""

from __future__ import annotations

import csv
import io

import pandas as pd

from podium.tables.parse_numbers import has_huge_exponent


def retyped(texts: pd.Series) -> pd.Series:
    """Return the texts after pandas has inferred their type: NA and similar are blank, and numbers are reformatted.

    Numbers change only in columns that hold nothing else: 007 is then 7, or 7.0 if a cell is missing.
    """
    codes, distinct = pd.factorize(texts)  # the inferred type depends on the distinct cells only
    different = pd.Series(distinct, dtype=object)
    written = different.to_csv(index=False, header=["cell"], quoting=csv.QUOTE_ALL)
    kind = str if has_huge_exponent(different).any() else None  # keeps pandas from parsing huge exponents
    cells = pd.read_csv(io.StringIO(written), skip_blank_lines=False, low_memory=False, dtype=kind)["cell"]
    return cells.astype(str).mask(cells.isna(), "").iloc[codes].set_axis(texts.index)
