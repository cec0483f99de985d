"""Lays out what agents see so that only names and content tell anything: not where a file lay in the raw data, when it
was made or in which order.

A hard link shares its inode number and times with the raw file, and raw files often lie in the order of their labels;
deleting the raw folder later would even write that order into the times of the links. So every file becomes a new one,
made in the order of names, with one time and one mode for all. The old files stay until all are copied: a new file may
get the inode number of one that was just removed, and so tell where that one lay. Where the file system can share
blocks (XFS, Btrfs, ZFS, NFS 4.2) the kernel copies no data.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

TIME_NS = 946_684_800 * 10**9
"""The time that every public file has: the first second of 2000, in UTC."""
FILE_MODE, FOLDER_MODE = 0o644, 0o755


def publish(made: Path, shown: Path) -> None:
    """Puts all that is in one folder into another, an empty one on the same file system; the first is to be deleted.

    Files that the preparation wrote itself right into the top folder, such as train.csv, are named by the task and not
    after rows: they are moved, since some are as large as the whole raw data.
    """
    top, target = str(made), str(shown)
    folders = []
    for folder, below, names in os.walk(top):
        below.sort()
        here = target + folder.removeprefix(top)
        if folder != top:
            os.mkdir(here)  # noqa: PTH102 a Path for each of a million files would cost more than the copy
            folders.append(here)
        for name in sorted(names):
            _put(f"{folder}/{name}", f"{here}/{name}", anew=folder != top)
    for folder in [*folders, target]:
        os.utime(folder, ns=(TIME_NS, TIME_NS))
    for folder in folders:
        os.chmod(folder, FOLDER_MODE)  # noqa: PTH101


def _put(old: str, new: str, *, anew: bool) -> None:
    facts = os.lstat(old)
    if anew or facts.st_nlink > 1 or os.path.islink(old):  # noqa: PTH114
        copy_file(old, new)
    else:
        os.rename(old, new)  # noqa: PTH104
    os.chmod(new, FILE_MODE)  # noqa: PTH101
    os.utime(new, ns=(TIME_NS, TIME_NS))


def copy_file(source: str, target: str) -> None:
    """Copies the content of a file into a new one; blocks are shared where the file system can."""
    with open(source, "rb") as old, open(target, "xb") as new:  # noqa: PTH123
        try:
            while os.copy_file_range(old.fileno(), new.fileno(), 1 << 30):
                pass
        except OSError:  # an old kernel, or a file system that cannot: what matters fails again below
            os.lseek(old.fileno(), 0, os.SEEK_SET)
            os.lseek(new.fileno(), 0, os.SEEK_SET)
            shutil.copyfileobj(old, new, 1 << 20)
