"""Tasks outside the source tree: in folders named by `--tasks` or `$PODIUM_TASKS`, or offered by installed packages.

A package registers its folder of task files under the entry-point group `podium.tasks`. Listing a folder imports a task
file once; its listing is cached in `$PODIUM_HOME/task-files.json` until the file changes. The cache also stores where a
task was last found, so that reports, pages and checks of its runs find it without `--tasks`.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from podium.catalog.listing import Listing, builtin_listings, builtin_suites, describe, read_listing
from podium.catalog.task_files import find_task_files, line_of_task, load_task_file, stamp_of
from podium.data.home import home
from podium.errors import UsageError
from podium.plugins import offered
from podium.safefs.atomic_files import write_atomically
from podium.task import Suite, Task

VARIABLE = "PODIUM_TASKS"
"""Environment variable with folders of task files, separated as in PATH."""


def task_folders() -> list[Path]:
    """Return the folders to search: those in the environment variable, then those of installed packages."""
    named = [Path(text).absolute() for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text]
    for folder in named:
        if not folder.is_dir():
            raise UsageError(f"There is no folder {folder}. Pass folders with task files in --tasks or ${VARIABLE}.")
    return list(dict.fromkeys([*named, *_installed_folders()]))


@cache
def _installed_folders() -> tuple[Path, ...]:
    return tuple(_folder_of(module) for module in offered("tasks", {}).values())


def _folder_of(module: str) -> Path:
    try:
        spec = find_spec(module)
    except ImportError:
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(f"An installed package registers tasks in {module}, which is not an importable package.")
    return Path(spec.submodule_search_locations[0])


def folders_with_answers() -> set[Path]:
    """Return folders that may contain answers of external tasks: task folders, and packages that register any."""
    packages = {_folder_of(module.partition(".")[0]) for module in offered("tasks", {}).values()}
    return {*task_folders(), *packages, *(path.parent for path in _read_cache())}


def outside_listings() -> list[Listing]:
    """Return the listings of all external tasks, with the external suites that include them."""
    held = outside_suites()
    return [
        replace(listing, suites=tuple(suite.name for suite in held.values() if listing.id in suite.tasks))
        for listing, _ in _index().values()
    ]


def find_task(task_id: str) -> Task | None:
    """Return the external task with an id, from the folders or else from where it was last found."""
    path = task_file(task_id)
    if path is None:
        return None
    task = load_task_file(path)
    return task if task.id == task_id else None


def task_file(task_id: str) -> Path | None:
    """Return the file outside the source tree that defines a task, or None."""
    found = _index().get(task_id)
    return found[1] if found else _remembered(task_id)


def find_outside_listing(task_id: str) -> Listing | None:
    """Return the listing of an external task, from the folders or else from the cache."""
    found = _index().get(task_id)
    if found:
        return found[0]
    return next((listing for listing, _ in _read_cache().values() if listing.id == task_id), None)


def _index() -> dict[str, tuple[Listing, Path]]:
    """Return the listings and files of all external tasks by id."""
    taken = {*builtin_suites(), *(listing.id for listing in builtin_listings())}
    found: dict[str, tuple[Listing, Path]] = {}
    for path, listing in _listings([path for folder in task_folders() for path in find_task_files(folder)]).items():
        if listing.id in taken:
            raise UsageError(
                f"{line_of_task(path)}: '{listing.id}' is the name of a built-in task or suite. Choose another id."
            )
        if listing.id in found:
            raise UsageError(
                f"{line_of_task(path)}: the id '{listing.id}' is taken by {line_of_task(found[listing.id][1])}. "
                "Give one of the tasks another id."
            )
        found[listing.id] = (listing, path)
    return found


def _listings(paths: list[Path]) -> dict[Path, Listing]:
    """Return the listing of each file, from the cache or by importing it."""
    if not paths:
        return {}
    kept = _read_cache()
    found = {}
    for path in paths:
        stamp = stamp_of(path)
        listing, when = kept.get(path, (None, None))
        if listing is None or when != stamp:
            listing = describe(load_task_file(path))
        found[path] = listing
        kept.pop(path, None)
        kept[path] = (listing, stamp)
    _write_cache(kept)
    return found


def _cache_path() -> Path:
    return home() / "task-files.json"


def _read_cache() -> dict[Path, tuple[Listing, tuple[int, ...]]]:
    """Return the cached listings and stamps by task file, the latest last; empty if another user owns the cache."""
    path = _cache_path()
    try:
        if path.stat().st_uid != os.getuid():
            return {}
        documents: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {Path(name): (read_listing(kept["listing"]), tuple(kept["stamp"])) for name, kept in documents.items()}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _write_cache(kept: dict[Path, tuple[Listing, tuple[int, ...]]]) -> None:
    if list(_read_cache().items()) == list(kept.items()):
        return
    documents = {str(path): {"listing": asdict(listing), "stamp": stamp} for path, (listing, stamp) in kept.items()}
    try:
        write_atomically(_cache_path(), json.dumps(documents, indent=1) + "\n")
    except OSError:
        return  # without a cache, listing takes longer


def _remembered(task_id: str) -> Path | None:
    """Return the file in which a task was last found, if it still exists."""
    paths = [path for path, (listing, _) in _read_cache().items() if listing.id == task_id and path.is_file()]
    return paths[-1] if paths else None


def outside_suites() -> dict[str, Suite]:
    """Return the suites that folders declare in `suites/NAME.txt`, by name."""
    found: dict[str, Suite] = {}
    files = [path for folder in task_folders() for path in sorted(folder.glob("suites/*.txt"))]
    if not files:
        return found
    builtin = {listing.id for listing in builtin_listings()}
    known = builtin | set(_index())
    for path in files:
        if path.stem in known or path.stem in builtin_suites() or path.stem in found:
            raise UsageError(f"{path}: a task or suite '{path.stem}' already exists. Rename the file.")
        found[path.stem] = _read_suite(path, known)
    return found


def _read_suite(path: Path, known: set[str]) -> Suite:
    """Read a suite from its file: the title as a comment in the first line, then one task id per line."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()] or [""]
    if not lines[0].startswith("#"):
        raise UsageError(f"{path}:1: the first line must be the title of the suite, such as: # My suite")
    ids = []
    for number, line in enumerate(lines[1:], start=2):
        if line.startswith("#") or not line:
            continue
        if line not in known and not line.startswith("forge-"):
            raise UsageError(f"{path}:{number}: there is no task '{line}'. Write one id per line. Run: podium tasks")
        ids.append(line)
    return Suite(path.stem, lines[0].lstrip("# "), tuple(dict.fromkeys(ids)))
