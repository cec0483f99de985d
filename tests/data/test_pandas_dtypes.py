from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.data.pandas_dtypes import retyped


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["NA", "null", "", "nan", "a"], ["", "", "", "", "a"]),
        (["007", "8"], ["7", "8"]),
        (["007", ""], ["7.0", ""]),
        (["007", "x"], ["007", "x"]),
        (["", ""], ["", ""]),
        (["1e2147483648", "007", "NA"], ["1e2147483648", "007", ""]),
        ([" a ", 'b "c"', "d\ne, f"], [" a ", 'b "c"', "d\ne, f"]),
    ],
)
def test_cells_read_as_pandas_guesses_them(cells: list[str], expected: list[str]) -> None:
    assert retyped(pd.Series(cells)).tolist() == expected


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"))))
def test_words_stay_as_they_are(cells: list[str]) -> None:
    words = ["word", *(f"_{cell}" for cell in cells)]
    assert retyped(pd.Series(words)).tolist() == words
