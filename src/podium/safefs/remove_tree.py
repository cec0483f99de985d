"""Removes folders that hostile programs may have filled: nested deeper than recursion and paths go, locked, linked.

Names are looked up relative to the descriptor of their folder and links are never followed, so whatever a program that
still runs swaps meanwhile, nothing outside is touched.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

ENTER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def remove_tree(path: Path) -> None:
    """Removes a folder with all that is in it, or a file; what is not there is fine.

    Raises:
        OSError: the first reason why something is left, after everything else was removed.
    """
    try:
        parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        remove_at(parent, path.name)
    finally:
        os.close(parent)


def remove_at(parent: int, name: str) -> None:
    """`remove_tree` for what has this name in the folder behind a descriptor."""
    try:
        if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=parent)
            return
    except FileNotFoundError:
        return
    errors: list[OSError] = []
    top = enter(parent, name)
    try:
        pending = _empty(top, top, errors)
        while pending:
            with _noting(errors):
                pending += _remove_folder(top, pending.pop(), errors)
    finally:
        os.close(top)
    if errors:
        raise errors[0]
    os.rmdir(name, dir_fd=parent)


def enter(parent: int, name: str) -> int:
    """Opens a folder, even one whose mode was set to keep us out."""
    try:
        descriptor = os.open(name, ENTER, dir_fd=parent)
    except PermissionError:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent)
        try:
            os.chmod(f"/proc/self/fd/{handle}", 0o700)  # noqa: PTH101 no other call changes what a handle means
        finally:
            os.close(handle)
        descriptor = os.open(name, ENTER, dir_fd=parent)
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    if mode & 0o700 != 0o700:
        os.fchmod(descriptor, mode | 0o700)
    return descriptor


def _remove_folder(top: int, name: str, errors: list[OSError]) -> list[str]:
    folder = enter(top, name)
    try:
        moved = _empty(folder, top, errors)
    finally:
        os.close(folder)
    with _noting(errors):
        os.rmdir(name, dir_fd=top)
    return moved


def _empty(folder: int, top: int, errors: list[OSError]) -> list[str]:
    """Removes the files of a folder and moves its folders up to the top, so that no depth of them fills our stack."""
    moved: list[str] = []
    with os.scandir(folder) as listing:
        entries = list(listing)  # at once: a listing of the top might go on with what is moved there
    for entry in entries:
        with _noting(errors):
            if entry.is_dir(follow_symlinks=False):
                os.close(enter(folder, entry.name))  # a folder that may not be written to cannot be moved either
                aside = f".podium-{secrets.token_hex(8)}"
                os.rename(entry.name, aside, src_dir_fd=folder, dst_dir_fd=top)
                moved.append(aside)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return moved


@contextlib.contextmanager
def _noting(errors: list[OSError]) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        pass  # somebody else was quicker
    except OSError as error:
        errors.append(error)
