"""Files inside a folder that a stranger may have filled: opened without following links, without blocking.

Names are looked up relative to the descriptor of their folder, from a folder that is trusted (`top`) down, so whatever
lies on the way, nothing outside is read, written or removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_SAFE = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


def open_folder(path: Path, *, top: Path | None = None, make: bool = False) -> int:
    """A descriptor of a folder; links are followed on the way to `top` (by default the folder itself), not below.

    Args:
        make: whether folders below `top` are made that are not there.

    Raises:
        OSError: there is no such folder, or a link leads there.
    """
    top = top or path
    parts = path.relative_to(top).parts
    if ".." in parts:
        raise OSError(errno.EINVAL, "leads out of its folder", str(path))
    descriptor = os.open(top, _FOLDER)
    for part in parts:
        above = descriptor
        try:
            descriptor = open_folder_at(above, part, make=make)
        finally:
            os.close(above)
    return descriptor


def open_folder_at(parent: int, name: str, *, make: bool = False) -> int:
    """`open_folder` for what has this name in the folder behind a descriptor."""
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)


def open_regular(path: Path, flags: int = os.O_RDONLY, *, top: Path | None = None) -> int:
    """A descriptor of a regular file; see `open_folder` for `top`, which is by default the folder it lies in.

    Raises:
        OSError: there is no such file, or it is something else: a link, a pipe, a folder.
    """
    folder = open_folder(path.parent, top=top)
    try:
        return open_regular_at(folder, path.name, flags)
    finally:
        os.close(folder)


def open_regular_at(folder: int, name: str, flags: int = os.O_RDONLY) -> int:
    """`open_regular` for what has this name in the folder behind a descriptor."""
    descriptor = os.open(name, flags | _SAFE, 0o644, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", name)
    return descriptor


def read_regular(path: Path, max_bytes: int, *, top: Path | None = None) -> bytes:
    """The content of a regular file.

    Raises:
        OSError: there is no regular file of at most that size.
    """
    with os.fdopen(open_regular(path, top=top), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise OSError(errno.EFBIG, f"{size:,} bytes; at most {max_bytes:,} are read", path.name)
        return file.read(max_bytes)


@contextlib.contextmanager
def written_aside(folder: int, name: str) -> Iterator[int]:
    """A new file, open for writing, that gets its name in the folder when the block ends; no trace if it fails."""
    aside = f".{name[:200]}.{secrets.token_hex(8)}"
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o666, dir_fd=folder)
    try:
        yield descriptor
        os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(aside, dir_fd=folder)
        raise
    finally:
        os.close(descriptor)


def is_folder(path: Path) -> bool:
    """Whether there is a folder of that name, not only a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
