"""Cleanup after killed sandboxes: their temporary folders and control groups."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from podium.safefs.remove_tree import remove_tree

SANDBOX_PREFIX = "podium-sandbox-"
WORKSPACE_PREFIX = "podium-workspace-"
MIN_AGE_S = 60.0  # a younger folder may belong to a sandbox that has not mounted it yet
_LOCK, _GROUPS = "lock", "groups"


def claim(folder: Path) -> int:
    """Mark a sandbox's folder as in use for as long as the descriptor is open in some process."""
    # Renamed only once it is locked: a folder with a free lock counts as abandoned.
    aside = folder / f".{_LOCK}"
    descriptor = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    aside.rename(folder / _LOCK)
    return descriptor


def record_groups(folder: Path, groups: Iterable[Path]) -> None:
    """Record the control groups that belong to a sandbox's folder."""
    with contextlib.suppress(OSError):  # a full disk, in which case a group may stay
        (folder / _GROUPS).write_text("".join(f"{group}\n" for group in groups), encoding="utf-8")


def remove_abandoned() -> None:
    """Remove the folders whose process has exited, and their control groups."""
    for folder in _ours((SANDBOX_PREFIX,)):
        if not (folder / _LOCK).exists() or is_claimed(folder):
            continue
        with contextlib.suppress(OSError):
            for group in (folder / _GROUPS).read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(OSError):
                    Path(group).rmdir()
        remove_best_effort(folder)


def remove_best_effort(folder: Path) -> None:
    """Remove a folder as far as possible; a later cleanup removes the rest."""
    with contextlib.suppress(OSError):
        remove_tree(folder)


def remove_leftovers(name: str | None = None) -> list[Path]:
    """Remove this user's folders that no sandbox has mounted, or only the one with a name; return the removed ones."""
    mounted = _mounts_of_all_processes()
    removed = []
    for folder in _ours((SANDBOX_PREFIX, WORKSPACE_PREFIX)):
        is_old = time.time() - folder.lstat().st_mtime > MIN_AGE_S
        if name in (None, folder.name) and is_old and folder.name not in mounted and not is_claimed(folder):
            with contextlib.suppress(OSError):
                remove_tree(folder)
                removed.append(folder)
    return removed


def _ours(prefixes: tuple[str, ...]) -> Iterator[Path]:
    """Yield the folders of this user; other users may have created some in the shared temporary folder."""
    for folder in list(Path(tempfile.gettempdir()).iterdir()):
        with contextlib.suppress(FileNotFoundError):
            is_folder = folder.is_dir() and not folder.is_symlink()
            if folder.name.startswith(prefixes) and is_folder and folder.lstat().st_uid == os.getuid():
                yield folder


def is_claimed(folder: Path) -> bool:
    """Return whether a process is known to use the sandbox of a folder."""
    return _is_locked(folder) is True


def is_abandoned(folder: Path) -> bool:
    """Return whether the process that used the sandbox of a folder has exited: its lock exists and is free."""
    return _is_locked(folder) is False


def _is_locked(folder: Path) -> bool | None:
    """Return whether a process holds the lock, or None if there is no lock or it is not accessible."""
    try:
        with open(folder / _LOCK, "rb", opener=_without_waiting) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without blocking or following a link, which unsealed programs may have put in its place."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)


def _mounts_of_all_processes() -> str:
    tables = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            tables.add((process / "mountinfo").read_text(errors="replace"))
        except OSError:
            continue  # it has exited, or belongs to another user, as do its folders
    return "".join(tables)
