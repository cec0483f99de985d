"""What a recipe is, and which ones suit a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from podium.recipes.profile import Profile

Settings = Mapping[str, Any]
"""What can be varied about a recipe: names and JSON values."""

FAMILIES = ("graphs", "sounds", "masks", "pictures", "ranking", "series", "text", "tabular", "constant")
"""Modules of recipes beside this one, the more particular first. Each has `RECIPES`, in the order worth drafting."""


@dataclass(frozen=True)
class Move:
    """One change to the settings of a recipe that may make it better."""

    plan: str
    """What is changed, and in the hope of what."""
    changes: Settings


@dataclass(frozen=True)
class Recipe:
    """A way to solve tasks of some shape: it writes scripts, and knows what may be changed about them.

    `story` gives the main part of a script as Python source. It may use every name of the kit without importing it:
    `scripts.write_script` adds what is used. A story ends by calling `finish(...)` or by doing itself what `finish`
    does: write `submission.csv`, print the metric line and, if it is to be blended, save `predictions.npz`.
    """

    name: str
    title: str
    """What the script does, as the first line of its docstring."""
    suits: Callable[[Profile], bool]
    story: Callable[[Profile, Settings], str]
    defaults: Callable[[Profile], Settings] = lambda profile: {}
    moves: Callable[[Profile, Settings], Sequence[Move]] = lambda profile, settings: ()
    """Changes worth trying, the most promising first."""
    simpler: Callable[[Profile, Settings], Settings | None] = lambda profile, settings: None
    """Settings that need less time and memory and can go wrong in fewer ways; None if there are none."""
    merge: Callable[[Profile, Sequence[str]], str] | None = None
    """The story of a script that joins the scripts in some folders (such as `../003`); None for the usual blend."""
    can_merge: bool = True
    """Whether it leaves predictions that can be blended with those of others."""
    share: float = 0.25
    """The part of the remaining time that one script of it should take at most."""
    least_s: float = 20.0
    """It may take this long even if that is a greater share."""


def recipes_for(profile: Profile) -> list[Recipe]:
    """The recipes that suit a task, in the order worth drafting. The last one always does."""
    modules = [import_module(f"podium.recipes.{family}") for family in FAMILIES]
    return [recipe for module in modules for recipe in module.RECIPES if recipe.suits(profile)]


def recipe_named(name: str) -> Recipe | None:
    """The recipe of that name, whether or not it suits."""
    modules = [import_module(f"podium.recipes.{family}") for family in FAMILIES]
    return next((recipe for module in modules for recipe in module.RECIPES if recipe.name == name), None)
