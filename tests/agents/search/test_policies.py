"""What policies choose on fixed trees, computed by hand."""

from __future__ import annotations

import pytest
from trees import Chance, node, tree

from podium.agents.search.policies import Choice, evolve, greedy, mcts
from podium.agents.search.search_options import EvolveOptions, GreedyOptions, MctsOptions
from podium.agents.search.search_tree import Tree

DRAFT = Choice("draft")
NEVER, ALWAYS = 0.99, 0.0
"""Numbers that are never, and always, below a probability of one half."""


def mirrored(found: Tree) -> Tree:
    """The same tree for a metric of which less is better."""
    nodes = [
        node.model_copy(update={"metric": None if node.metric is None else -node.metric}, deep=True) for node in found
    ]
    return Tree(nodes=nodes, higher_is_better=not found.higher_is_better)


class TestGreedy:
    options = GreedyOptions(drafts=2)

    def test_drafts_come_first_even_if_they_are_broken_or_still_run(self) -> None:
        assert greedy(tree(), self.options, Chance()) == DRAFT
        assert greedy(tree(node(0, "draft")), self.options, Chance()) == DRAFT
        full = tree(node(0, "draft", metric=0.5), node(1, "draft", running=True))
        assert greedy(full, self.options, Chance(NEVER)) == Choice("improve", (0,))

    def test_the_best_is_improved(self) -> None:
        found = tree(node(0, "draft", metric=0.5), node(1, "draft", metric=0.7), node(2, "improve", 1, metric=0.6))
        assert greedy(found, self.options, Chance(NEVER)) == Choice("improve", (1,))
        assert greedy(mirrored(found), self.options, Chance(NEVER)) == Choice("improve", (1,))
        worst = tree(*found.nodes, higher_is_better=False)
        assert greedy(worst, self.options, Chance(NEVER)) == Choice("improve", (0,))

    def test_of_equals_the_older_is_improved(self) -> None:
        found = tree(node(0, "draft", metric=0.7), node(1, "draft", metric=0.7))
        assert greedy(found, self.options, Chance(NEVER)) == Choice("improve", (0,))

    def test_a_broken_leaf_is_mended_with_some_probability(self) -> None:
        found = tree(node(0, "draft"), node(1, "draft"), node(2, "improve", 1), node(3, "draft", metric=0.5))
        # 0 and 2 are leaves, 1 is not; the second number chooses among them.
        assert greedy(found, self.options, Chance(ALWAYS, 0.0)) == Choice("debug", (0,))
        assert greedy(found, self.options, Chance(ALWAYS, 0.5)) == Choice("debug", (2,))
        assert greedy(found, self.options, Chance(NEVER)) == Choice("improve", (3,))

    def test_a_leaf_is_given_up_after_too_many_repairs(self) -> None:
        chain = [node(0, "draft", metric=0.5), node(1, "draft"), *(node(n, "debug", n - 1) for n in (2, 3, 4))]
        assert greedy(tree(*chain), self.options, Chance(ALWAYS, 0.0)) == Choice("debug", (4,))  # depth 3
        longer = tree(*chain, node(5, "debug", 4))  # depth 4
        assert greedy(longer, self.options, Chance(ALWAYS)) == Choice("improve", (0,))

    def test_without_anything_that_works_there_is_another_draft(self) -> None:
        found = tree(node(0, "draft"), node(1, "draft"))
        assert greedy(found, self.options, Chance(NEVER)) == DRAFT

    def test_a_metric_without_a_valid_submission_does_not_count(self) -> None:
        invalid = node(0, "draft", metric=0.9)
        assert invalid.result is not None
        invalid.result = invalid.result.model_copy(update={"valid": False})
        found = tree(invalid, node(1, "draft", metric=0.5))
        assert greedy(found, self.options, Chance(NEVER)) == Choice("improve", (1,))


class TestMcts:
    options = MctsOptions(drafts=2, children=2)
    expanded = (
        node(0, "draft", metric=0.6),
        node(1, "draft", metric=0.8),
        node(2, "improve", 1, metric=0.7),
        node(3, "improve", 1, metric=0.62),
    )

    def test_published_constants(self) -> None:
        options = MctsOptions()
        assert (options.exploration, options.children, options.drafts, options.debug_depth) == (0.25, 5, 5, 10)

    @pytest.mark.parametrize(
        ("count", "choice"),
        [
            (0, DRAFT),
            (1, DRAFT),
            # bounds 0 + .25 sqrt(ln 2 / 1) = .208 and 1 + .208
            (2, Choice("improve", (1,))),
            (3, Choice("improve", (1,))),  # the expansion goes on
            # root: 0: 0 + .25 sqrt(ln 4 / 1) = .294; 1: mean .7067, normalised .5333, + .25 sqrt(ln 4 / 3) = .703
            # then: 2: .5 + .25 sqrt(ln 3 / 1) = .762; 3: .1 + .262 = .362
            (4, Choice("improve", (2,))),
        ],
    )
    def test_bounds_lead_the_way(self, count: int, choice: Choice) -> None:
        found = tree(*self.expanded[:count])
        assert mcts(found, self.options, Chance()) == choice
        assert mcts(mirrored(found), self.options, Chance()) == choice

    def test_much_exploration_goes_where_few_have_been(self) -> None:
        # root: 0: 0 + 2 sqrt(ln 4 / 1) = 2.355; 1: .5333 + 2 sqrt(ln 4 / 3) = 1.893
        options = self.options.model_copy(update={"exploration": 2.0})
        assert mcts(tree(*self.expanded), options, Chance()) == Choice("improve", (0,))

    def test_broken_scripts_are_debugged_immediately_and_then_dropped(self) -> None:
        options = self.options.model_copy(update={"debug_depth": 2})
        nodes = [node(0, "draft"), node(1, "debug", 0)]
        assert mcts(tree(nodes[0]), options, Chance()) == Choice("debug", (0,))
        assert mcts(tree(*nodes), options, Chance()) == Choice("debug", (1,))
        nodes.append(node(2, "debug", 1))
        assert mcts(tree(*nodes), options, Chance()) == DRAFT

    def test_a_mended_script_is_expanded_and_dead_branches_are_not_entered(self) -> None:
        options = self.options.model_copy(update={"debug_depth": 1})
        dead = [node(0, "draft"), node(1, "debug", 0)]
        found = tree(*dead, node(2, "draft"), node(3, "debug", 2, metric=0.5))
        assert mcts(found, options, Chance()) == Choice("improve", (3,))

    def test_without_anything_that_works_there_are_more_drafts(self) -> None:
        options = self.options.model_copy(update={"debug_depth": 0})
        assert mcts(tree(node(0, "draft"), node(1, "draft")), options, Chance()) == DRAFT

    def test_a_full_expansion_waits_for_running_scripts(self) -> None:
        running = tree(node(0, "draft", metric=0.6), node(1, "draft", running=True))
        assert mcts(running, self.options, Chance()) is None
        assert mcts(tree(node(0, "draft", running=True)), self.options, Chance()) == DRAFT


class TestEvolve:
    options = EvolveOptions(drafts=3, generation=2)
    drafts = (node(0, "draft", metric=0.5), node(1, "draft", metric=0.9), node(2, "draft", metric=0.4))

    def test_published_constants(self) -> None:
        options = EvolveOptions()
        assert (options.drafts, options.generation, options.crossover, options.parent_temperature) == (5, 5, 0.5, 1.0)
        assert (options.capacity, options.debug_depth) == (500, 10)

    def test_the_first_generation_are_drafts(self) -> None:
        for count in range(3):
            assert evolve(tree(*self.drafts[:count]), self.options, Chance()) == DRAFT

    def test_parents_are_drawn_by_fitness(self) -> None:
        # 0 joins an empty population, 1 is above its mean of .5, 2 is below the mean of .7 and stays out.
        # Fitness: 0: (.5 - .4) / .5 = .2, 1: 1; weights e^.2 = 1.2214 and e^1 = 2.7183, so 0 is drawn below .3100.
        for found in (tree(*self.drafts), mirrored(tree(*self.drafts))):
            assert evolve(found, self.options, Chance(0.30)) == Choice("improve", (0,))
            assert evolve(found, self.options, Chance(0.32)) == Choice("improve", (1,))

    def test_a_low_temperature_draws_the_best(self) -> None:
        cold = self.options.model_copy(update={"parent_temperature": 0.001})
        assert evolve(tree(*self.drafts), cold, Chance(0.001)) == Choice("improve", (1,))

    def test_merging_starts_with_the_second_generation_of_children(self) -> None:
        first = tree(*self.drafts, node(3, "improve", 1, metric=0.6))
        assert evolve(first, self.options, Chance(0.32)) == Choice("improve", (1,))  # generation 1: no chance is asked
        second = tree(*first.nodes, node(4, "improve", 1, metric=0.8))
        # Population .5, .9, and .8, which is above the mean of .7; .6 is not. Fitness .2, 1, .8: weights 1.2214,
        # 2.7183, 2.2255, in all 6.1652. 0.9 draws the third (from .639 on); then 0.5 the second (from .310 on).
        assert evolve(second, self.options, Chance(ALWAYS, 0.9, 0.5)) == Choice("merge", (4, 1))
        assert evolve(second, self.options, Chance(NEVER, 0.1)) == Choice("improve", (0,))

    def test_children_join_only_when_their_generation_is_complete(self) -> None:
        found = tree(*self.drafts, node(3, "improve", 1, metric=1.4))
        # Were 3 in the population, the last number would draw it. Fitness: 0: .1, 1: .5; weights 1.1052 and 1.6487.
        assert evolve(found, self.options, Chance(0.99)) == Choice("improve", (1,))

    def test_a_single_survivor_cannot_be_merged(self) -> None:
        found = tree(node(0, "draft", metric=0.9), *(node(n, "draft", metric=0.5) for n in range(1, 5)))
        assert evolve(found, self.options, Chance(0.5)) == Choice("improve", (0,))

    def test_the_worst_is_dropped_when_there_are_too_many(self) -> None:
        small = self.options.model_copy(update={"capacity": 2})
        found = tree(*self.drafts[:2], node(2, "draft", metric=0.8))
        # All three join; 0 is dropped. Fitness 1 and .75: weights 2.7183 and 2.1170, so 1 is drawn below .5622.
        assert evolve(found, small, Chance(0.0)) == Choice("improve", (1,))
        assert evolve(found, small, Chance(0.57)) == Choice("improve", (2,))

    def test_broken_children_are_mended_and_take_part_by_their_repair(self) -> None:
        found = tree(*self.drafts[:2], node(2, "draft"))
        assert evolve(found, self.options, Chance()) == Choice("debug", (2,))
        mended = tree(*found.nodes, node(3, "debug", 2, metric=1.0))
        assert evolve(mended, self.options, Chance(0.999)) == Choice("improve", (3,))
        hopeless = self.options.model_copy(update={"debug_depth": 0})
        assert evolve(found, hopeless, Chance(0.999)) == Choice("improve", (1,))

    def test_a_generation_waits_for_running_scripts(self) -> None:
        found = tree(*self.drafts[:2], node(2, "draft", running=True))
        assert evolve(found, self.options, Chance()) is None

    def test_without_survivors_there_are_more_drafts(self) -> None:
        hopeless = self.options.model_copy(update={"debug_depth": 0})
        assert evolve(tree(*(node(n, "draft") for n in range(3))), hopeless, Chance()) == DRAFT
