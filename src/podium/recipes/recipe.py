"""What a recipe is, and which ones suit a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from podium.tables.profile import Profile

Settings = Mapping[str, Any]
"""What can be varied about a recipe: names and JSON values."""

MODULES = (
    *("graph_recipes", "audio_recipes", "mask_recipes", "image_recipes", "ranking_recipes", "series_recipes"),
    *("anomaly_recipes", "text_recipes", "table_recipes", "autogluon_recipe", "fallback_recipes"),
)
"""Modules of recipes, the most specific first. Each has `RECIPES`, in the order worth drafting."""


@dataclass(frozen=True)
class Improvement:
    """A change to the settings of a recipe that may improve its score."""

    plan: str
    """What is changed, as a clause such as `grow larger trees`."""
    changes: Settings


@dataclass(frozen=True)
class Recipe:
    """A way to solve tasks of some modality: it writes scripts, and knows what may be changed about them.

    `body` gives the main part of a script as Python source. It may use every name of the kit without importing it:
    `scripts.write_script` adds what is used. It must write `submission.csv`, print the metric line and, if its
    predictions are to be blended, save `predictions.npz`; `finishing.ending` gives source that does so.
    """

    name: str
    title: str
    """What the script does, as the first line of its docstring."""
    suits: Callable[[Profile], bool]
    body: Callable[[Profile, Settings], str]
    defaults: Callable[[Profile], Settings] = lambda profile: {}
    improvements: Callable[[Profile, Settings], Sequence[Improvement]] = lambda profile, settings: ()
    """Changes worth trying, the most promising first."""
    simpler: Callable[[Profile, Settings], Settings | None] = lambda profile, settings: None
    """Settings that need less time and memory and are less likely to fail; None if there are none."""
    merge: Callable[[Profile, Sequence[str]], str] | None = None
    """The body of a script that merges the scripts in some folders (such as `../003`); None for the usual blend."""
    can_merge: bool = True
    """Whether it saves predictions that can be blended with those of others."""
    needs_targets: bool = True
    """Whether it learns from targets, of which it takes two that differ."""
    time_share: float = 0.25
    """The share of the remaining time that one script may take."""
    min_time_s: float = 20.0
    """It may take this long even if that is a greater share."""
    least_time_s: float = 0.0
    """With less time left, it is not drafted."""


def all_recipes() -> list[Recipe]:
    """All recipes, in the order worth drafting."""
    modules = [import_module(f"podium.recipes.kinds.{name}") for name in MODULES]
    return [recipe for module in modules for recipe in module.RECIPES]


def recipes_for(profile: Profile) -> list[Recipe]:
    """The recipes that suit a task, in the order worth drafting. The last one always does."""
    found = [recipe for recipe in all_recipes() if recipe.suits(profile)]
    return [recipe for recipe in found if not (recipe.needs_targets and profile.has_constant_target)]


def recipe_named(name: str) -> Recipe | None:
    """The recipe of that name, whether or not it suits."""
    return next((recipe for recipe in all_recipes() if recipe.name == name), None)
