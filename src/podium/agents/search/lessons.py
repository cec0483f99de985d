"""What a search has learnt so far, in a few lines: distilled from the tree, so it needs no model and no memory."""

from __future__ import annotations

from collections import Counter

from podium.actions.text import bounded
from podium.agents.search.prompts import failure_of
from podium.agents.search.tree import Node, Tree

SHOWN = 4
PLAN_CHARACTERS = 220


def lessons(tree: Tree) -> str:
    """The best script, the changes that helped and hurt most, and the errors that came more than once."""
    lines: list[str] = []
    if tree.best is not None and tree.best.metric is not None:
        lines.append(f"- Best so far, {tree.best.metric:.6g}: {_plan(tree.best)}")
    changes = sorted(_changes(tree), key=lambda change: -change[0])
    lines += [f"- Helped ({gain:+.4g}): {_plan(node)}" for gain, node in changes[:SHOWN] if gain > 0]
    lines += [f"- Did not help ({gain:+.4g}): {_plan(node)}" for gain, node in changes[::-1][:SHOWN] if gain <= 0]
    failed = Counter(
        failure_of(node.result, node.summary)[:160] for node in tree if node.result is not None and not node.is_good
    )
    lines += [f"- Failed {count} times: {bounded(text, 160)}" for text, count in failed.most_common(SHOWN) if count > 1]
    return "\n".join(lines)


def ancestors(tree: Tree, node: Node) -> str:
    """How a script came to be: the plans that led to it, each with what it did to the score."""
    lines: list[str] = []
    while node.parents and len(lines) < SHOWN:
        parent = tree[node.parents[0]]
        if node.metric is not None and parent.metric is not None:
            lines.append(f"- {_plan(node)} ({tree.sign * (node.metric - parent.metric):+.4g})")
        node = parent
    return "\n".join(reversed(lines))


def _changes(tree: Tree) -> list[tuple[float, Node]]:
    """What each improvement gained, better being positive."""
    return [
        (tree.sign * (node.metric - parent.metric), node)
        for node in tree
        if node.is_good and node.metric is not None and node.operator in ("improve", "merge") and node.parents
        if (parent := tree[node.parents[0]]).is_good and parent.metric is not None
    ]


def _plan(node: Node) -> str:
    return bounded(" ".join(node.plan.split()), PLAN_CHARACTERS)
