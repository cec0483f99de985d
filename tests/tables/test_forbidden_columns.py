"""Recipes obey the rules of a brief."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.catalog.forge.families import load_family
from podium.catalog.forge.family import ForgedData
from podium.catalog.forge.field import draw_data
from podium.catalog.forge.forged_data import write_public
from podium.tables.forbidden_columns import forbidden_names
from podium.tables.profile import Profile
from podium.tables.profile_task import profile_task


@pytest.mark.parametrize(
    "rule",
    [
        "Please note that `balance` must not be used.",
        "Do not use `balance`: it is written down later.",
        "You may not use the column `balance`\nfor anything.",
        "- `balance` is off limits",
        'The column "balance" is forbidden.',
        "Models that use `balance` are not allowed.",
        "`balance` shouldn't be used.",
        "The organisers do not let you use **balance**.",
    ],
)
def test_a_column_that_a_rule_names_is_found(rule: str) -> None:
    brief = f"# Accounts\n\nPredict `closed` from `age` and `city`. Each counts.\n{rule}\n\nUse `city` as you like.\n"
    assert forbidden_names(brief) == {"balance"}


@pytest.mark.parametrize(
    "text",
    [
        "`balance` may not be known for every row.",
        "A submission must not repeat a value of `balance`.",
        "`balance` is not always used by clerks.",
        "Cheating is forbidden. Use `balance`.",
        "| `balance` | money |\n| `rules` | text |",
    ],
)
def test_what_only_sounds_like_a_rule_is_none(text: str) -> None:
    assert forbidden_names(text) == frozenset()


def test_no_recipe_sees_what_a_forged_brief_forbids(tmp_path: Path) -> None:
    family = load_family("tables-classification")
    drawn = (draw_data(family, "tiny", seed) for seed in range(60))
    with_rules = [forged for forged in drawn if forged.public.forbidden]
    assert len(with_rules) > 5
    for number, forged in enumerate(with_rules):
        folder = tmp_path / str(number)
        folder.mkdir()
        profile = _profile(forged, folder)
        assert profile.features
        assert {column.name for column in profile.features}.isdisjoint(forged.public.forbidden)
        assert all(any(name in warning for warning in profile.warnings) for name in forged.public.forbidden)


def _profile(forged: ForgedData, public: Path) -> Profile:
    family = load_family("tables-classification")
    write_public(forged, public)
    form = family.form_of(forged)
    return profile_task(
        public, brief=forged.brief, metric=family.metric, sample=form.sample, ids=form.ids, targets=form.targets
    )
