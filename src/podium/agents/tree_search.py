"""The searches whose scripts a model writes: they differ in how the next operator and its parents are chosen."""

from __future__ import annotations

from random import Random

from podium.agents.search.model import ModelProposer
from podium.agents.search.options import EvolveOptions, GreedyOptions, MctsOptions, WritingOptions
from podium.agents.search.policies import Choice, evolve, greedy, mcts
from podium.agents.search.proposer import Context, Proposer
from podium.agents.search.search import SearchAgent
from podium.agents.search.tree import Tree

ROLES = {"coder": "writes scripts", "reviewer": "reads outputs in which no score was found"}


class _ModelSearch(SearchAgent):
    needs_model = True
    roles = ROLES

    def make_proposer(self, context: Context) -> Proposer:
        assert isinstance(self.options, WritingOptions)
        return ModelProposer(context, self.options)


class AideOptions(WritingOptions, GreedyOptions):
    """The policy's and the model's options."""


class Aide(_ModelSearch):
    """Tree search by a model: drafts, then debugs and improves the best (greedy, as AIDE)."""

    Options = AideOptions
    options: AideOptions

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        return greedy(tree, self.options, rng)


class MctsAgentOptions(WritingOptions, MctsOptions):
    """The policy's and the model's options."""


class Mcts(_ModelSearch):
    """Tree search by a model, guided by upper confidence bounds (Monte Carlo, as AIRA)."""

    Options = MctsAgentOptions
    options: MctsAgentOptions

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        return mcts(tree, self.options, rng)


class EvolveAgentOptions(WritingOptions, EvolveOptions):
    """The policy's and the model's options."""


class Evolve(_ModelSearch):
    """A population of a model's scripts, improved and merged by fitness (as AIRA)."""

    Options = EvolveAgentOptions
    options: EvolveAgentOptions

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        return evolve(tree, self.options, rng)
