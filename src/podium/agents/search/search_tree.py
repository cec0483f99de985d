"""Tree of scripts that a search has tried: the complete memory of a search agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel

from podium.workspace.journal.observations import ScriptResult

Operator = Literal["draft", "debug", "improve", "merge"]
BEHIND = "podium-behind:"
"""Marker printed by a script that ended early because others were better at the same stage."""


class Node(BaseModel):
    """Script and its result."""

    number: int
    operator: Operator
    parents: tuple[int, ...] = ()
    plan: str
    script: str
    is_written: bool = True
    """False if the proposer failed to write a script; then the script only reports this."""
    result: ScriptResult | None = None
    """Result of the script; None while it runs."""
    metric: float | None = None
    """Validation score after the review; None if there is none."""
    validation: str = ""
    """Rows on which it was scored, if that differs between scripts."""
    is_buggy: bool = True
    summary: str = ""
    """Summary by the reviewer."""

    @property
    def is_good(self) -> bool:
        """Return whether it can be the final submission. Fallbacks, such as the sample submission, have no score."""
        return not self.is_buggy and self.result is not None and self.result.valid

    @property
    def is_behind(self) -> bool:
        """Return whether it was stopped for being worse than others, so there is nothing to fix."""
        return self.result is not None and not self.result.valid and BEHIND in self.result.output


class Tree(BaseModel):
    """All nodes of a search, numbered from 0 in order of creation."""

    nodes: list[Node] = []
    higher_is_better: bool

    def __iter__(self) -> Iterator[Node]:  # type: ignore[override]
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, number: int) -> Node:
        return self.nodes[number]

    @property
    def sign(self) -> float:
        """Return the factor that makes greater scores better: 1 or -1."""
        return 1.0 if self.higher_is_better else -1.0

    @property
    def good(self) -> list[Node]:
        """Return the nodes with a valid submission, best first and older first among equals.

        Scores on different validation rows are not comparable: the most common validation comes first, then the others,
        and nodes without a score come last.
        """
        good = [node for node in self.nodes if node.is_good]
        shared = Counter(node.validation for node in good if node.metric is not None)
        latest = {node.validation: node.number for node in good}

        def place(node: Node) -> tuple[bool, int, int, float, int]:
            if node.metric is None:
                return True, 0, 0, 0.0, -node.number  # later fallbacks are better than the sample submission
            of = node.validation
            return False, -shared[of], -latest[of], -self.sign * node.metric, node.number

        return sorted(good, key=place)

    @property
    def comparable(self) -> list[Node]:
        """Return the good nodes whose scores are comparable with that of the best node, best first."""
        good = self.good
        return [node for node in good if node.metric is not None and node.validation == good[0].validation]

    @property
    def best(self) -> Node | None:
        good = self.good
        return good[0] if good else None

    @property
    def failed(self) -> list[Node]:
        """Return the nodes that ended without a usable submission."""
        return [node for node in self.nodes if node.result and not node.is_good]

    @property
    def drafts(self) -> list[Node]:
        return [node for node in self.nodes if node.operator == "draft"]

    def children(self, number: int) -> list[Node]:
        return [node for node in self.nodes if number in node.parents]

    def debug_depth(self, node: Node) -> int:
        """Return the number of consecutive debug steps that lead to a node."""
        return 1 + self.debug_depth(self.nodes[node.parents[0]]) if node.operator == "debug" else 0
