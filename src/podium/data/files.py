"""Files: linked where possible, written atomically, hashed in parallel."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from podium.errors import RawDataError

_CANNOT_LINK = {errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP}


def link_file(source: Path, target: Path) -> None:
    """Puts the content of `source` at `target`: a hard link where the file system allows one, else a copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source.resolve(), target)
    except FileNotFoundError as error:
        raise lacks(source) from error
    except OSError as error:
        if error.errno not in _CANNOT_LINK:
            raise
        shutil.copyfile(source, target)


def link_files(source: Path, target: Path, names: Iterable[str]) -> None:
    """Puts the named files of one folder into another."""
    for name in names:
        link_file(source / name, target / name)


def link_tree(source: Path, target: Path) -> None:
    """Puts every file below `source` at the same place below `target`; folders may be symbolic links."""
    if not source.is_dir():
        raise lacks(source)
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.is_dir():
            link_tree(path, target / path.name)
        else:
            link_file(path, target / path.name)


def link_any(source: Path, target: Path) -> None:
    """Puts a file, or a folder with all that is in it, at `target`."""
    (link_tree if source.is_dir() else link_file)(source, target)


def find_files(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that a pattern such as `*/*.png` names, in order; raises if there are none."""
    found = sorted(folder.glob(pattern))
    if not found:
        raise lacks(folder / pattern)
    return found


def lacks(path: Path) -> RawDataError:
    """The error for a raw file that is not there."""
    return RawDataError(f"The raw data lacks {path.name}: there is no {path}.")


def read_regular(path: Path, max_bytes: int, *, top: Path | None = None) -> bytes:
    """The content of a regular file that somebody hostile may have put there; no link is followed on the way from
    `top` (by default the folder it lies in), and a pipe holds nobody up.

    Raises:
        OSError: there is no regular file of at most that size.
    """
    top = top or path.parent
    name = path.relative_to(top)
    with contextlib.ExitStack() as opened:

        def descend(part: str | Path, flags: int, folder: int | None) -> int:
            descriptor = os.open(part, flags | os.O_CLOEXEC, dir_fd=folder)
            opened.callback(os.close, descriptor)
            return descriptor

        folder = descend(top, os.O_RDONLY | os.O_DIRECTORY, None)
        for part in name.parts[:-1]:
            folder = descend(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, folder)
        descriptor = descend(name.parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, folder)
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(name))
        if facts.st_size > max_bytes:
            raise OSError(errno.EFBIG, f"{facts.st_size:,} bytes; at most {max_bytes:,} are read", str(name))
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(max_bytes)


def write_atomically(path: Path, text: str, *, durable: bool = True) -> None:
    """Writes a whole file or nothing, even if the process is killed or the disk fills up.

    Args:
        durable: whether it waits for the disk, so that a power cut changes nothing either.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("w", encoding="utf-8") as file:
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock file; the kernel frees it when its holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def sha256(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_all(paths: list[Path]) -> list[str]:
    """The hashes of many files; hashing releases the interpreter lock, so threads run side by side."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(sha256, paths, chunksize=16))
