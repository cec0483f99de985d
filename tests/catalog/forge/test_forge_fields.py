"""The fields of all families, measured anew on five seeds, run with make test-fields: 40 minutes on two idle cores.

Every field is trained by as many processes as there are cores, so the tests run one after the other.
"""

from __future__ import annotations

import pytest

from podium.catalog.forge.families import FAMILIES, load_family

SEEDS = range(1, 6)


@pytest.mark.fields
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_field_is_worth_competing_with(family: str, seed: int) -> None:
    from forge_table import measure

    found = measure(family, seed)
    assert load_family(family).metric.is_better(found["ceiling"], found["best"]), "nobody beats the mechanism"
    assert found["sample_medal"] is None
    assert not any(found["default_medals"]), "defaults stay below bronze"
    assert found["same_bytes"]
    assert found["entrants"] >= 60
    assert found["pipelines"] >= 12
