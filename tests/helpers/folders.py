"""Folders for tests: made from a plain description, described again, and read by a history."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from pathlib import Path

from podium.workspace.history.history import History

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where files need not reach a disk."""

Content = dict[bytes, object]
"""A name leads to bytes (a file), a str (where a link leads) or another such dictionary (a folder)."""


def make(folder: Path, content: Content) -> None:
    folder.mkdir(exist_ok=True)
    for name, value in content.items():
        path = os.path.join(os.fsencode(folder), name)  # noqa: PTH118 names need not be text
        if isinstance(value, dict):
            make(Path(os.fsdecode(path)), value)
        elif isinstance(value, str):
            Path(os.fsdecode(path)).symlink_to(value)
        else:
            assert isinstance(value, bytes)
            Path(os.fsdecode(path)).write_bytes(value)


def describe(folder: Path) -> dict[bytes, tuple[str, bytes]]:
    """Every path below a folder with its kind and content."""
    found: dict[bytes, tuple[str, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        name = os.fsencode(path.relative_to(folder))
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[name] = ("link", os.readlink(os.fsencode(path)))  # noqa: PTH115 a Path would tidy it up
        elif stat.S_ISDIR(mode):
            found[name] = ("folder", b"")
        elif stat.S_ISREG(mode):
            found[name] = ("executable" if mode & stat.S_IXUSR else "file", path.read_bytes())
        else:
            found[name] = ("special", b"")
    return found


def wait_until_not_racy() -> None:
    """Lets what was changed grow old enough that its times can be trusted."""
    time.sleep(0.035)


def read_afresh(workspace: Path) -> str:
    """The snapshot by a history that knows of none before it; its id is that of any with the same content."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, History(Path(folder, "history"), workspace) as history:
        return history.snapshot("", None, time_s=0)
