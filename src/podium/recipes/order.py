"""Which recipe is worth drafting first for which profile, as learnt on forged training tasks.

`scripts/learn_recipe_order.py` makes the table, `order.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from podium.recipes.profile import Profile

TABLE = Path(__file__).with_name("order.json")
FEW_ROWS, FEW_COLUMNS = 500, 15


def profile_keys(profile: Profile) -> Iterator[str]:
    """The names of profiles that a task belongs to in the table, the most specific first."""
    goal = "numbers" if profile.goal in ("regression", "ordinal") else "classes"
    rows = "few" if profile.train is None or profile.train.rows <= FEW_ROWS else "many"
    columns = "few" if len(profile.features) <= FEW_COLUMNS else "many"
    yield f"{profile.modality}, {goal}, {rows} rows, {columns} columns"
    yield f"{profile.modality}, {goal}, {rows} rows"


@cache
def read_orders() -> dict[str, list[str]]:
    """Recipes by profile, the best first."""
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return {key: list(found["recipes"]) for key, found in table["profiles"].items()}


def learnt_order(profile: Profile, names: Sequence[str]) -> list[str]:
    """Names of recipes in the order learnt for a profile.

    The first stays first, because it is quick, and those that the table does not know stay where they are.
    """
    orders = read_orders()
    learnt = next((orders[key] for key in profile_keys(profile) if key in orders), [])
    places = {name: place for place, name in enumerate(learnt)}
    known = iter(sorted((name for name in names[1:] if name in places), key=lambda name: places[name]))
    return [*names[:1], *(next(known) if name in places else name for name in names[1:])]
