"""Preparing a task: raw data in, public and private folders out; whole or not at all."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from podium.data.fetch.kaggle_download import download, whole_archive
from podium.data.home import Place, locate
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
    """What came of preparing one task."""

    task: str
    status: Literal["made", "kept"]
    """Made now, or found complete."""
    place: Place
    miniature: bool


def prepare_task(
    task: Task,
    *,
    raw: Path | None = None,
    data_dir: Path | None = None,
    miniature: bool = False,
    edition: Edition | None = None,
) -> PrepareResult:
    """Fills the task's public and private folders, unless its manifest says that this has been done.

    Args:
        raw: an extracted download; without it data comes from the task's own raw folder.
        miniature: whether to fabricate tiny raw data instead.
        edition: by default the one the task means.
    """
    task = task.in_edition(edition)
    if raw is not None and miniature:
        raise UsageError("Give either raw data or ask for a miniature, not both.")
    miniature = miniature and not task.generated
    place = locate(task.id, edition=task.edition, data_dir=data_dir, miniature=miniature)
    with locked(place.lock):
        manifest = read_manifest(place)
        if manifest and _serves(task, manifest, raw=raw, miniature=miniature) and is_complete(place, manifest):
            return PrepareResult(task.id, "kept", place, manifest.miniature)
        return _prepare(task, place, raw=raw, miniature=miniature)


def _serves(task: Task, manifest: Manifest, *, raw: Path | None, miniature: bool) -> bool:
    """Whether what is there is what is asked for."""
    if task.generated:
        return True
    return manifest.miniature == miniature and (raw is None or manifest.source == str(raw.resolve()))


def _prepare(task: Task, place: Place, *, raw: Path | None, miniature: bool) -> PrepareResult:
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


def _find_raw(task: Task, place: Place, making: Path, *, raw: Path | None, miniature: bool) -> _Source:
    """The folder to prepare from."""
    if task.generated:
        (making / "raw").mkdir()
        return _Source(making / "raw", "generated", made_here=True)
    if raw is not None:
        if not raw.is_dir():
            raise RawDataError(f"There is no folder {raw}. --raw takes the extracted download of {task.id}.")
        return _Source(raw, str(raw.resolve()))
    if miniature:
        return _Source(_fabricate(task, place, making), "fabricated", made_here=True)
    _refuse_old_miniature(task, place)
    if place.raw.is_dir():
        whole_archive(task.id, place.raw).unlink(missing_ok=True)  # unpacked by a process that was killed before this
    elif task.fetcher is None:
        download(task.id, place.raw)
    else:
        _fetch(task.fetcher, place)
    return _Source(place.raw, "download")


def _fetch(fetch: Fetch, place: Place) -> None:
    """Lets a task download what it needs, aside: a raw folder is complete, or not there."""
    aside = place.raw.with_name("raw.part")
    aside.mkdir(parents=True, exist_ok=True)
    fetch(aside)
    remove_tree(place.raw)
    aside.rename(place.raw)


def _fabricate(task: Task, place: Place, making: Path) -> Path:
    """Makes the miniature's raw data; both editions are made from it."""
    import numpy as np

    if task.fabricator is None:
        raise UsageError(f"{task.id} has no miniature.")
    raw = making / "raw"
    raw.mkdir()
    task.fabricator(raw, np.random.default_rng(MINIATURE_SEED))
    remove_tree(place.raw)
    raw.rename(place.raw)
    return place.raw


def _refuse_old_miniature(task: Task, place: Place) -> None:
    """Earlier versions kept a miniature's raw data where real data belongs, and this note of it beside it."""
    note = place.raw.with_name("raw.miniature")
    if note.exists():
        raise RawDataError(
            f"{place.raw} may hold data that an earlier version of Podium fabricated. "
            f"Delete {place.root}, then run: podium prepare {task.id}"
        )


def _make(task: Task, source: _Source, making: Path) -> None:
    prepare = task.parts.prepare
    if prepare is None:
        raise UsageError(f"{task.id} does not say how its data is prepared.")
    try:
        prepare(source.path, making / "public", making / "private")
    except (ValueError, LookupError, TypeError) as error:
        if isinstance(error, PodiumError) or source.made_here:  # the second is a mistake of the task
            raise
        raise RawDataError(
            f"The raw data of {task.id} in {source.path} is damaged, or not what the task expects "
            f"({type(error).__name__}: {error}). Download it again, or give another folder with --raw."
        ) from error
    description = making / "public" / "description.md"
    if not description.exists() and (text := _text(task)):
        description.write_bytes(text)


def _text(task: Task) -> bytes:
    """What agents are told: in the published edition in the competition's own words, where these were imported."""
    original = imported_description(task.id) if task.edition == "v1" else None
    return task.brief.encode() if original is None else original.read_bytes()


def _put_in_place(place: Place, making: Path) -> None:
    """Replaces the old folders; without a manifest in between, a kill here means: prepare again."""
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


def _remove_leftovers(place: Place) -> None:
    """Removes what is not in place: it was replaced, or left by a process that was killed. We hold the lock."""
    for leftover in place.root.glob(".making-*"):
        remove_tree(leftover)
    for folder in neutral_folders(place.shown, place.root):
        if folder.name != place.public.resolve().name:
            remove_neutral(folder)
