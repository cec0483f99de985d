"""Preparation of a task: turns raw data into public and private folders, atomically."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from podium.data.fetch.kaggle_download import download, whole_archive
from podium.data.home import DataFolder, locate
from podium.data.manifest import Manifest, checksum_files, is_complete, read_manifest, write_manifest
from podium.data.mlebench_checkout import imported_description
from podium.data.scrub_metadata import publish
from podium.errors import PodiumError, RawDataError, UsageError
from podium.safefs.atomic_files import locked
from podium.safefs.neutral_paths import make_neutral, neutral_folders, remove_neutral, remove_orphans
from podium.safefs.remove_tree import remove_tree
from podium.task import Edition, Fetch, Task

logger = logging.getLogger(__name__)

MINIATURE_SEED = 0


@dataclass(frozen=True)
class PrepareResult:
    """Result of preparing one task."""

    task: str
    status: Literal["made", "kept"]
    """`made` if it was prepared now, `kept` if it was already complete."""
    place: DataFolder
    miniature: bool


def prepare_task(
    task: Task,
    *,
    raw: Path | None = None,
    data_dir: Path | None = None,
    miniature: bool = False,
    edition: Edition | None = None,
) -> PrepareResult:
    """Fill the task's public and private folders, unless its manifest shows that they are complete.

    Args:
        raw: An extracted download; default: the task's own raw folder, downloaded if necessary.
        miniature: True to fabricate tiny raw data instead.
        edition: The edition to prepare; default: the task's own.
    """
    task = task.in_edition(edition)
    if raw is not None and miniature:
        raise UsageError("Raw data and a miniature exclude each other. Use either --raw or --miniature.")
    miniature = miniature and not task.generated
    place = locate(task.id, edition=task.edition, data_dir=data_dir, miniature=miniature)
    with locked(place.lock):
        manifest = read_manifest(place)
        if manifest and _serves(task, manifest, raw=raw, miniature=miniature) and is_complete(place, manifest):
            return PrepareResult(task.id, "kept", place, manifest.miniature)
        return _prepare(task, place, raw=raw, miniature=miniature)


def _serves(task: Task, manifest: Manifest, *, raw: Path | None, miniature: bool) -> bool:
    """Return whether the prepared data matches the requested source."""
    if task.generated:
        return True
    return manifest.miniature == miniature and (raw is None or manifest.source == str(raw.resolve()))


def _prepare(task: Task, place: DataFolder, *, raw: Path | None, miniature: bool) -> PrepareResult:
    _remove_leftovers(place)
    remove_orphans(place.shown)
    making = place.root / f".making-{os.getpid()}"
    (making / "public").mkdir(parents=True)
    (making / "private").mkdir(mode=0o700)
    try:
        source = _find_raw(task, place, making, raw=raw, miniature=miniature)
        _make(task, source, making)
        _put_in_place(place, making)
    finally:
        _remove_leftovers(place)
    manifest = Manifest(
        task=task.id,
        edition=task.edition,
        miniature=miniature,
        source=source.name,
        versions=dict(_versions()),
        files=checksum_files(place.root),
    )
    write_manifest(place, manifest)
    logger.info("Prepared %s in %s", task.id, place.root)
    return PrepareResult(task.id, "made", place, manifest.miniature)


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    return tuple((name, version(name)) for name in ("podium", "numpy", "pandas", "scikit-learn", "scipy", "pillow"))


@dataclass(frozen=True)
class _Source:
    path: Path
    name: str
    made_here: bool = False


def _find_raw(task: Task, place: DataFolder, making: Path, *, raw: Path | None, miniature: bool) -> _Source:
    """Return the raw folder to prepare from, fabricated or downloaded if necessary."""
    if task.generated:
        (making / "raw").mkdir()
        return _Source(making / "raw", "generated", made_here=True)
    if raw is not None:
        if not raw.is_dir():
            raise RawDataError(f"There is no folder {raw}. Pass the extracted download of {task.id} with --raw.")
        return _Source(raw, str(raw.resolve()))
    if miniature:
        return _Source(_fabricate(task, place, making), "fabricated", made_here=True)
    _refuse_old_miniature(task, place)
    if place.raw.is_dir():
        whole_archive(task.id, place.raw).unlink(missing_ok=True)  # left by a process that was killed after unpacking
    elif task.fetcher is None:
        download(task.id, place.raw)
    else:
        _fetch(task.fetcher, place)
    return _Source(place.raw, "download")


def _fetch(fetch: Fetch, place: DataFolder) -> None:
    """Run a task's own download in a temporary folder, so that a raw folder is either complete or absent."""
    aside = place.raw.with_name("raw.part")
    aside.mkdir(parents=True, exist_ok=True)
    fetch(aside)
    remove_tree(place.raw)
    aside.rename(place.raw)


def _fabricate(task: Task, place: DataFolder, making: Path) -> Path:
    """Fabricate the miniature's raw data, from which both editions are prepared."""
    import numpy as np

    if task.fabricator is None:
        raise UsageError(f"{task.id} has no miniature.")
    raw = making / "raw"
    raw.mkdir()
    task.fabricator(raw, np.random.default_rng(MINIATURE_SEED))
    remove_tree(place.raw)
    raw.rename(place.raw)
    return place.raw


def _refuse_old_miniature(task: Task, place: DataFolder) -> None:
    """Raise RawDataError if the raw folder may hold a miniature's data, marked by a `raw.miniature` file next to it."""
    note = place.raw.with_name("raw.miniature")
    if note.exists():
        raise RawDataError(
            f"{place.raw} may hold data that an earlier version of Podium fabricated. "
            f"Delete {place.root}, then run: podium prepare {task.id}"
        )


def _make(task: Task, source: _Source, making: Path) -> None:
    prepare = task.parts.prepare
    if prepare is None:
        raise UsageError(f"{task.id} has no preparation. Add a function with `@task.prepare` to its task file.")
    try:
        prepare(source.path, making / "public", making / "private")
    except (ValueError, LookupError, TypeError) as error:
        if isinstance(error, PodiumError) or source.made_here:  # the latter is a bug in the task
            raise
        raise RawDataError(
            f"The raw data of {task.id} in {source.path} is damaged or has an unexpected form "
            f"({type(error).__name__}: {error}). Download it again, or pass another folder with --raw."
        ) from error
    description = making / "public" / "description.md"
    if not description.exists() and (text := _text(task)):
        description.write_bytes(text)


def _text(task: Task) -> bytes:
    """Return the task description: the imported original in edition v1 if there is one, else the task's brief."""
    original = imported_description(task.id) if task.edition == "v1" else None
    return task.brief.encode() if original is None else original.read_bytes()


def _put_in_place(place: DataFolder, making: Path) -> None:
    """Replace the old folders; there is no manifest meanwhile, so that a kill here leads to another preparation."""
    shown, private, link = make_neutral(place.shown, place.root), making / "done", making / "link"
    publish(making / "public", shown)
    private.mkdir(mode=0o700)
    publish(making / "private", private)
    link.symlink_to(os.path.relpath(shown, place.root))
    place.manifest.unlink(missing_ok=True)
    for old in (place.public, place.private):
        remove_tree(old)
    link.rename(place.public)
    private.rename(place.private)


def _remove_leftovers(place: DataFolder) -> None:
    """Remove folders that were replaced or left by a killed process; the caller holds the lock."""
    for leftover in place.root.glob(".making-*"):
        remove_tree(leftover)
    for folder in neutral_folders(place.shown, place.root):
        if folder.name != place.public.resolve().name:
            remove_neutral(folder)
