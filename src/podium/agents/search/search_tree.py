"""The tree of scripts that a search has tried: the whole memory of a search agent."""

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
    """One script and how it did."""

    number: int
    operator: Operator
    parents: tuple[int, ...] = ()
    plan: str
    script: str
    is_written: bool = True
    """Whether the proposer succeeded in writing the script; if not, the script only reports this."""
    result: ScriptResult | None = None
    """None while it runs."""
    metric: float | None = None
    """Its validation score as agreed on after review; None if it has none."""
    validation: str = ""
    """On what it was scored, where that differs between scripts."""
    is_buggy: bool = True
    summary: str = ""
    """Summary by the reviewer."""

    @property
    def is_good(self) -> bool:
        """Whether its submission could be the final one. A fallback, such as the sample submission, has no score."""
        return not self.is_buggy and self.result is not None and self.result.valid

    @property
    def is_behind(self) -> bool:
        """Whether it was ended for being worse than others, so that there is nothing to fix."""
        return self.result is not None and not self.result.valid and BEHIND in self.result.output


class Tree(BaseModel):
    """All nodes, numbered from 0 in the order they were made."""

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
        """Factor that makes greater scores better: 1 or -1."""
        return 1.0 if self.higher_is_better else -1.0

    @property
    def good(self) -> list[Node]:
        """The nodes with a valid submission, best first; of equals, the older.

        Scores of different validations do not compare: those of the validation that most nodes share come first, then
        the others, and last the nodes without a score.
        """
        good = [node for node in self.nodes if node.is_good]
        shared = Counter(node.validation for node in good if node.metric is not None)
        latest = {node.validation: node.number for node in good}

        def place(node: Node) -> tuple[bool, int, int, float, int]:
            if node.metric is None:
                return True, 0, 0, 0.0, -node.number  # later fallbacks are less of a guess than the sample submission
            of = node.validation
            return False, -shared[of], -latest[of], -self.sign * node.metric, node.number

        return sorted(good, key=place)

    @property
    def comparable(self) -> list[Node]:
        """The good nodes whose scores compare with that of the best, best first."""
        good = self.good
        return [node for node in good if node.metric is not None and node.validation == good[0].validation]

    @property
    def best(self) -> Node | None:
        good = self.good
        return good[0] if good else None

    @property
    def failed(self) -> list[Node]:
        """The nodes that ended without a usable submission."""
        return [node for node in self.nodes if node.result and not node.is_good]

    @property
    def drafts(self) -> list[Node]:
        return [node for node in self.nodes if node.operator == "draft"]

    def children(self, number: int) -> list[Node]:
        return [node for node in self.nodes if number in node.parents]

    def debug_depth(self, node: Node) -> int:
        """Return the number of consecutive debug steps that lead to a node."""
        return 1 + self.debug_depth(self.nodes[node.parents[0]]) if node.operator == "debug" else 0
