"""The folders that runs work in on a node, and what becomes of those whose process was killed."""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from podium.data.trees import remove_tree

_LOCK = ".lock"


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
    folder.mkdir(mode=0o700)
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            remove_tree(folder)


def sweep(top: Path) -> int:
    """Removes the folders whose process is gone; how many there were."""
    swept = 0
    for folder in list(top.iterdir()) if top.is_dir() else []:
        with suppress(OSError), (folder / _LOCK).open("r+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            remove_tree(folder)
            swept += 1
    return swept
