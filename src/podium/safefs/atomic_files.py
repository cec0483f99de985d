"""Files: linked while data is prepared, written atomically, hashed in parallel."""

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
from podium.safefs.open_nofollow import open_folder, written_aside

logger = logging.getLogger(__name__)

_CANNOT_LINK = {errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP}


def link_file(source: Path, target: Path) -> None:
    """Puts the content of `source` at `target` for as long as data is being prepared: `publish` copies what is linked.

    It is a hard link, because the source may be gone by then; a symbolic one if it lies on another file system.
    """
    try:
        _link(source, target)
    except FileNotFoundError as error:
        raise lacks(source) from error
    except OSError as error:
        if error.errno == errno.EXDEV:
            target.symlink_to(source.resolve())
        elif error.errno in _CANNOT_LINK:
            shutil.copyfile(source, target)
        else:
            raise


def _link(source: Path, target: Path) -> None:
    """Makes a hard link, and the folder for it where that is not there: once, and not for each of a million files."""
    found = source.resolve() if source.is_symlink() else source
    try:
        os.link(found, target)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(found, target)


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


def write_atomically(path: Path, text: str, *, durable: bool = True, top: Path | None = None) -> None:
    """Writes a whole file or nothing, even if the process is killed or the disk fills up.

    Args:
        durable: whether it waits for the disk, so that a power cut changes nothing either.
        top: from there on no link is followed; by default from the folder the file lies in.
    """
    if top is None:
        path.parent.mkdir(parents=True, exist_ok=True)
    folder = open_folder(path.parent, top=top, make=top is not None)
    try:
        with written_aside(folder, path.name) as descriptor:
            with os.fdopen(os.dup(descriptor), "w", encoding="utf-8") as file:
                file.write(text)
            if durable:
                os.fsync(descriptor)
    finally:
        os.close(folder)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock file; the kernel frees it when its holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            logger.info("Waiting for another process, which holds %s", path)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def sha256(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_all(paths: list[Path]) -> list[str]:
    """The hashes of many files; hashing releases the interpreter lock, so threads run side by side.

    Sixteen at a time: handing a small file to a thread costs more than hashing it.
    """
    batches = [paths[start : start + 16] for start in range(0, len(paths), 16)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(chain.from_iterable(pool.map(lambda batch: [*map(sha256, batch)], batches)))
