"""Monte Carlo tree search over scripts that a model writes, as in AIRA."""

from __future__ import annotations

from random import Random

from podium.agents.search.model import ModelSearchAgent
from podium.agents.search.options import MctsOptions, ModelOptions
from podium.agents.search.policies import Choice, mcts
from podium.agents.search.tree import Tree


class MctsAgentOptions(ModelOptions, MctsOptions):
    """The policy's and the model's options."""


class Mcts(ModelSearchAgent):
    Options = MctsAgentOptions
    options: MctsAgentOptions

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        return mcts(tree, self.options, rng)


agent = Mcts
