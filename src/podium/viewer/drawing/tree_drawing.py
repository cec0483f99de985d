"""Search tree of a run: read from the agent's saved states and laid out for a page."""

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
from podium.workspace.journal.events import read_full_action, read_full_observation
from podium.workspace.journal.journal import JournalFollower

SHADES = 7
"""Number of colours for ranking good scripts."""
COLUMN, LINE, MARGIN, LABEL = 92, 76, 36, 36


@dataclass(frozen=True)
class Search:
    """State of a search after a step."""

    tree: Tree
    submitted: int | None
    unreviewed: frozenset[int]

    def kind(self, node: Node) -> str:
        """Return the state of a script: good, buggy, running, or unreviewed (finished, but not reviewed)."""
        if node.result is None:
            return "running"
        if node.number in self.unreviewed:
            return "unreviewed"
        return "good" if node.is_good else "buggy"


def read_search(run: RunFolder, journal: JournalFollower, step: int | None = None) -> Search | None:
    """Return the search after a step, by default the current one, or None without a readable tree."""
    try:
        state = _newest_state(run, journal) if step is None else _state_after(run, journal, step)
    except RecordError:  # the pages of the steps show the error
        return None
    return None if state is None else Search(state.tree, state.submitted, frozenset(state.unreviewed))


def keeps_tree(run: RunFolder, journal: JournalFollower) -> bool:
    """Return whether the agent of a run keeps a search tree, judging by its first state."""
    return bool(journal.steps) and _is_search(run.path, journal.step(1).state)


@lru_cache(maxsize=256)
def _is_search(run: Path, blob: str) -> bool:
    return _read_state(RunFolder(run), blob) is not None


def _newest_state(run: RunFolder, journal: JournalFollower) -> SearchState | None:
    """Return the newest state, including decided actions that are still running."""
    count = len(journal.steps)
    decision = run.read(run.decision, Decision)
    if decision is not None and decision.first > (journal.step(count).decision if count else -1):
        return _read_state(run, decision.state)
    return _state_after(run, journal, count) if count else None


def _state_after(run: RunFolder, journal: JournalFollower, number: int) -> SearchState | None:
    """Return the state in which a step was decided, updated with the results of that decision up to the step."""
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
            state, [read_full_action(each, get) for each in steps], [read_full_observation(each, get) for each in steps]
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
    """Node on the page."""

    node: Node
    kind: str
    shade: int
    """Rank of a good node from 0, the worst, to SHADES - 1, the best."""
    is_best: bool
    is_submitted: bool
    x: int
    y: int

    @property
    def score(self) -> str:
        """Score written beside the node."""
        return f"{self.node.metric:.3g}" if self.kind == "good" and self.node.metric is not None else ""

    @property
    def words(self) -> str:
        """Description of the node in one line."""
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
    """True if it leads to a further parent of a merged script."""


@dataclass(frozen=True)
class OutlineItem:
    """Node of the tree in the nested list."""

    spot: Spot
    opens: bool
    """True if a list of children follows."""
    closes: int
    """Number of lists that end after the node."""


@dataclass(frozen=True)
class TreePicture:
    """Tree with its layout."""

    spots: list[Spot]
    edges: list[Edge]
    items: list[OutlineItem]
    width: int
    height: int


def draw(search: Search) -> TreePicture:
    """Lay out a tree with every node below its first parent and subtrees side by side."""
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
    """Return the nodes in depth-first order, without recursion because a chain may have thousands of nodes."""
    order: list[int] = []
    waiting = [node.number for node in reversed(roots)]
    while waiting:
        number = waiting.pop()
        order.append(number)
        waiting += [child.number for child in reversed(children[number])]
    return order


def _columns(order: list[int], children: dict[int, list[Node]]) -> dict[int, float]:
    """Return the column of each node: leaves side by side, parents centred above their children."""
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
    """Return shades by rank among the good nodes, because scores are rarely evenly spread."""
    good = tree.good
    if len(good) < 2:
        return {node.number: SHADES - 1 for node in good}
    return {node.number: round((SHADES - 1) * (1 - place / (len(good) - 1))) for place, node in enumerate(good)}
