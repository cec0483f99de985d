"""Evolution of scripts that a model writes, improves and merges, as in AIRA."""

from __future__ import annotations

from random import Random

from podium.agents.search.model import ModelSearchAgent
from podium.agents.search.options import EvolveOptions, ModelOptions
from podium.agents.search.policies import Choice, evolve
from podium.agents.search.tree import Tree


class EvolveAgentOptions(ModelOptions, EvolveOptions):
    """The policy's and the model's options."""


class Evolve(ModelSearchAgent):
    Options = EvolveAgentOptions
    options: EvolveAgentOptions

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        return evolve(tree, self.options, rng)


agent = Evolve
