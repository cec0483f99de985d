"""Recursive removal of untrusted folders: locked, linked, or nested deeper than recursion and paths allow.

Names are resolved relative to the descriptor of their folder and links are never followed, so nothing outside is
touched, even if a running program swaps entries meanwhile.
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
    """Remove a folder with its content, or a file; a missing path is not an error.

    Raises:
        OSError: the first error, raised after everything else was removed.
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
    """Remove a file or a folder, like `remove_tree`, by its name in an open folder."""
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
            with _collect_errors(errors):
                pending += _remove_folder(top, pending.pop(), errors)
    finally:
        os.close(top)
    if errors:
        raise errors[0]
    os.rmdir(name, dir_fd=parent)


def enter(parent: int, name: str) -> int:
    """Open a folder, even one whose mode denies access."""
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
    with _collect_errors(errors):
        os.rmdir(name, dir_fd=top)
    return moved


def _empty(folder: int, top: int, errors: list[OSError]) -> list[str]:
    """Remove the files of a folder and move its subfolders to the top, so that deep nesting cannot fill the stack."""
    moved: list[str] = []
    with os.scandir(folder) as listing:
        entries = list(listing)  # complete first: a listing of the top could otherwise include the folders moved there
    for entry in entries:
        with _collect_errors(errors):
            if entry.is_dir(follow_symlinks=False):
                os.close(enter(folder, entry.name))  # a folder without write permission cannot be moved
                aside = f".podium-{secrets.token_hex(8)}"
                os.rename(entry.name, aside, src_dir_fd=folder, dst_dir_fd=top)
                moved.append(aside)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return moved


@contextlib.contextmanager
def _collect_errors(errors: list[OSError]) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        pass  # already removed by another process
    except OSError as error:
        errors.append(error)
