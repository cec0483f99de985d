"""Recipe type and registry: scripts for tasks of some modality, and the recipes that suit a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from podium.tables.profile import Profile

Settings = Mapping[str, Any]
"""Settings of a recipe: names and JSON values."""

MODULES = (
    *("graph_recipes", "audio_recipes", "mask_recipes", "image_recipes", "ranking_recipes", "series_recipes"),
    *("anomaly_recipes", "text_recipes", "table_recipes", "autogluon_recipe", "fallback_recipes"),
)
"""Modules of recipes, the most specific first. Each has `RECIPES`, in the order worth drafting."""


@dataclass(frozen=True)
class Improvement:
    """Change to the settings of a recipe that may improve its score."""

    plan: str
    """Description of the change as a clause, such as `grow larger trees`."""
    changes: Settings


@dataclass(frozen=True)
class Recipe:
    """Method for tasks of some modality: writes scripts and knows which settings may be changed.

    `body` returns the main part of a script as Python source. It may use every name of the kit without importing it:
    `script_writer.write_script` adds the definitions. It must write `submission.csv`, print the metric line and, if its
    predictions can be blended, save `predictions.npz`; `script_ending.ending` returns source that does so.
    """

    name: str
    title: str
    """One-sentence summary of the script, the first line of its docstring."""
    suits: Callable[[Profile], bool]
    body: Callable[[Profile, Settings], str]
    defaults: Callable[[Profile], Settings] = lambda profile: {}
    improvements: Callable[[Profile, Settings], Sequence[Improvement]] = lambda profile, settings: ()
    """Changes worth trying, the most promising first."""
    simpler: Callable[[Profile, Settings], Settings | None] = lambda profile, settings: None
    """Settings that need less time and memory and are less likely to fail; None if there are none."""
    merge: Callable[[Profile, Sequence[str]], str] | None = None
    """Body of a script that merges the scripts in some folders (such as `../003`); None for the usual blend."""
    can_merge: bool = True
    """True if it saves predictions that can be blended."""
    needs_targets: bool = True
    """True if it learns from targets, which must have at least two different values."""
    time_share: float = 0.25
    """Share of the remaining time that one script may take."""
    min_time_s: float = 20.0
    """Time that a script may always take, even if it is a greater share."""
    min_remaining_s: float = 0.0
    """Shortest remaining time in which it is drafted."""


def all_recipes() -> list[Recipe]:
    """Return all recipes in drafting order."""
    modules = [import_module(f"podium.recipes.kinds.{name}") for name in MODULES]
    return [recipe for module in modules for recipe in module.RECIPES]


def recipes_for(profile: Profile) -> list[Recipe]:
    """Return the recipes that suit a task in drafting order. The last one always does."""
    found = [recipe for recipe in all_recipes() if recipe.suits(profile)]
    return [recipe for recipe in found if not (recipe.needs_targets and profile.has_constant_target)]


def recipe_named(name: str) -> Recipe | None:
    """Return the recipe with a name, or None. It need not suit the task."""
    return next((recipe for recipe in all_recipes() if recipe.name == name), None)
