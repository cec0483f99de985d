"""The search tree of a run, from the states its agent decided in, and how it is laid out on a page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from pydantic import ValidationError

from podium.agents.search.search_agent import SearchState, observed_state
from podium.agents.search.search_tree import Node, Tree
from podium.errors import PodiumError, RecordError
from podium.runs.records import Decision
from podium.runs.run_folder import RunFolder
from podium.viewer.index.snapshot_files import read_blob
from podium.workspace.journal.events import whole_action, whole_observation
from podium.workspace.journal.journal import JournalFollower

SHADES = 7
"""How many colours tell good scripts from better ones."""
COLUMN, LINE, MARGIN, LABEL = 92, 76, 36, 36


@dataclass(frozen=True)
class Search:
    """A search at some time."""

    tree: Tree
    submitted: int | None
    unreviewed: frozenset[int]

    def kind(self, node: Node) -> str:
        """The state of a script: good, buggy, running, or finished but not reviewed."""
        if node.result is None:
            return "running"
        if node.number in self.unreviewed:
            return "unreviewed"
        return "good" if node.is_good else "buggy"


def read_search(run: RunFolder, journal: JournalFollower, step: int | None = None) -> Search | None:
    """The search after a step, or as it is now; None if the agent keeps no tree, or it cannot be read."""
    try:
        state = _newest_state(run, journal) if step is None else _state_after(run, journal, step)
    except RecordError:  # the pages of the steps say what is wrong
        return None
    return None if state is None else Search(state.tree, state.submitted, frozenset(state.unreviewed))


def keeps_tree(run: RunFolder, journal: JournalFollower) -> bool:
    """Whether the agent of a run is one that searches: its first state says so."""
    return bool(journal.steps) and _is_search(run.path, journal.step(1).state)


@lru_cache(maxsize=256)
def _is_search(run: Path, blob: str) -> bool:
    return _read_state(RunFolder(run), blob) is not None


def _newest_state(run: RunFolder, journal: JournalFollower) -> SearchState | None:
    """The actions decided last may not be done yet: the scripts that run now are in that state."""
    count = len(journal.steps)
    decision = run.read(run.decision, Decision)
    if decision is not None and decision.first > (journal.step(count).decision if count else -1):
        return _read_state(run, decision.state)
    return _state_after(run, journal, count) if count else None


def _state_after(run: RunFolder, journal: JournalFollower, number: int) -> SearchState | None:
    """The state a step was decided in, with the results of it and of those decided with it until then."""
    steps = [journal.step(number)]
    state = _read_state(run, steps[0].state)
    if state is None:
        return None
    while number > 1 and (step := journal.step(number - 1)).decision == steps[0].decision:
        steps.append(step)
        number -= 1
    get = partial(read_blob, run)
    try:
        return observed_state(
            state, [whole_action(each, get) for each in steps], [whole_observation(each, get) for each in steps]
        )
    except (ValueError, TypeError, LookupError, AssertionError):
        return state  # an action that does not belong to a search


def _read_state(run: RunFolder, blob: str) -> SearchState | None:
    try:
        return SearchState.model_validate_json(read_blob(run, blob))
    except (PodiumError, ValidationError):
        return None


@dataclass(frozen=True)
class Spot:
    """A node on the page."""

    node: Node
    kind: str
    shade: int
    """From 0, the worst, to SHADES - 1, the best; only of good nodes."""
    is_best: bool
    is_submitted: bool
    x: int
    y: int

    @property
    def score(self) -> str:
        """What is written beside the node."""
        return f"{self.node.metric:.3g}" if self.kind == "good" and self.node.metric is not None else ""

    @property
    def words(self) -> str:
        """The node in one line."""
        node, parts = self.node, [f"{self.node.operator} {self.node.number}"]
        parts.append(f"score {node.metric:.5g}" if self.kind == "good" and node.metric is not None else self.kind)
        parts += ["best"] if self.is_best else []
        parts += ["submitted"] if self.is_submitted else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Edge:
    x1: int
    y1: int
    x2: int
    y2: int
    is_second: bool
    """Whether it leads to a further parent, of a merged script."""


@dataclass(frozen=True)
class OutlineItem:
    """A node of the tree as nested lists, from top to bottom."""

    spot: Spot
    opens: bool
    """Whether a list of children follows."""
    closes: int
    """How many lists end after it."""


@dataclass(frozen=True)
class TreePicture:
    """A laid-out tree."""

    spots: list[Spot]
    edges: list[Edge]
    items: list[OutlineItem]
    width: int
    height: int


def draw(search: Search) -> TreePicture:
    """The picture with every node below its first parent, families side by side."""
    tree = search.tree
    children: dict[int, list[Node]] = {node.number: [] for node in tree}
    roots: list[Node] = []
    depth: dict[int, int] = {}
    for node in tree:  # parents are older than their children
        parent = node.parents[0] if node.parents and node.parents[0] < node.number else None
        (roots if parent is None else children[parent]).append(node)
        depth[node.number] = 0 if parent is None else depth[parent] + 1
    order = _order(roots, children)
    columns = _columns(order, children)
    shades = _shades(tree)
    best = tree.best
    spots = {
        node.number: Spot(
            node,
            search.kind(node),
            shades.get(node.number, 0),
            is_best=best is not None and best.number == node.number,
            is_submitted=search.submitted == node.number,
            x=MARGIN + round(columns[node.number] * COLUMN),
            y=MARGIN + depth[node.number] * LINE,
        )
        for node in tree
    }
    return TreePicture(
        spots=list(spots.values()),
        edges=[
            Edge(spots[parent].x, spots[parent].y, spots[node.number].x, spots[node.number].y, is_second=place > 0)
            for node in tree
            for place, parent in enumerate(node.parents)
            if parent < node.number
        ],
        items=_items(order, depth, spots),
        width=2 * MARGIN + LABEL + max((spot.x - MARGIN for spot in spots.values()), default=0),
        height=2 * MARGIN + max((spot.y - MARGIN for spot in spots.values()), default=0),
    )


def _order(roots: list[Node], children: dict[int, list[Node]]) -> list[int]:
    """Every node before its children, families together. A chain of thousands is too deep for recursion."""
    order: list[int] = []
    waiting = [node.number for node in reversed(roots)]
    while waiting:
        number = waiting.pop()
        order.append(number)
        waiting += [child.number for child in reversed(children[number])]
    return order


def _columns(order: list[int], children: dict[int, list[Node]]) -> dict[int, float]:
    """Leaves stand side by side, parents in the middle above their children."""
    leaves = [number for number in order if not children[number]]
    columns = {number: float(place) for place, number in enumerate(leaves)}
    for number in reversed(order):
        if children[number]:
            below = [columns[child.number] for child in children[number]]
            columns[number] = (below[0] + below[-1]) / 2
    return columns


def _items(order: list[int], depth: dict[int, int], spots: dict[int, Spot]) -> list[OutlineItem]:
    depths = [*(depth[number] for number in order), 0]
    return [
        OutlineItem(spots[number], opens=after > before, closes=max(0, before - after))
        for number, before, after in zip(order, depths, depths[1:], strict=False)
    ]


def _shades(tree: Tree) -> dict[int, int]:
    """Colours by rank among the good nodes, as scores are rarely spread evenly."""
    good = tree.good
    if len(good) < 2:
        return {node.number: SHADES - 1 for node in good}
    return {node.number: round((SHADES - 1) * (1 - place / (len(good) - 1))) for place, node in enumerate(good)}
