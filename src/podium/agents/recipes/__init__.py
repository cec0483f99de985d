"""The agent that needs no model: recipes of machine learning that read the data's profile and write scripts."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """`agent`, imported only when asked for: it brings the search and with it Inspect."""
    if name != "agent":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from podium.agents.recipes.schedule import Recipes

    return Recipes
