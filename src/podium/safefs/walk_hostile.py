"""Walk untrusted folders: they change meanwhile, are locked, contain links or are nested without end."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Generator, Iterable
from pathlib import Path

MAX_DEPTH = 200  # nesting levels; each holds a descriptor during the walk
MIN_TRUNCATED_BYTES = 1 << 20
"""Smaller files are not truncated: they cannot grow faster than they are measured."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK

Entries = Generator[tuple[int, os.DirEntry[str] | None], None, None]


def walk(folders: Iterable[Path]) -> Entries:
    """Yield each entry below the folders with its open parent folder; None for content below the maximum depth.

    Links are not followed, not even a link that replaces a folder during the walk.
    """
    for folder in folders:
        yield from _walk(folder, None, 1)


def _walk(name: str | Path, parent: int | None, depth: int) -> Entries:
    with contextlib.ExitStack() as opened:
        inner = []
        try:
            folder = _enter(name, parent, opened)
            entries = opened.enter_context(os.scandir(folder))
        except OSError:
            return
        for entry in entries:
            yield folder, entry
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.name)
        for name in inner:
            if depth == MAX_DEPTH:
                yield folder, None
            else:
                yield from _walk(name, folder, depth + 1)


def _enter(name: str | Path, parent: int | None, opened: contextlib.ExitStack) -> int:
    """Open a folder for the duration of the walk, even a locked one: this user owns it and may unlock it."""
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    opened.callback(os.close, handle)
    _allow(handle, 0o500, opened)
    folder = os.open(".", _FOLDER, dir_fd=handle)
    opened.callback(os.close, folder)
    return folder


def _allow(handle: int, rights: int, opened: contextlib.ExitStack) -> None:
    """Grant permissions to the owner of an open file until the stack is closed."""
    mode = stat.S_IMODE(os.fstat(handle).st_mode)
    if mode & rights != rights:
        place = f"/proc/self/fd/{handle}"  # this very file, even if its name now refers to another
        os.chmod(place, mode | rights)  # noqa: PTH101
        opened.callback(os.chmod, place, mode)


def truncate_newest(folders: Iterable[Path], surplus: int) -> None:
    """Truncate the most recently changed files below folders by `surplus` bytes in total, as far as possible."""
    folders = tuple(folders)
    found = {}
    for _, entry in walk(folders):
        with contextlib.suppress(OSError):
            status = None if entry is None else entry.stat(follow_symlinks=False)
            if status and stat.S_ISREG(status.st_mode) and status.st_blocks * 512 >= MIN_TRUNCATED_BYTES:
                found[status.st_dev, status.st_ino] = (status.st_ctime_ns, status.st_blocks * 512)
    chosen = {}
    for key, (_, size) in sorted(found.items(), key=lambda item: item[1], reverse=True):
        if surplus > 0:
            chosen[key] = min(size, surplus)
            surplus -= size
    for folder, entry in walk(folders):
        with contextlib.suppress(OSError):
            if entry is not None and (entry.stat(follow_symlinks=False).st_dev, entry.inode()) in chosen:
                _truncate(entry.name, folder, chosen)


def _truncate(name: str, folder: int, chosen: dict[tuple[int, int], int]) -> None:
    with contextlib.ExitStack() as opened:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=folder)
        opened.callback(os.close, handle)
        status = os.fstat(handle)
        surplus = chosen.pop((status.st_dev, status.st_ino), 0)
        if surplus and stat.S_ISREG(status.st_mode):
            _allow(handle, 0o200, opened)
            is_sparse = status.st_blocks * 512 < status.st_size
            os.truncate(f"/proc/self/fd/{handle}", 0 if is_sparse else max(0, status.st_size - surplus))
