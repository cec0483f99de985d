"""The searches whose scripts a model writes: they differ in how the next operator and its parents are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, ClassVar

from podium.agents.search.knowledge import LEAKAGE, InformedProposer, RecipeDrafts, draft_advice
from podium.agents.search.lessons import ancestors, lessons
from podium.agents.search.model import ModelProposer
from podium.agents.search.options import EvolveOptions, FrontierOptions, GreedyOptions, MctsOptions, WritingOptions
from podium.agents.search.policies import Choice, evolve, frontier, greedy, mcts
from podium.agents.search.proposer import Context, Proposer
from podium.agents.search.search import SearchAgent
from podium.agents.search.tree import Node, Operator, Tree

ROLES = {"coder": "writes scripts", "reviewer": "reads outputs in which no score was found"}


class _ModelSearch(SearchAgent):
    needs_model = True
    starts_from_sample = True
    roles = ROLES

    policy: ClassVar[staticmethod[[Tree, Any, Random], Choice | None]]

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        return self.policy(tree, self.options, rng)

    def make_proposer(self, context: Context) -> Proposer:
        assert isinstance(self.options, WritingOptions)
        return ModelProposer(context, self.options)


class AideOptions(WritingOptions, GreedyOptions):
    """The policy's and the model's options."""


class Aide(_ModelSearch):
    """Tree search by a model: drafts, then debugs and improves the best (greedy, as AIDE)."""

    Options = AideOptions
    policy = staticmethod(greedy)


class MctsAgentOptions(WritingOptions, MctsOptions):
    """The policy's and the model's options."""


class Mcts(_ModelSearch):
    """Tree search by a model, guided by upper confidence bounds (Monte Carlo, as AIRA)."""

    Options = MctsAgentOptions
    policy = staticmethod(mcts)


class EvolveAgentOptions(WritingOptions, EvolveOptions):
    """The policy's and the model's options."""


class Evolve(_ModelSearch):
    """A population of a model's scripts, improved and merged by fitness (as AIRA)."""

    Options = EvolveAgentOptions
    policy = staticmethod(evolve)


class FrontierAgentOptions(WritingOptions, FrontierOptions):
    """The policy's and the model's options."""


class Frontier(_ModelSearch):
    """Tree search by a model with hidden evaluation, recipes, lessons, fusion and a weighted final ensemble."""

    Options = FrontierAgentOptions
    options: FrontierAgentOptions
    policy = staticmethod(frontier)

    def make_proposer(self, context: Context) -> Proposer:
        recipes = RecipeDrafts(context, self.options.recipes)

        def advise(operator: Operator, parents: Sequence[Node], tree: Tree) -> str:
            options = self.options
            known = draft_advice(recipes.profile.modality, tree) if options.knowledge and operator == "draft" else ""
            learnt = lessons(tree) if options.lessons else ""
            story = ancestors(tree, parents[0]) if options.lessons and parents else ""
            parts = (
                ("", known),
                ("Learnt so far:", learnt),
                ("How this script came to be:", story),
                ("", LEAKAGE if options.leak_check else ""),
            )
            return "\n\n".join(f"{title}\n{text}".strip() for title, text in parts if text)

        return InformedProposer(recipes, ModelProposer(context, self.options, advise=advise))
