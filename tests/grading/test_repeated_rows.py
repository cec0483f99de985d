from __future__ import annotations

import pandas as pd
import pytest

from podium.errors import InvalidSubmission
from podium.grading.check_submission import align
from podium.task import Columns

FORM = Columns(id="id", target="boxes", values=str, repeated_rows=True)
IDS = pd.DataFrame({"id": ["b", "a", "c"]})


def table(*rows: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["id", "boxes"])


def test_rows_of_an_id_follow_each_other_in_their_order() -> None:
    aligned = align(table(("a", "1"), ("c", "2"), ("a", "3"), ("b", "4"), ("a", "5")), FORM, IDS)
    assert aligned["id"].tolist() == ["b", "a", "a", "a", "c"]
    assert aligned["boxes"].tolist() == ["4", "1", "3", "5", "2"]


def test_every_id_is_needed_and_no_other() -> None:
    with pytest.raises(InvalidSubmission, match=r"1 id is missing .*\(c\)"):
        align(table(("a", "1"), ("a", "2"), ("b", "3")), FORM, IDS)
    with pytest.raises(InvalidSubmission, match=r"1 id is unknown \(d\)"):
        align(table(("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")), FORM, IDS)
