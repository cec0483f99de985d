"""AIDE: a model drafts some solutions, mends what breaks, and improves the best one again and again."""

from __future__ import annotations

from random import Random

from podium.agents.search.model import ModelSearchAgent
from podium.agents.search.options import GreedyOptions, ModelOptions
from podium.agents.search.policies import Choice, greedy
from podium.agents.search.tree import Tree


class AideOptions(ModelOptions, GreedyOptions):
    """The policy's and the model's options."""


class Aide(ModelSearchAgent):
    Options = AideOptions
    options: AideOptions

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        return greedy(tree, self.options, rng)


agent = Aide
