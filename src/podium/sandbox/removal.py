"""Deleting what somebody hostile has made."""

from __future__ import annotations

import itertools
import os
import uuid
from contextlib import suppress
from pathlib import Path


def remove_tree(top: Path) -> None:
    """Deletes a folder if it is there, as far as that is possible.

    Folders in it may be locked, or nested deeper than paths and recursion can go: each is unlocked and brought up below
    the top before it is emptied. Links are not followed, only what is a folder itself is changed or entered; nobody
    may be left who could swap one for the other.
    """
    names = (f".{uuid.uuid4().hex}-{number}" for number in itertools.count())
    pending = [top]
    while pending:
        folder = pending.pop()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in list(entries):  # at once: a listing of the top might go on with what is brought there
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        Path(entry.path).chmod(0o700)
                        pending.append(Path(entry.path).rename(top / next(names)))
                    else:
                        Path(entry.path).unlink()
        if folder != top:
            with suppress(OSError):
                folder.rmdir()
    with suppress(OSError):
        top.rmdir()
