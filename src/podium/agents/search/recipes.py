"""Writes scripts from recipes. Everything it remembers is in the tree: scripts say by which recipe they were made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from podium.agents.search.proposer import Context, Proposal, Review
from podium.agents.search.tree import Node, Operator, Tree
from podium.recipes.blending import blend
from podium.recipes.constant import FALLBACKS
from podium.recipes.finishing import scoring
from podium.recipes.profile import Profile
from podium.recipes.profiler import profile_task
from podium.recipes.recipe import Recipe, Settings, recipe_named, recipes_for
from podium.recipes.scripts import read_header, write_script
from podium.workspace.observations import ScriptResult

BLEND = "blend"
RESERVE_S = 6.0
"""Kept back for a last blend, once there is something to blend."""


@dataclass(frozen=True)
class Making:
    """By what a script was made."""

    recipe: str
    settings: Settings

    @property
    def mark(self) -> str:
        return json.dumps([self.recipe, dict(self.settings)], sort_keys=True)


def making_of(node: Node) -> Making | None:
    """By what a node's script was made; None if not from recipes."""
    header = read_header(node.script)
    return None if header is None else Making(header.recipe, header.settings)


def mergeable(tree: Tree) -> list[Node]:
    """Good nodes that left predictions to blend, the best first, one of each recipe before others of the same."""
    good = [node for node in tree.good if _can_merge(node)]
    firsts: dict[str, Node] = {}
    for node in good:
        making = making_of(node)
        assert making is not None
        firsts.setdefault(making.recipe, node)
    return [*firsts.values(), *(node for node in good if node not in firsts.values())]


def _can_merge(node: Node) -> bool:
    making = making_of(node)
    recipe = None if making is None else recipe_named(making.recipe)
    return recipe is not None and recipe.can_merge


class RecipesProposer:
    """A proposer that needs no model. The same tree and seed always give the same script."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @cached_property
    def profile(self) -> Profile:
        task = self._context
        return profile_task(
            task.public,
            brief=task.brief,
            metric=task.metric,
            sample=task.sample,
            ids=task.ids,
            targets=task.targets,
        )

    @cached_property
    def recipes(self) -> list[Recipe]:
        """Those that suit, in the order in which they are drafted."""
        found = recipes_for(self.profile)
        early = [recipe for recipe in reversed(found) if recipe.name in FALLBACKS]
        return [*early, *(recipe for recipe in found if recipe.name not in FALLBACKS)]

    async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        if operator == "draft":
            return self._draft(tree)
        if operator == "merge":
            return self._merge(parents, tree)
        if operator == "debug":
            return self._mend(parents[0], tree)
        return self._improve(parents[0], tree)

    async def review(self, node: Node, result: ScriptResult) -> Review:
        """Believes the script: it knows its metric, and what it printed before it was stopped still counts."""
        reason = result.stopped or result.error or (f"exit code {result.exit_code}" if result.exit_code else "")
        return Review(result.metric is None, result.metric, reason)

    def can_draft(self, tree: Tree) -> bool:
        """Whether some recipe has not been drafted."""
        return bool(self._undrafted(tree))

    def _undrafted(self, tree: Tree) -> list[Recipe]:
        used = {making.recipe for node in tree if (making := making_of(node)) is not None}
        return [recipe for recipe in self.recipes if recipe.name not in used]

    def _draft(self, tree: Tree) -> Proposal | None:
        left = self._undrafted(tree)
        if not left:
            return None
        return self._proposal(left[0], left[0].defaults(self.profile), left[0].title, tree)

    def _improve(self, parent: Node, tree: Tree) -> Proposal | None:
        making = making_of(parent)
        if making is None:
            return None
        if making.recipe == BLEND:
            proposals = (self._improve(tree[number], tree) for number in parent.parents)
            return next((proposal for proposal in proposals if proposal is not None), None)
        recipe = recipe_named(making.recipe)
        for move in () if recipe is None else recipe.moves(self.profile, making.settings):
            assert recipe is not None
            settings = {**making.settings, **move.changes}
            proposal = self._proposal(recipe, settings, f"{recipe.title} To improve on it: {move.plan}.", tree)
            if proposal is not None:
                return proposal
        return None

    def _mend(self, parent: Node, tree: Tree) -> Proposal | None:
        """The same recipe with whole numbers if these are asked for, or else made simpler."""
        making = making_of(parent)
        recipe = None if making is None else recipe_named(making.recipe)
        if making is None or recipe is None:
            return None
        if (
            parent.result is not None
            and "whole number" in (parent.result.error or "")
            and not making.settings.get("round")
        ):
            return self._proposal(
                recipe, {**making.settings, "round": True}, f"{recipe.title} With whole numbers.", tree
            )
        simpler = recipe.simpler(self.profile, making.settings)
        if simpler is None:
            return None
        return self._proposal(recipe, simpler, f"{recipe.title} Simpler, as it failed before.", tree)

    def _merge(self, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        nodes = [node for node in parents if _can_merge(node)]
        if len(nodes) < 2:
            return None
        folders = [f"../{node.number:03d}" for node in nodes]
        settings = {"of": [node.number for node in nodes]}
        if Making(BLEND, settings).mark in self._marks(tree):
            return None
        making = making_of(nodes[0])
        recipe = None if making is None else recipe_named(making.recipe)
        story = (recipe.merge if recipe is not None and recipe.merge is not None else blend)(self.profile, folders)
        title = f"Blends the predictions of scripts {', '.join(str(node.number) for node in nodes)}."
        return Proposal(
            title, write_script(title, story, recipe=BLEND, settings=settings), self._time_s(0.5, 20.0, reserve_s=0.0)
        )

    def _proposal(self, recipe: Recipe, settings: Settings, plan: str, tree: Tree) -> Proposal | None:
        """A script, unless it has been tried."""
        if Making(recipe.name, settings).mark in self._marks(tree):
            return None
        reserve_s = RESERVE_S if mergeable(tree) else 0.0
        script = write_script(plan, recipe.story(self.profile, settings), recipe=recipe.name, settings=settings)
        return Proposal(
            " ".join([plan, *self._remarks()]), script, self._time_s(recipe.share, recipe.least_s, reserve_s)
        )

    def _remarks(self) -> list[str]:
        """What a reader of a plan should know about how the task was understood."""
        how = scoring(self.profile)
        proxy = f"{how.function} stands for {self.profile.metric_title} in validation."
        return [*self.profile.doubts, *([proxy] if how.is_proxy and self.profile.goal != "unknown" else [])]

    def _marks(self, tree: Tree) -> set[str]:
        return {making.mark for node in tree if (making := making_of(node)) is not None}

    def _time_s(self, share: float, least_s: float, reserve_s: float) -> float | None:
        left = self._context.remaining().time_s
        if left is None:
            return None
        return min(max(least_s, share * left), max(left - reserve_s, 0.6 * left))
