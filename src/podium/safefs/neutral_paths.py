"""Folders with names that say nothing, for everything that a sandbox shows.

Programs can read in /proc what their mounts are called on the host. The name of a task, above all of a forged one, or
of an experiment may tell them more than they should know.
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
_NOTE_BYTES = 1 << 14


def make_neutral(top: Path, owner: Path) -> Path:
    """A new empty folder below `top` for what belongs to another folder; which, is noted beside it."""
    folder = top / secrets.token_hex(8)
    write_atomically(top / f"{folder.name}{_OWNER}", os.path.relpath(owner, top))
    folder.mkdir()
    return folder


def belongs_to(folder: Path, owner: Path) -> bool:
    """Whether `make_neutral` made the folder for this owner."""
    return _owner(folder) == _absolute(owner)


def neutral_folders(top: Path, owner: Path) -> list[Path]:
    """The folders that belong to `owner`."""
    return [folder for folder, other in _owners(top) if other == _absolute(owner)]


def remove_neutral(folder: Path) -> None:
    """Removes a folder that `make_neutral` made."""
    remove_tree(folder)
    folder.with_name(f"{folder.name}{_OWNER}").unlink(missing_ok=True)


def remove_orphans(top: Path) -> None:
    """Removes the folders whose owner has been deleted."""
    for folder, owner in _owners(top):
        if not owner.exists():
            remove_neutral(folder)


def _owners(top: Path) -> Iterator[tuple[Path, Path]]:
    for note in sorted(top.glob(f"*{_OWNER}")):
        folder = note.with_suffix("")
        if owner := _owner(folder):
            yield folder, owner


def _owner(folder: Path) -> Path | None:
    """Who is noted beside a folder; None where another process was quicker to remove the note."""
    try:
        note = read_regular(folder.with_name(f"{folder.name}{_OWNER}"), _NOTE_BYTES)
    except OSError:
        return None
    return _absolute(folder.parent / os.fsdecode(note))


def _absolute(path: Path) -> Path:
    """Without `..`, which `Path.absolute` leaves in; links stay, so that a moved tree still fits together."""
    return Path(os.path.abspath(path))  # noqa: PTH100
