"""Texts as numbers, whoever wrote them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from podium.tables.parse_numbers import to_numbers

DEADLY = ["1e2147483648", "-3E+3000000000", "4e492493924924", "8e2569614270f3d8b9e7038efac9f116"]
"""Cells that crash the process when pandas parses them."""


def test_cells_that_crash_pandas_are_not_numbers() -> None:
    found = to_numbers(pd.Series(["1.5", *DEADLY, "-2e3"]))
    assert found.dropna().tolist() == [1.5, -2000.0] and found.isna().sum() == len(DEADLY)


@given(st.lists(st.floats(allow_nan=False)))
def test_every_number_is_read(numbers: list[float]) -> None:
    written = pd.Series([repr(number) for number in numbers], dtype=object)
    assert np.allclose(to_numbers(written).astype(float), numbers, rtol=1e-13, atol=0)


@given(st.text("0123456789eE+-.abcdef", max_size=40))
def test_nothing_else_is_fatal(text: str) -> None:
    assert len(to_numbers(pd.Series([text], dtype=object))) == 1
