"""Open files in an untrusted folder without following links and without blocking.

Names are resolved relative to the descriptor of their folder, starting at a trusted one (`top`), so nothing outside it
is read, written or removed, even if entries are swapped meanwhile.
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
    """Return a descriptor of a folder; links are followed down to `top` (by default the folder itself), not below.

    Args:
        make: True to create missing folders below `top`.

    Raises:
        OSError: the folder does not exist, or is reached through a link.
    """
    top = top or path
    parts = path.relative_to(top).parts
    if ".." in parts:
        raise OSError(errno.EINVAL, "path leads out of its folder", str(path))
    descriptor = os.open(top, _FOLDER)
    for part in parts:
        above = descriptor
        try:
            descriptor = open_folder_at(above, part, make=make)
        finally:
            os.close(above)
    return descriptor


def open_folder_at(parent: int, name: str, *, make: bool = False) -> int:
    """Return a descriptor of a subfolder, like `open_folder`, by its name in an open folder."""
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)


def open_regular(path: Path, flags: int = os.O_RDONLY, *, top: Path | None = None) -> int:
    """Return a descriptor of a regular file; `top` as for `open_folder`, by default the parent folder.

    Raises:
        OSError: there is no such file, or it is a link, a pipe or a folder.
    """
    folder = open_folder(path.parent, top=top)
    try:
        return open_regular_at(folder, path.name, flags)
    finally:
        os.close(folder)


def open_regular_at(folder: int, name: str, flags: int = os.O_RDONLY) -> int:
    """Return a descriptor of a regular file, like `open_regular`, by its name in an open folder."""
    descriptor = os.open(name, flags | _SAFE, 0o644, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", name)
    return descriptor


def read_regular(path: Path, max_bytes: int, *, top: Path | None = None) -> bytes:
    """Return the content of a regular file.

    Raises:
        OSError: there is no regular file of at most `max_bytes`.
    """
    with os.fdopen(open_regular(path, top=top), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise OSError(errno.EFBIG, f"file too large: {size:,} bytes, the limit is {max_bytes:,}", path.name)
        return file.read(max_bytes)


@contextlib.contextmanager
def replacing_file(folder: int, name: str) -> Iterator[int]:
    """Yield a new file open for writing; it is renamed to `name` when the block ends, and removed if it fails."""
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
    """Return whether a path is a folder itself, not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
