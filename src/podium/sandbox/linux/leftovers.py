"""Temporary folders and control groups of sandboxes whose process was killed before it could remove them."""

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
YOUTH_S = 60.0  # a folder this young may belong to a sandbox that has not mounted it yet
_LOCK, _GROUPS = "lock", "groups"


def claim(folder: Path) -> int:
    """Marks a sandbox's folder as in use for as long as the descriptor is open in some process."""
    # Named only when it is locked: a folder whose lock is free counts as abandoned.
    aside = folder / f".{_LOCK}"
    descriptor = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    aside.rename(folder / _LOCK)
    return descriptor


def note_groups(folder: Path, groups: Iterable[Path]) -> None:
    """Writes down the control groups that go with a sandbox's folder."""
    with contextlib.suppress(OSError):  # a full disk; then a group may stay
        (folder / _GROUPS).write_text("".join(f"{group}\n" for group in groups), encoding="utf-8")


def remove_abandoned() -> None:
    """Removes the folders whose claim has ended with its process, and their control groups."""
    for folder in _ours((SANDBOX_PREFIX,)):
        if not (folder / _LOCK).exists() or is_claimed(folder):
            continue
        with contextlib.suppress(OSError):
            for group in (folder / _GROUPS).read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(OSError):
                    Path(group).rmdir()
        remove_what_goes(folder)


def remove_what_goes(folder: Path) -> None:
    """Removes a folder as far as that is possible; the rest is found again later."""
    with contextlib.suppress(OSError):
        remove_tree(folder)


def remove_leftovers(name: str | None = None) -> list[Path]:
    """Removes the folders of this user that no sandbox has mounted, or only the one with a name; those it removed."""
    mounted = _mounts_of_all_processes()
    removed = []
    for folder in _ours((SANDBOX_PREFIX, WORKSPACE_PREFIX)):
        is_old = time.time() - folder.lstat().st_mtime > YOUTH_S
        if name in (None, folder.name) and is_old and folder.name not in mounted and not is_claimed(folder):
            with contextlib.suppress(OSError):
                remove_tree(folder)
                removed.append(folder)
    return removed


def _ours(prefixes: tuple[str, ...]) -> Iterator[Path]:
    """The folders of this user; in a place that all users share, others may have made some too."""
    for folder in list(Path(tempfile.gettempdir()).iterdir()):
        with contextlib.suppress(FileNotFoundError):
            is_folder = folder.is_dir() and not folder.is_symlink()
            if folder.name.startswith(prefixes) and is_folder and folder.lstat().st_uid == os.getuid():
                yield folder


def is_claimed(folder: Path) -> bool:
    """Whether some process uses the sandbox of a folder, as far as we may know."""
    return _is_locked(folder) is True


def is_abandoned(folder: Path) -> bool:
    """Whether the process that used the sandbox of a folder has ended: its lock is there, and free."""
    return _is_locked(folder) is False


def _is_locked(folder: Path) -> bool | None:
    """None if there is no lock, or it is not ours to look at."""
    try:
        with open(folder / _LOCK, "rb", opener=_without_waiting) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


def _without_waiting(path: str, flags: int) -> int:
    """Opens a file of the name that programs without a sandbox can have put a pipe or a link under."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)


def _mounts_of_all_processes() -> str:
    tables = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            tables.add((process / "mountinfo").read_text(errors="replace"))
        except OSError:
            continue  # it has ended, or is not ours to look at: then its folders are not ours either
    return "".join(tables)
