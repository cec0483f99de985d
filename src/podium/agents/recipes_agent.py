"""Agent `recipes`: drafts all suitable recipes, improves the best script, and blends predictions."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import cast

from pydantic import Field

from podium.agents.search.policies import DRAFT, Choice
from podium.agents.search.proposers.proposer import Context
from podium.agents.search.proposers.recipe_proposer import RESERVE_S, RecipesProposer, mergeable
from podium.agents.search.search_agent import SearchAgent
from podium.agents.search.search_options import SearchOptions
from podium.agents.search.search_tree import Node, Tree
from podium.recipes.blend_script import BLEND
from podium.recipes.script_writer import read_header

MAX_BLENDED = 6
"""Largest number of scripts in a blend."""
MIN_REMAINING_S = 4.0
"""Shortest remaining time in which another script is started."""
MIN_NEW = 3
"""Smallest number of scripts that are in no blend yet for a new blend, while there are recipes left to draft."""
DEBUG_DEPTH = 2


class RecipesOptions(SearchOptions):
    """Options of every search. The number of drafts is the number of suitable recipes."""

    script_time: float | None = Field(
        None,
        gt=0,
        description="Time limit of one script in seconds. Default: the recipe's share of the remaining time.",
    )


class Recipes(SearchAgent):
    """Writes machine-learning scripts from a library of recipes, without a model."""

    Options = RecipesOptions
    options: RecipesOptions

    def make_proposer(self, context: Context) -> RecipesProposer:
        return RecipesProposer(context)

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        proposer = cast(RecipesProposer, self.proposer)
        return schedule(
            tree,
            can_draft=proposer.can_draft(tree),
            can_debug=lambda node: proposer.can_debug(node, tree),
            time_s=self.assignment.remaining().time_s,
        )


def schedule(tree: Tree, *, can_draft: bool, can_debug: Callable[[Node], bool], time_s: float | None) -> Choice | None:
    """Debug broken scripts, draft the remaining recipes, then alternate between improving the best script and blending.

    Scripts keep to their time limits, so no time is lost: towards the end it blends once more and stops.
    """
    parts = tuple(node.number for node in mergeable(tree)[:MAX_BLENDED])
    new = len(set(parts) - _blended(tree))
    blending_s = RESERVE_S if len(parts) > 1 and new else 0.0
    is_ending = time_s is not None and time_s < MIN_REMAINING_S + blending_s
    failed = [node for node in tree if _is_failed_leaf(tree, node) and tree.debug_depth(node) < DEBUG_DEPTH]
    broken = next((node for node in failed if can_debug(node)), None)
    if broken is not None and not (is_ending and tree.good):
        return Choice("debug", (broken.number,))
    if len(parts) > 1 and (new >= MIN_NEW or (new and (is_ending or not can_draft))):
        return Choice("merge", parts)
    if is_ending and tree.good:
        return None
    best = tree.best
    return DRAFT if can_draft or best is None else Choice("improve", (best.number,))


def _is_failed_leaf(tree: Tree, node: Node) -> bool:
    return node.result is not None and not node.is_good and not tree.children(node.number)


def _blended(tree: Tree) -> set[int]:
    """Return the scripts that are part of a blend."""
    blends = [node for node in tree if (header := read_header(node.script)) is not None and header.recipe == BLEND]
    return {number for node in blends for number in node.parents}
