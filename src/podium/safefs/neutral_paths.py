"""Folders with random names that reveal nothing, for everything that a sandbox mounts.

Programs can read the host paths of their mounts in /proc. The name of a task (of a forged one above all)
or of an experiment could reveal more than they should know.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from podium.safefs.atomic_files import write_atomically
from podium.safefs.open_nofollow import read_regular
from podium.safefs.remove_tree import remove_tree

_OWNER = ".owner"
_MAX_OWNER_BYTES = 1 << 14


def make_neutral(top: Path, owner: Path) -> Path:
    """Create an empty folder below `top` for the data of another folder, its owner, which is recorded beside it."""
    folder = top / secrets.token_hex(8)
    write_atomically(top / f"{folder.name}{_OWNER}", os.path.relpath(owner, top))
    folder.mkdir()
    return folder


def belongs_to(folder: Path, owner: Path) -> bool:
    """Return whether `make_neutral` created the folder for this owner."""
    return _owner(folder) == _absolute(owner)


def neutral_folders(top: Path, owner: Path) -> list[Path]:
    """Return the folders that belong to `owner`."""
    return [folder for folder, other in _owners(top) if other == _absolute(owner)]


def remove_neutral(folder: Path) -> None:
    """Remove a folder created by `make_neutral`."""
    remove_tree(folder)
    folder.with_name(f"{folder.name}{_OWNER}").unlink(missing_ok=True)


def remove_orphans(top: Path) -> None:
    """Remove the folders whose owner no longer exists."""
    for folder, owner in _owners(top):
        if not owner.exists():
            remove_neutral(folder)


def _owners(top: Path) -> Iterator[tuple[Path, Path]]:
    for note in sorted(top.glob(f"*{_OWNER}")):
        folder = note.with_suffix("")
        if owner := _owner(folder):
            yield folder, owner


def _owner(folder: Path) -> Path | None:
    """Return the recorded owner of a folder, or None if another process has just removed the record."""
    try:
        note = read_regular(folder.with_name(f"{folder.name}{_OWNER}"), _MAX_OWNER_BYTES)
    except OSError:
        return None
    return _absolute(folder.parent / os.fsdecode(note))


def _absolute(path: Path) -> Path:
    """Return a path without `..`, which `Path.absolute` keeps; links stay, so that a moved tree still fits together."""
    return Path(os.path.abspath(path))  # noqa: PTH100
