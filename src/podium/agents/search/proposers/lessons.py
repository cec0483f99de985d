"""Lessons of a search in a few lines, derived from the tree without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from podium.agents.search.proposers.search_prompts import failure_of
from podium.agents.search.search_tree import Node, Tree
from podium.text import bounded

SHOWN = 4
PLAN_CHARACTERS = 220


class Fix(BaseModel):
    """An error, and the plan of the script that fixed it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    error: str
    plan: str


class Experience(BaseModel):
    """Lessons of one task: plans and errors, without scores or data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    """Kind of the task."""
    helped: tuple[str, ...]
    fixes: tuple[Fix, ...]


def distill(tree: Tree, kind: str) -> Experience:
    """Return the lessons of a finished search."""
    changes = sorted(_changes(tree), key=lambda change: -change[0])
    fixes = [
        Fix(error=failure_of(broken.result)[:160], plan=_plan(node))
        for node in tree
        if node.operator == "debug" and node.is_good and (broken := tree[node.parents[0]]).result is not None
    ]
    helped = tuple(_plan(node) for gain, node in changes[:SHOWN] if gain > 0)
    return Experience(kind=kind, helped=helped, fixes=tuple(fixes[:SHOWN]))


def relevant_lessons(experiences: Sequence[Experience], kind: str, failed: Node | None) -> str:
    """Return lessons of other tasks: fixes of the same error or, without one, plans that helped on the same kind."""
    if failed is not None and failed.result is not None:
        name = failure_of(failed.result).partition(":")[0]
        lines = [fix.plan for task in experiences for fix in task.fixes if fix.error.partition(":")[0] == name]
    else:
        lines = [plan for task in experiences if task.kind == kind for plan in task.helped]
    return "\n".join(f"- {line}" for line in dict.fromkeys(lines[:SHOWN]))


def lessons(tree: Tree) -> str:
    """Return the best script, the changes that helped and hurt most, and repeated errors."""
    lines: list[str] = []
    if tree.best is not None and tree.best.metric is not None:
        lines.append(f"- Best so far, {tree.best.metric:.6g}: {_plan(tree.best)}")
    changes = sorted(_changes(tree), key=lambda change: -change[0])
    lines += [f"- Helped ({gain:+.4g}): {_plan(node)}" for gain, node in changes[:SHOWN] if gain > 0]
    lines += [f"- Did not help ({gain:+.4g}): {_plan(node)}" for gain, node in changes[::-1][:SHOWN] if gain <= 0]
    failed = Counter(failure_of(node.result, node.summary)[:160] for node in tree.failed if node.result)
    lines += [f"- Failed {count} times: {bounded(text, 160)}" for text, count in failed.most_common(SHOWN) if count > 1]
    return "\n".join(lines)


def ancestors(tree: Tree, node: Node) -> str:
    """Return the plans that led to a script, each with its change of the score."""
    lines: list[str] = []
    while node.parents and len(lines) < SHOWN:
        parent = tree[node.parents[0]]
        if node.metric is not None and parent.metric is not None:
            lines.append(f"- {_plan(node)} ({tree.sign * (node.metric - parent.metric):+.4g})")
        node = parent
    return "\n".join(reversed(lines))


def _changes(tree: Tree) -> list[tuple[float, Node]]:
    """Return the gain of each improvement; positive is better."""
    return [
        (tree.sign * (node.metric - parent.metric), node)
        for node in tree
        if node.is_good and node.metric is not None and node.operator in ("improve", "merge") and node.parents
        if (parent := tree[node.parents[0]]).is_good and parent.metric is not None
    ]


def _plan(node: Node) -> str:
    return bounded(" ".join(node.plan.split()), PLAN_CHARACTERS)
