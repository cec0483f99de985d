"""The agent `recipes`: drafts of all recipes that suit, improvements of the best, blends of what there is."""

from __future__ import annotations

from random import Random
from typing import cast

from podium.agents.search.options import SearchOptions
from podium.agents.search.policies import DRAFT, Choice
from podium.agents.search.proposer import Context
from podium.agents.search.recipes import BLEND, RecipesProposer, making_of, mergeable
from podium.agents.search.search import SearchAgent
from podium.agents.search.tree import Node, Tree

BLENDED = 6
"""As many scripts are blended at most."""
BLENDING_S = 6.0
"""Kept back for a last blend, if there is something to blend."""
WORTHWHILE_S = 4.0
"""With less time than this, no script is begun."""
FRESH = 3
"""A blend is made when so many scripts have come that were in none; of fewer, when nothing is left to draft."""
DEBUG_DEPTH = 2


class RecipesOptions(SearchOptions):
    """Those of every search; recipes make as many drafts as there are recipes that suit."""


class Recipes(SearchAgent):
    Options = RecipesOptions
    options: RecipesOptions

    def make_proposer(self, context: Context) -> RecipesProposer:
        return RecipesProposer(context)

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        proposer = cast(RecipesProposer, self.proposer)
        return schedule(tree, can_draft=proposer.can_draft(tree), time_s=self.assignment.remaining().time_s)


def schedule(tree: Tree, *, can_draft: bool, time_s: float | None) -> Choice | None:
    """Mends what broke, drafts what is left to draft, and then improves the best and blends in turn.

    Scripts keep to the time they are given, so that none is left unused: towards the end it blends once more and stops.
    """
    parts = tuple(node.number for node in mergeable(tree)[:BLENDED])
    fresh = len(set(parts) - _blended(tree))
    blending_s = BLENDING_S if len(parts) > 1 and fresh else 0.0
    is_ending = time_s is not None and time_s < WORTHWHILE_S + blending_s
    broken = [node for node in tree if _is_broken_leaf(tree, node) and tree.debug_depth(node) < DEBUG_DEPTH]
    if broken and not (is_ending and tree.good):
        return Choice("debug", (broken[0].number,))
    if len(parts) > 1 and (fresh >= FRESH or (fresh and (is_ending or not can_draft))):
        return Choice("merge", parts)
    if is_ending and tree.good:
        return None
    best = tree.best
    return DRAFT if can_draft or best is None else Choice("improve", (best.number,))


def _is_broken_leaf(tree: Tree, node: Node) -> bool:
    return node.result is not None and not node.is_good and not tree.children(node.number)


def _blended(tree: Tree) -> set[int]:
    """The scripts that some blend was made of."""
    blends = [node for node in tree if (making := making_of(node)) is not None and making.recipe == BLEND]
    return {number for node in blends for number in node.parents}


agent = Recipes
