"""Scratch folders of runs on a node, including the cleanup after killed processes."""

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
    """Return the folder for a node's scratch and data: `$PODIUM_SCRATCH`, or a temporary folder of this user."""
    chosen = os.environ.get("PODIUM_SCRATCH")
    # Short, because socket paths are limited to 107 bytes.
    folder = Path(chosen) if chosen else Path(tempfile.gettempdir()) / f"podium-node-{os.geteuid()}"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


@contextmanager
def scratch_folder(top: Path) -> Iterator[Path]:
    """Context with a new folder that is removed at its end, or by the next `sweep` if this process is killed."""
    top.mkdir(parents=True, exist_ok=True)
    folder = top / secrets.token_hex(4)
    new = folder.with_suffix(".new")
    with new.open("x") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        new.rename(_lock_of(folder))  # beside the folder, so that an interrupted removal leaves the lock
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            _remove(folder)


def sweep(top: Path) -> int:
    """Remove the folders of processes that no longer exist; return their number."""
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
