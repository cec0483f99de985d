"""Policies choose the next operator and its parents, as pure functions of the tree, options and a random generator.

`greedy` is AIDE's policy, `mcts` and `evolve` are AIRA's. A policy returns None to wait for running scripts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from podium.agents.search.search_options import EvolveOptions, FrontierOptions, GreedyOptions, MctsOptions
from podium.agents.search.search_tree import Node, Operator, Tree

ROOT = -1
"""Parent of all drafts."""


@dataclass(frozen=True)
class Choice:
    """Decision of a policy: an operator and the nodes it applies to."""

    operator: Operator
    parents: tuple[int, ...] = ()


DRAFT = Choice("draft")


def greedy(tree: Tree, options: GreedyOptions, rng: Random) -> Choice | None:
    """Draft first; then debug a broken script with some probability, otherwise improve the best one."""
    if len(tree.drafts) < options.drafts:
        return DRAFT
    if rng.random() < options.debug_probability:
        broken = [node for node in _broken_leaves(tree) if tree.debug_depth(node) <= options.debug_depth]
        if broken:
            return Choice("debug", (rng.choice(broken).number,))
    best = tree.best
    return DRAFT if best is None else Choice("improve", (best.number,))


def mcts(tree: Tree, options: MctsOptions, rng: Random) -> Choice | None:
    """Expand, child by child, the script with the greatest upper confidence bound; debug broken scripts immediately.

    A script's value is the mean metric of all working scripts in its branch, its visits are their number. A branch
    in which nothing works is not entered.
    """
    broken = [node for node in _broken_leaves(tree) if tree.debug_depth(node) < options.debug_depth]
    if broken:
        return Choice("debug", (broken[0].number,))
    branches = _Branches(tree)
    place = branches.half_expanded(options)
    if place is None:
        if any(node.result is None for node in tree):
            return None
        place = branches.descend(options.exploration)
    return DRAFT if place == ROOT else Choice("improve", (place,))


def evolve(tree: Tree, options: EvolveOptions, rng: Random) -> Choice | None:
    """Draft, then improve and merge fit parents, generation by generation; debug broken scripts immediately."""
    broken = [node for node in _broken_leaves(tree) if tree.debug_depth(node) < options.debug_depth]
    if broken:
        return Choice("debug", (broken[0].number,))
    founders = [node for node in tree if node.operator != "debug"]
    if len(founders) < options.drafts:
        return DRAFT
    generation, place = divmod(len(founders) - options.drafts, options.generation)
    if place == 0 and any(node.result is None for node in tree):
        return None
    population = _population(tree, founders[: len(founders) - place], options.capacity)
    if not population:
        return DRAFT
    # Counted from 0, the drafts; so this is generation + 1.
    if generation + 1 >= 2 and len(population) > 1 and rng.random() < options.crossover:
        return Choice("merge", _select(tree, population, 2, options.parent_temperature, rng))
    return Choice("improve", _select(tree, population, 1, options.parent_temperature, rng))


def frontier(tree: Tree, options: FrontierOptions, rng: Random) -> Choice | None:
    """Draft, debug broken scripts, then improve leaders of branches; merge two branches when nothing gets better."""
    broken = [node for node in _broken_leaves(tree) if tree.debug_depth(node) < options.debug_depth]
    if broken and rng.random() < options.debug_probability:
        return Choice("debug", (broken[0].number,))
    if len(tree.drafts) < options.drafts:
        return DRAFT
    leaders = branch_leaders(tree)
    if not leaders:
        return DRAFT
    if options.fusion and len(leaders) > 1 and stagnation(tree) >= options.patience:
        tried = {node.parents for node in tree if node.operator == "merge"}
        pairs = [(leaders[0].number, other.number) for other in leaders[1:]]
        if new := [pair for pair in pairs if pair not in tried]:
            return Choice("merge", new[0])
    weights = [0.5**place for place in range(len(leaders))]
    return Choice("improve", (rng.choices(leaders, weights)[0].number,))


def branch_leaders(tree: Tree) -> list[Node]:
    """Return the best scored script of every branch, best first."""
    leaders: dict[int, Node] = {}
    for node in tree.good:
        if node.metric is not None:
            leaders.setdefault(_root(tree, node), node)
    return list(leaders.values())


def _root(tree: Tree, node: Node) -> int:
    """Return the draft or the merge from which a script descends."""
    while node.parents and node.operator != "merge":
        node = tree[node.parents[0]]
    return node.number


def stagnation(tree: Tree) -> int:
    """Return the number of scripts that ended since the best one was written."""
    best = tree.best
    return 0 if best is None else sum(node.number > best.number and node.result is not None for node in tree)


def _broken_leaves(tree: Tree) -> list[Node]:
    """Return failed scripts without children, oldest first."""
    parents = {number for node in tree for number in node.parents}
    return [node for node in tree.failed if node.number not in parents and not node.is_behind]


def _value(tree: Tree, node: Node) -> float:
    """Return the metric of a working script with its sign changed so that higher is better."""
    assert node.metric is not None
    return node.metric if tree.higher_is_better else -node.metric


def normalised(value: float, values: Sequence[float]) -> float:
    """Scale a value to the range of others: 0 for the least, 1 for the greatest, 0.5 if all are equal."""
    low, high = min(values), max(values)
    return 0.5 if high == low else (value - low) / (high - low)


class _Branches:
    """Visits and values of every branch of the tree, for MCTS."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._values = [_value(tree, node) for node in tree if node.is_good]
        self._visits = dict.fromkeys([ROOT, *(node.number for node in tree)], 0)
        self._sums = dict.fromkeys(self._visits, 0.0)
        self._children: dict[int, list[int]] = {number: [] for number in self._visits}
        for node in reversed(tree.nodes):  # children have higher numbers than parents
            if node.is_good:
                self._visits[node.number] += 1
                self._sums[node.number] += _value(tree, node)
            parent = node.parents[0] if node.parents else ROOT
            self._visits[parent] += self._visits[node.number]
            self._sums[parent] += self._sums[node.number]
            self._children[parent].insert(0, node.number)

    def half_expanded(self, options: MctsOptions) -> int | None:
        """Return the node whose expansion is not complete, or None."""
        for place, children in self._children.items():
            size = options.drafts if place == ROOT else options.children
            expands = place == ROOT or self._tree[place].is_good
            if expands and len(children) % size:
                return place
        return None

    def descend(self, exploration: float) -> int:
        """Return the node to expand: follow the best child from the root until no child works."""
        place = ROOT
        while children := [child for child in self._children[place] if self._visits[child]]:
            visits = self._visits[place]
            place = max(children, key=lambda child: self._bound(child, visits, exploration))
        return place

    def _bound(self, child: int, parent_visits: int, exploration: float) -> float:
        visits = self._visits[child]
        value = normalised(self._sums[child] / visits, self._values)
        return value + exploration * math.sqrt(math.log(parent_visits) / visits)


def _population(tree: Tree, founders: Sequence[Node], capacity: int) -> list[Node]:
    """Return the population after adding these scripts, or their debugged versions, one by one."""
    population: list[Node] = []
    for founder in founders:
        survivor = _debugged(tree, founder)
        if survivor is None:
            continue
        values = [_value(tree, node) for node in population]
        if not values or _value(tree, survivor) >= sum(values) / len(values):
            population.append(survivor)
        if len(population) > capacity:
            population.remove(min(population, key=lambda node: (_value(tree, node), -node.number)))
    return population


def _debugged(tree: Tree, founder: Node) -> Node | None:
    """Return the script or, if it was broken, the end of its debug chain; None if that is broken too."""
    node: Node | None = founder
    while node is not None and not node.is_good:
        node = next((child for child in tree.children(node.number) if child.operator == "debug"), None)
    return node


def _select(tree: Tree, population: list[Node], count: int, temperature: float, rng: Random) -> tuple[int, ...]:
    """Sample parents without replacement, with probabilities that grow exponentially with fitness."""
    values = [_value(tree, node) for node in tree if node.is_good]
    rest, chosen = list(population), []
    for _ in range(count):
        # Subtracting 1 changes no proportion and avoids an overflow at low temperatures.
        weights = [math.exp((normalised(_value(tree, node), values) - 1) / temperature) for node in rest]
        chosen.append(rng.choices(rest, weights)[0])
        rest.remove(chosen[-1])
    return tuple(node.number for node in chosen)
