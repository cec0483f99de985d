"""Proposer that writes scripts from recipes. Its memory is the tree: scripts name their recipe and settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from podium.agents.search.proposers.proposer import Context, Proposal, Review
from podium.agents.search.search_tree import Node, Operator, Tree
from podium.recipes.blend_script import BLEND, blend_body
from podium.recipes.kinds.fallback_recipes import FALLBACKS
from podium.recipes.recipe import Recipe, Settings, recipe_named, recipes_for
from podium.recipes.script_ending import VALIDATION, scoring
from podium.recipes.script_writer import Header, read_header, write_script
from podium.tables.profile import Profile
from podium.workspace.journal.observations import ScriptResult

_VALIDATION = re.compile(rf"^{VALIDATION} (.+)$", re.MULTILINE)
RESERVE_S = 6.0
"""Time reserved for a last blend, as soon as there is something to blend."""


def recipe_of(node: Node) -> Recipe | None:
    """Return the recipe of a node's script, or None for blends and scripts that are not from recipes."""
    header = read_header(node.script)
    return None if header is None else recipe_named(header.recipe)


def mergeable(tree: Tree) -> list[Node]:
    """Return good nodes that saved predictions to blend: the best of each recipe first, then the others."""
    comparable = [(node, recipe_of(node)) for node in tree.comparable]
    good = [(node, recipe.name) for node, recipe in comparable if recipe is not None and recipe.can_merge]
    firsts: dict[str, Node] = {}
    for node, name in good:
        firsts.setdefault(name, node)
    return [*firsts.values(), *(node for node, _ in good if node not in firsts.values())]


class RecipesProposer:
    """Proposer without a model. The same tree and seed always give the same script."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @property
    def profile(self) -> Profile:
        return self._context.profile

    @cached_property
    def recipes(self) -> list[Recipe]:
        """Return the recipes that suit the task in drafting order: fallbacks first, the simplest one leading."""
        suitable = recipes_for(self.profile)
        fallbacks = [recipe for recipe in reversed(suitable) if recipe.name in FALLBACKS]
        return [*fallbacks, *(recipe for recipe in suitable if recipe.name not in FALLBACKS)]

    async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        if operator == "draft":
            return self._draft(tree)
        if operator == "merge":
            return self._merge(parents, tree)
        if operator == "debug":
            return self._debug(parents[0], tree)
        return self._improve(parents[0], tree)

    async def review(self, node: Node, result: ScriptResult) -> Review:
        """Return a review that trusts the script's output, including scores printed before it was stopped."""
        reason = result.stopped or result.error or (f"exit code {result.exit_code}" if result.exit_code else "")
        header = read_header(node.script)
        is_fallback = header is not None and header.recipe in FALLBACKS and result.exit_code == 0
        validations: list[str] = _VALIDATION.findall(result.output)
        validation = validations[-1] if validations else ""
        return Review(result.metric is None and not is_fallback, result.metric, reason, validation, is_fallback)

    def can_draft(self, tree: Tree) -> bool:
        """Return whether a recipe has not been drafted yet."""
        return bool(self._undrafted(tree))

    def can_debug(self, node: Node, tree: Tree) -> bool:
        """Return whether a failed script can be rewritten in a way that has not been tried."""
        return self._debug(node, tree) is not None

    def _undrafted(self, tree: Tree) -> list[Recipe]:
        used = {header.recipe for node in tree if (header := read_header(node.script)) is not None}
        left = self._context.remaining().time_s
        timely = [recipe for recipe in self.recipes if left is None or recipe.min_remaining_s <= left]
        return [recipe for recipe in timely if recipe.name not in used]

    def _draft(self, tree: Tree) -> Proposal | None:
        left = self._undrafted(tree)
        if not left:
            return None
        return self._proposal(left[0], left[0].defaults(self.profile), left[0].title, tree)

    def _improve(self, parent: Node, tree: Tree) -> Proposal | None:
        header, recipe = read_header(parent.script), recipe_of(parent)
        if header is not None and header.recipe == BLEND:
            proposals = (self._improve(tree[number], tree) for number in parent.parents)
            return next((proposal for proposal in proposals if proposal is not None), None)
        if header is None or recipe is None:
            return None
        for improvement in recipe.improvements(self.profile, header.settings):
            settings = {**header.settings, **improvement.changes}
            plan = f"{recipe.title} Change: {improvement.plan}."
            if (proposal := self._proposal(recipe, settings, plan, tree)) is not None:
                return proposal
        return None

    def _debug(self, parent: Node, tree: Tree) -> Proposal | None:
        """Return the same recipe with whole numbers if the submission requires them, or with simpler settings."""
        header, recipe = read_header(parent.script), recipe_of(parent)
        if header is None or recipe is None:
            return None
        is_refused = parent.result is not None and parent.result.exit_code == 0 and not parent.result.valid
        if is_refused and self._context.whole_numbers and not header.settings.get("round"):
            settings = {**header.settings, "round": True}
            return self._proposal(recipe, settings, f"{recipe.title} Predictions are rounded to whole numbers.", tree)
        simpler = recipe.simpler(self.profile, header.settings)
        if simpler is None:
            return None
        return self._proposal(recipe, simpler, f"{recipe.title} The settings are simpler after a failure.", tree)

    def _merge(self, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        found = [(node, recipe) for node in parents if (recipe := recipe_of(node)) is not None and recipe.can_merge]
        numbers = [node.number for node, _ in found]
        header = Header(BLEND, {"of": numbers})
        if len(found) < 2 or str(header) in _headers(tree):
            return None
        body = (found[0][1].merge or blend_body)(self.profile, [f"../{number:03d}" for number in numbers])
        title = f"Blends the predictions of scripts {', '.join(map(str, numbers))}."
        script = write_script(title, body, recipe=BLEND, settings=header.settings)
        return Proposal(title, script, self._time_s(0.5, 20.0, reserve_s=0.0))

    def _proposal(self, recipe: Recipe, settings: Settings, plan: str, tree: Tree) -> Proposal | None:
        """Return a script, or None if it has been tried."""
        if str(Header(recipe.name, settings)) in _headers(tree):
            return None
        reserve_s = RESERVE_S if mergeable(tree) else 0.0
        script = write_script(plan, recipe.body(self.profile, settings), recipe=recipe.name, settings=settings)
        time_s = self._time_s(recipe.time_share, recipe.min_time_s, reserve_s)
        return Proposal(" ".join([plan, *self._remarks()]), script, time_s)

    def _remarks(self) -> list[str]:
        """Return notes for readers of a plan: profile warnings and the proxy of the metric."""
        how = scoring(self.profile)
        proxy = f"Validation uses {how.function} as a proxy for {self.profile.metric_title}."
        return [*self.profile.warnings, *([proxy] if how.is_proxy and self.profile.goal != "unknown" else [])]

    def _time_s(self, share: float, min_time_s: float, reserve_s: float) -> float | None:
        left = self._context.remaining().time_s
        if left is None:
            return None
        return min(max(min_time_s, share * left), max(left - reserve_s, 0.6 * left))


def _headers(tree: Tree) -> set[str]:
    """Return the headers of all scripts from recipes as text."""
    return {str(header) for node in tree if (header := read_header(node.script)) is not None}
