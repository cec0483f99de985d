"""Link, hash and lock files, and write them atomically."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

from podium.errors import RawDataError
from podium.safefs.open_nofollow import open_folder, replacing_file

logger = logging.getLogger(__name__)

_LINK_ERRORS = {errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP}


def link_file(source: Path, target: Path) -> None:
    """Make `source` available at `target` while data is being prepared; `publish` later copies what is linked.

    Creates a hard link, because the source may be deleted meanwhile, or a symbolic link across file systems.
    """
    try:
        _link(source, target)
    except FileNotFoundError as error:
        raise missing_raw_file(source) from error
    except OSError as error:
        if error.errno == errno.EXDEV:
            target.symlink_to(source.resolve())
        elif error.errno in _LINK_ERRORS:
            shutil.copyfile(source, target)
        else:
            raise


def _link(source: Path, target: Path) -> None:
    """Create a hard link. The parent folder is created only if that fails, to save a million `mkdir` calls."""
    found = source.resolve() if source.is_symlink() else source
    try:
        os.link(found, target)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(found, target)


def link_files(source: Path, target: Path, names: Iterable[str]) -> None:
    """Link the named files of one folder into another."""
    for name in names:
        link_file(source / name, target / name)


def link_tree(source: Path, target: Path) -> None:
    """Link every file below `source` to the same relative path below `target`; folders may be symbolic links."""
    if not source.is_dir():
        raise missing_raw_file(source)
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.is_dir():
            link_tree(path, target / path.name)
        else:
            link_file(path, target / path.name)


def link_path(source: Path, target: Path) -> None:
    """Link a file or a whole folder at `target`."""
    (link_tree if source.is_dir() else link_file)(source, target)


def find_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder that match a pattern such as `*/*.png`, sorted; raise if there are none."""
    found = sorted(folder.glob(pattern))
    if not found:
        raise missing_raw_file(folder / pattern)
    return found


def missing_raw_file(path: Path) -> RawDataError:
    """Return the error for a missing raw file."""
    return RawDataError(f"The raw data lacks {path.name}: there is no {path}.")


def write_atomically(path: Path, text: str, *, durable: bool = True, top: Path | None = None) -> None:
    """Write a file atomically: after a crash or on a full disk, the old content is still there.

    Args:
        durable: True to fsync the file, which protects against a power cut as well.
        top: folder below which no link is followed; by default the parent folder.
    """
    if top is None:
        path.parent.mkdir(parents=True, exist_ok=True)
    folder = open_folder(path.parent, top=top, make=top is not None)
    try:
        with replacing_file(folder, path.name) as descriptor:
            with os.fdopen(os.dup(descriptor), "w", encoding="utf-8") as file:
                file.write(text)
            if durable:
                os.fsync(descriptor)
    finally:
        os.close(folder)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file during the block; the kernel releases it when the process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            logger.info("Waiting for another process to release %s", path)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_all(paths: list[Path]) -> list[str]:
    """Return the SHA-256 of each file, computed in threads (hashing releases the interpreter lock).

    Threads get 16 files at a time: passing on a single small file costs more than hashing it.
    """
    batches = [paths[start : start + 16] for start in range(0, len(paths), 16)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(chain.from_iterable(pool.map(lambda batch: [*map(sha256, batch)], batches)))
