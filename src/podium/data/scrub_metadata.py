"""Scrubber of file metadata: public files reveal nothing but names and content, not their origin, age or order.

A hard link shares its inode number and times with the raw file, and raw files are often sorted by label; deleting the
raw folder later would even write that order into the ctimes of the links. So every file is copied to a new one, in
order of names, and all get the same time and mode. The old files stay until all are copied: a new file could otherwise
reuse the inode number of a removed one and reveal its position. On file systems with shared blocks (XFS, Btrfs, ZFS,
NFS 4.2) the kernel copies no data.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

TIME_NS = 946_684_800 * 10**9
"""Modification time of every public file: the first second of 2000, in UTC."""
FILE_MODE, FOLDER_MODE = 0o644, 0o755


def publish(made: Path, shown: Path) -> None:
    """Move or copy the content of a folder into an empty one on the same file system; the first can then be deleted.

    Files written by the preparation directly into the top folder, such as train.csv, are named by the task, not after
    rows. They are moved, since some are as large as all raw data together.
    """
    top, target = str(made), str(shown)
    folders = []
    for folder, below, names in os.walk(top):
        below.sort()
        here = target + folder.removeprefix(top)
        if folder != top:
            os.mkdir(here)  # noqa: PTH102 creating a million Path objects would take longer than the copy
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
    """Copy the content of a file into a new one, sharing blocks if the file system supports it."""
    with open(source, "rb") as old, open(target, "xb") as new:  # noqa: PTH123
        try:
            while os.copy_file_range(old.fileno(), new.fileno(), 1 << 30):
                pass
        except OSError:  # unsupported by the kernel or file system; real errors are raised again below
            os.lseek(old.fileno(), 0, os.SEEK_SET)
            os.lseek(new.fileno(), 0, os.SEEK_SET)
            shutil.copyfileobj(old, new, 1 << 20)
