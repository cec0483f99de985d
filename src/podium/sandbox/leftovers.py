"""Temporary folders of sandboxes whose process was killed before it could remove them."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from podium.sandbox.removal import remove_tree

SANDBOX_PREFIX = "podium-sandbox-"
WORKSPACE_PREFIX = "podium-workspace-"
YOUTH_S = 60.0  # a folder this young may belong to a sandbox that has not mounted it yet


def remove_leftovers(name: str | None = None) -> list[Path]:
    """Removes the folders of this user that no sandbox has mounted, or only the one with a name; those it removed."""
    mounted = _mounts_of_all_processes()
    removed = []
    for folder in Path(tempfile.gettempdir()).iterdir():
        if not folder.name.startswith((SANDBOX_PREFIX, WORKSPACE_PREFIX)) or name not in (None, folder.name):
            continue
        status = folder.lstat()
        is_ours = status.st_uid == os.getuid() and folder.is_dir() and not folder.is_symlink()
        if is_ours and time.time() - status.st_mtime > YOUTH_S and folder.name not in mounted:
            remove_tree(folder)
            removed.append(folder)
    return removed


def _mounts_of_all_processes() -> str:
    tables = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            tables.add((process / "mountinfo").read_text(errors="replace"))
        except OSError:
            continue  # it has ended, or is not ours to look at: then its folders are not ours either
    return "".join(tables)
