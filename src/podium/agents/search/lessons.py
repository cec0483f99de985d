"""What a search has learnt so far, in a few lines: distilled from the tree, so it needs no model and no memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from podium.actions.text import bounded
from podium.agents.search.prompts import failure_of, quoted
from podium.agents.search.tree import Node, Tree

SHOWN = 4
FINDING_CHARACTERS = 2_500
PLAN_CHARACTERS = 220


class Fix(BaseModel):
    """An error, and the plan of the script that got rid of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    error: str
    plan: str


class Experience(BaseModel):
    """What one task has taught: plans and errors, no scores and no data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    """Of the task."""
    helped: tuple[str, ...]
    fixes: tuple[Fix, ...]


def distilled(tree: Tree, kind: str) -> Experience:
    """What a finished search has taught."""
    changes = sorted(_changes(tree), key=lambda change: -change[0])
    fixes = [
        Fix(error=failure_of(broken.result)[:160], plan=_plan(node))
        for node in tree
        if node.operator == "debug" and node.is_good and (broken := tree[node.parents[0]]).result is not None
    ]
    helped = tuple(_plan(node) for gain, node in changes[:SHOWN] if gain > 0)
    return Experience(kind=kind, helped=helped, fixes=tuple(fixes[:SHOWN]))


def recalled(known: Sequence[Experience], kind: str, failed: Node | None) -> str:
    """What is worth knowing from other tasks: what got rid of the same error or, without one, helped with such data."""
    if failed is not None and failed.result is not None:
        name = failure_of(failed.result).partition(":")[0]
        lines = [fix.plan for each in known for fix in each.fixes if fix.error.partition(":")[0] == name]
    else:
        lines = [plan for each in known if each.kind == kind for plan in each.helped]
    return "\n".join(f"- {line}" for line in dict.fromkeys(lines[:SHOWN]))


def findings(tree: Tree, parents: Sequence[Node]) -> str:
    """What looking at the data has shown, and which parts of a script matter."""
    looks = [node for node in tree if node.operator == "look"]
    ablations = [node for parent in parents[:1] for node in tree.children(parent.number) if node.operator == "ablate"]
    parts = (
        ("A look at the data has shown:", looks[-1:]),
        ("Switching off parts of the script has shown (refine the part that matters most):", ablations[-1:]),
    )
    return "\n\n".join(
        f"{title}\n{quoted('output', bounded(node.result.output, FINDING_CHARACTERS))}"
        for title, nodes in parts
        for node in nodes
        if node.result is not None and node.result.exit_code == 0
    )


def lessons(tree: Tree) -> str:
    """The best script, the changes that helped and hurt most, and the errors that came more than once."""
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
