"""Every task, found by its id without importing the others.

A task file is named after its id, with underscores for hyphens, and defines `task`; the brief lies beside it as
Markdown (`ID.md`; `ID.fixed.md` holds what that edition adds to it). `index.json` repeats the facts that listings
show, so that listing imports nothing (`make index` renews it, a test checks that it is fresh).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import UnknownTaskError
from podium.task import Leaderboard, Suite

if TYPE_CHECKING:
    from podium.grading.prepared import PreparedTask
    from podium.task import Edition, Task

HERE = Path(__file__).parent
FOLDERS = ("kaggle", "research")
SUITE_TITLES = {
    "quick": "One forged task per family, ready in seconds",
    "mle-bench": "The 75 competitions of MLE-bench",
    "mle-bench-lite": "MLE-bench's 22 competitions of low complexity",
    "mle-bench-medium": "MLE-bench's 38 competitions of medium complexity",
    "mle-bench-high": "MLE-bench's 15 competitions of high complexity",
    "mle-bench-dev": "MLE-bench's 7 competitions for development",
    "mlagentbench": "The 13 research tasks of MLAgentBench",
}


@dataclass(frozen=True)
class Listing:
    """The facts of a task that a list shows."""

    id: str
    title: str
    kind: str
    metric: str
    higher_is_better: bool
    editions: tuple[str, ...]
    suites: tuple[str, ...]


@cache
def listings() -> tuple[Listing, ...]:
    """Every task of the catalogue, without importing any."""
    entries = json.loads((HERE / "index.json").read_text(encoding="utf-8"))
    return tuple(
        Listing(**entry | {"editions": tuple(entry["editions"]), "suites": tuple(entry["suites"])}) for entry in entries
    )


@cache
def suites() -> dict[str, Suite]:
    """The suites by name."""
    members: dict[str, list[str]] = {name: [] for name in SUITE_TITLES}
    for listing in listings():
        for name in listing.suites:
            members[name].append(listing.id)
    return {name: Suite(name, SUITE_TITLES[name], tuple(ids)) for name, ids in members.items()}


def load(task_id: str) -> Task:
    """The task of that id."""
    if task_id.startswith("forge-"):
        from podium.catalog.forge import forged_task

        return forged_task(task_id)
    if task_id.startswith("folder-"):
        from podium.catalog.folder import folder_task

        return folder_task(task_id)
    stem = task_id.replace("-", "_")
    for folder in FOLDERS:
        if stem in _stems(folder):
            task: Task = import_module(f"podium.catalog.{folder}.{stem}").task
            brief, note = _text(folder, f"{stem}.md"), _text(folder, f"{stem}.fixed.md")
            editions = dict(task.editions)
            if note:
                editions["fixed"] = replace(editions["fixed"], brief=f"{brief}\n{note}")
            return replace(
                task,
                brief=brief,
                editions=editions,
                reference=task.reference or _human_leaderboard(task_id),
            )
    raise unknown_name(task_id)


def resolve(task: str | Task, *, edition: Edition | None = None, data_dir: Path | None = None) -> PreparedTask:
    """A task with its data: found once, then it validates and grades.

    Raises:
        NotPreparedError: the data is not there.
    """
    from podium.grading.prepared import find_prepared

    return find_prepared(load(task) if isinstance(task, str) else task, edition=edition, data_dir=data_dir)


def _text(folder: str, name: str) -> str:
    path = HERE / folder / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@cache
def _stems(folder: str) -> frozenset[str]:
    """The names of a folder's task files."""
    return frozenset(path.stem for path in (HERE / folder).glob("*.py") if not path.name.startswith("_"))


def expand(names: list[str]) -> list[str]:
    """Task ids from a mix of task ids and suite names, each once, in order."""
    ids: dict[str, None] = {}
    for name in names:
        if name in suites():
            ids |= dict.fromkeys(suites()[name].tasks)
        elif name.startswith(("forge-", "folder-")) or any(listing.id == name for listing in listings()):
            ids[name] = None
        else:
            raise unknown_name(name)
    return list(ids)


def unknown_name(name: str) -> UnknownTaskError:
    """The error for a name that is neither a task nor a suite, with the closest ones."""
    from difflib import get_close_matches

    known = {known.lower(): known for known in (*suites(), *(listing.id for listing in listings()))}
    starting = [key for key in known if name and key.startswith(name.lower())]
    close = starting[:3] or get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(known[key] for key in close)}? " if close else ""
    return UnknownTaskError(f"There is no task or suite '{name}'. {hint}Run: podium tasks")


@cache
def leaderboards() -> dict[str, dict[str, Any]]:
    """What is known of each competition's human leaderboard, with its complexity and membership in MLE-bench's 75."""
    entries = json.loads((HERE / "kaggle" / "leaderboards.json").read_text(encoding="utf-8"))
    return {entry["id"]: entry for entry in entries}


def _human_leaderboard(task_id: str) -> Leaderboard | None:
    facts = leaderboards().get(task_id, {})
    if "gold" not in facts:
        return None
    names = ("lower_is_better", "teams", "gold", "silver", "bronze", "median")
    return Leaderboard(**{name: facts[name] for name in names}, quantiles=tuple(facts["quantiles"]))
