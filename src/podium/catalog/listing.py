"""Task listings: the facts shown in lists, read for built-in tasks without importing them.

`index.json` is generated from the task files (`make index` updates it, a test checks that it is current).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from podium.task import Suite, Task

INDEX = Path(__file__).with_name("index.json")
SUITE_TITLES = {
    "quick": "Nine forged tasks, each of another family, ready in seconds; not secret",
    "open-tables": "Real tables that come with a Python package: no account, no download",
    "mle-bench": "The 75 competitions of MLE-bench",
    "mle-bench-lite": "MLE-bench's 22 competitions of low complexity",
    "mle-bench-medium": "MLE-bench's 38 competitions of medium complexity",
    "mle-bench-high": "MLE-bench's 15 competitions of high complexity",
    "mle-bench-dev": "MLE-bench's 7 competitions for development",
    "mlagentbench": "The 13 research tasks of MLAgentBench",
}


@dataclass(frozen=True)
class Listing:
    """Facts of a task shown in lists."""

    id: str
    title: str
    kind: str
    metric: str
    higher_is_better: bool
    competition: bool
    """True if it is ranked on a leaderboard; research tasks are compared with their starter code instead."""
    editions: tuple[str, ...]
    suites: tuple[str, ...]


def describe(task: Task, suites: tuple[str, ...] = ()) -> Listing:
    """Return the listing of a task."""
    metric = task.in_edition().metric
    return Listing(
        id=task.id,
        title=task.title,
        kind=task.kind,
        metric=metric.title,
        higher_is_better=metric.higher_is_better,
        competition=task.starter is None,
        editions=tuple(task.editions),
        suites=suites,
    )


def read_listing(document: Mapping[str, Any]) -> Listing:
    """Return a listing from its JSON."""
    return Listing(**{**document, "editions": tuple(document["editions"]), "suites": tuple(document["suites"])})


@cache
def builtin_listings() -> tuple[Listing, ...]:
    """Return the listings of all tasks in the source tree."""
    return tuple(map(read_listing, json.loads(INDEX.read_text(encoding="utf-8"))))


@cache
def builtin_suites() -> dict[str, Suite]:
    """Return the suites of the tasks in the source tree, by name."""
    members: dict[str, list[str]] = {name: [] for name in SUITE_TITLES}
    for listing in builtin_listings():
        for name in listing.suites:
            members[name].append(listing.id)
    return {name: Suite(name, SUITE_TITLES[name], tuple(ids)) for name, ids in members.items()}
