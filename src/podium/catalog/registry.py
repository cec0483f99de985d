"""Catalog: finds and loads tasks by id without importing the others.

A built-in task file is named after its id, with underscores for hyphens, and defines `task`; the brief is next to it as
Markdown (`ID.md`; `ID.fixed.md` is appended in that edition). `external_tasks` finds those of other folders.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.catalog.external_tasks import find_outside_listing, find_task, outside_listings, outside_suites
from podium.catalog.listing import Listing, builtin_listings, builtin_suites
from podium.catalog.open_tables.package_tables import open_table_ids, table_task
from podium.catalog.task_files import RESERVED
from podium.errors import UnknownTaskError, UsageError
from podium.task import Leaderboard, Suite

if TYPE_CHECKING:
    from podium.grading.prepared_task import PreparedTask
    from podium.task import Edition, Task

HERE = Path(__file__).parent
FOLDERS = ("kaggle", "research")


def listings() -> tuple[Listing, ...]:
    """Return the listings of all tasks, the built-in ones first, without importing these."""
    return (*builtin_listings(), *outside_listings())


def find_listing(task_id: str) -> Listing | None:
    """Return the listing of a task, or None if it is unknown. Forged tasks are listed only as examples of families."""
    listed = next((listing for listing in builtin_listings() if listing.id == task_id), None)
    return listed or find_outside_listing(task_id)


def suites() -> dict[str, Suite]:
    """Return the suites by name, the built-in ones first."""
    return builtin_suites() | outside_suites()


def load(task_id: str) -> Task:
    """Return the task with an id."""
    if task_id.startswith("forge-"):
        from podium.catalog.forge.forged_task import forged_task

        return forged_task(task_id)
    if task_id.startswith("folder-"):
        from podium.catalog.authoring.code_folder import folder_task

        return folder_task(task_id)
    if task_id.startswith("obfuscated-"):
        from podium.catalog.obfuscation.obfuscate import obfuscate, plain_id

        return obfuscate(load(plain_id(task_id)))
    stem = task_id.replace("-", "_")
    for folder in FOLDERS:
        if stem in _stems(folder):
            task: Task = import_module(f"podium.catalog.{folder}.{stem}").task
            task = task.with_brief(_text(folder, f"{stem}.md"), _text(folder, f"{stem}.fixed.md"))
            return replace(task, reference=task.reference or _human_leaderboard(task_id))
    if task_id in open_table_ids():
        return table_task(task_id)
    found = find_task(task_id)
    if found is None and task_id in suites():
        raise UnknownTaskError(f"'{task_id}' is a suite, not a task. Its tasks: podium tasks --suite {task_id}")
    if found is None:
        raise unknown_name(task_id)
    return found


def load_all(task_ids: Sequence[str], edition: Edition | None = None) -> list[Task]:
    """Return the tasks in an edition, by default each in its own.

    Raises:
        UsageError: Some have no such edition; the message names the others.
    """
    tasks = [load(task_id) for task_id in task_ids]
    lacking = [task.id for task in tasks if edition is not None and edition not in task.editions]
    others = [task.id for task in tasks if task.id not in lacking]
    if lacking and others:
        raise UsageError(
            f"There is no edition '{edition}' of {', '.join(lacking)}. Name only the others: {' '.join(others)}"
        )
    return [task.in_edition(edition) for task in tasks]


def resolve(
    task: str | Task, *, edition: Edition | None = None, data_dir: Path | None = None, miniature: bool | None = None
) -> PreparedTask:
    """Return a task with its prepared data, which validates and grades submissions.

    Args:
        miniature: True for the fabricated stand-in; None to use it only if there is no real data.

    Raises:
        NotPreparedError: The data is not prepared.
    """
    from podium.grading.prepared_task import find_prepared

    found = load(task) if isinstance(task, str) else task
    return find_prepared(found, edition=edition, data_dir=data_dir, miniature=miniature)


def _text(folder: str, name: str) -> str:
    path = HERE / folder / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@cache
def _stems(folder: str) -> frozenset[str]:
    """Return the names of a folder's task files."""
    return frozenset(path.stem for path in (HERE / folder).glob("*.py") if not path.name.startswith("_"))


def expand(names: list[str]) -> list[str]:
    """Return the task ids for a mix of task ids and suite names, each once, in order."""
    ids: dict[str, None] = {}
    known = suites()
    for name in names:
        if name in known:
            ids |= dict.fromkeys(known[name].tasks)
        elif name.startswith(RESERVED) or find_listing(name):
            ids[name] = None
        else:
            raise unknown_name(name)
    return list(ids)


def unknown_name(name: str) -> UnknownTaskError:
    """Return the error for a name that is neither a task nor a suite, with the closest ones."""
    from difflib import get_close_matches

    known = {known.lower(): known for known in (*suites(), *(listing.id for listing in listings()))}
    starting = [key for key in known if name and key.startswith(name.lower())]
    close = starting[:3] or get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(known[key] for key in close)}? " if close else ""
    return UnknownTaskError(f"There is no task or suite '{name}'. {hint}Run: podium tasks")


@cache
def leaderboards() -> dict[str, dict[str, Any]]:
    """Return each competition's human leaderboard, complexity and membership in MLE-bench's 75."""
    entries = json.loads((HERE / "kaggle" / "leaderboards.json").read_text(encoding="utf-8"))
    return {entry["id"]: entry for entry in entries}


def _human_leaderboard(task_id: str) -> Leaderboard | None:
    facts = leaderboards().get(task_id, {})
    if "gold" not in facts:
        return None
    names = ("lower_is_better", "teams", "gold", "silver", "bronze", "median")
    return Leaderboard(**{name: facts[name] for name in names}, quantiles=tuple(facts["quantiles"]))
