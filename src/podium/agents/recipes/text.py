"""Recipes to come."""

from __future__ import annotations

from podium.agents.recipes.recipe import Recipe

RECIPES: tuple[Recipe, ...] = ()
