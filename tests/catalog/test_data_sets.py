"""Public data sets become tasks without a word about them, run with make test-open-tables."""

from __future__ import annotations

import pytest

FEWEST_DATA_SETS = 50
WORKING = 0.9


@pytest.mark.open_tables
def test_nine_of_ten_data_sets_become_tasks() -> None:
    from data_sets_table import DATA_SETS, outcome

    refused = {name: result["refused"] for name in DATA_SETS if "refused" in (result := outcome(name))}
    assert len(DATA_SETS) >= FEWEST_DATA_SETS
    assert len(refused) <= (1 - WORKING) * len(DATA_SETS), refused
