"""Small trees, written down."""

from __future__ import annotations

from random import Random
from typing import Any

from podium.agents.search.search_tree import Node, Operator, Tree
from podium.workspace.journal.observations import ScriptResult


def node(number: int, operator: Operator, *parents: int, metric: float | None = None, running: bool = False) -> Node:
    """A script that works and has a metric, or has failed, or still runs."""
    works = metric is not None
    result = None if running else ScriptResult(exit_code=0 if works else 1, metric=metric, valid=works, seconds=1.0)
    return Node(
        number=number,
        operator=operator,
        parents=parents,
        plan=f"plan {number}",
        script=f"# script {number}\n",
        result=result,
        metric=metric,
        is_buggy=not works,
    )


def tree(*nodes: Node, higher_is_better: bool = True) -> Tree:
    assert [node.number for node in nodes] == list(range(len(nodes)))
    return Tree(nodes=list(nodes), higher_is_better=higher_is_better)


class Chance(Random):
    """Chance that is known: the numbers given, one after the other."""

    def __init__(self, *numbers: float) -> None:
        super().__init__(0)
        self._numbers = list(numbers)

    def random(self) -> float:
        return self._numbers.pop(0)

    def choice(self, seq: Any) -> Any:
        return seq[int(self.random() * len(seq))]
