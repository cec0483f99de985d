"""The folders that runs work in on a node, and what becomes of those whose process was killed."""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from podium.safefs.remove_tree import remove_tree


def node_folder() -> Path:
    """Where a node keeps scratch and data: `$PODIUM_SCRATCH`, or a folder of this user's among temporary files."""
    chosen = os.environ.get("PODIUM_SCRATCH")
    # Short, since paths of sockets have at most 107 bytes.
    folder = Path(chosen) if chosen else Path(tempfile.gettempdir()) / f"podium-node-{os.geteuid()}"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


@contextmanager
def scratch_folder(top: Path) -> Iterator[Path]:
    """A new folder that goes with the block; if this process is killed, with the next one's `sweep`."""
    top.mkdir(parents=True, exist_ok=True)
    folder = top / secrets.token_hex(4)
    new = folder.with_suffix(".new")
    with new.open("x") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        new.rename(_lock_of(folder))  # beside it: whoever is killed while it removes a folder leaves the lock
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            _remove(folder)


def sweep(top: Path) -> int:
    """Removes the folders whose process is gone; how many there were."""
    swept = 0
    for name in list(top.glob("*.lock")):
        with suppress(OSError), name.open("r+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            _remove(name.with_suffix(""))
            swept += 1
    return swept


def _lock_of(folder: Path) -> Path:
    return folder.with_suffix(".lock")


def _remove(folder: Path) -> None:
    remove_tree(folder)
    _lock_of(folder).unlink(missing_ok=True)
