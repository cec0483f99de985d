"""Folders with names that say nothing, for everything that a sandbox shows.

Programs can read in /proc what their mounts are called on the host. The name of a task, above all of a forged one, or
of an experiment may tell them more than they should know.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from podium.data.files import write_atomically
from podium.data.trees import remove_tree

_OWNER = ".owner"


def make_neutral(top: Path, owner: Path) -> Path:
    """A new empty folder below `top` for what belongs to another folder; which, is noted beside it."""
    folder = top / secrets.token_hex(8)
    write_atomically(top / f"{folder.name}{_OWNER}", os.path.relpath(owner, top))
    folder.mkdir()
    return folder


def neutral_folders(top: Path, owner: Path) -> list[Path]:
    """The folders that belong to `owner`."""
    return [folder for folder, other in _owners(top) if other == owner.absolute()]


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
        with contextlib.suppress(FileNotFoundError):  # another process was quicker
            yield note.with_suffix(""), Path(os.path.abspath(top / note.read_text(encoding="utf-8")))  # noqa: PTH100
