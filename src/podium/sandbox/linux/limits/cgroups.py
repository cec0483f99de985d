"""Control groups: where this user may create them, the kernel enforces a sandbox's memory and process limits."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from podium.sandbox.spec import Limits

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = {"memory_bytes": "memory", "processes": "pids"}
"""Controller that enforces a limit, by the name of the limit."""


@dataclass(frozen=True)
class Group:
    """Control group of a sandbox, by controller ("memory", "pids"); only the available controllers."""

    folders: dict[str, Path]
    is_ours: bool = True
    """True if we created it and have to remove it."""

    def memory_kills(self) -> int:
        """Return the number of processes of the group that the kernel has killed for memory."""
        folder = self.folders.get("memory")
        if folder is None:
            return 0
        for report in (folder / "memory.events", folder / "memory.oom_control"):  # version 2, version 1
            with contextlib.suppress(OSError):
                lines = report.read_text().splitlines()
                return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
        return 0

    def remove(self) -> None:
        """Delete the group if it is ours, after killing processes that have escaped from their parents into it."""
        for folder in set(self.folders.values()) if self.is_ours else ():
            _kill_members(folder)
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:  # the last process is still exiting
                    time.sleep(0.02)


def limits_held() -> list[str]:
    """Return the limits for which this user may create groups."""
    return [limit for limit, controller in CONTROLLERS.items() if _parent(controller) is not None]


def make_group(limits: Limits, pid: int) -> Group:
    """Create a group around a process and its future children, with as many controllers as available, possibly none."""
    name = f"podium-{uuid.uuid4().hex[:12]}"
    values = {"pids": {"pids.max": limits.processes}}
    if limits.memory_bytes is not None:
        values["memory"] = {
            "memory.max": limits.memory_bytes,
            "memory.swap.max": 0,
            "memory.limit_in_bytes": limits.memory_bytes,
        }
    folders = {}
    for controller, settings in values.items():
        parent = _parent(controller)
        if parent is None:
            continue
        folder = parent / name
        try:
            folder.mkdir(exist_ok=True)
            existing = {file: value for file, value in settings.items() if (folder / file).exists()}
            for file, value in existing.items():
                (folder / file).write_text(str(value))
            (folder / "cgroup.procs").write_text(str(pid))
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
        else:
            folders[controller] = folder
    return Group(folders)


def group_of(limits: Limits, pid: int) -> Group:
    """Return the existing group of a process, with the controllers that enforce our limits."""
    requested: dict[str, tuple[int, tuple[str, ...]]] = {"pids": (limits.processes, ("pids.max",))}
    if limits.memory_bytes is not None:
        requested["memory"] = (limits.memory_bytes, ("memory.max", "memory.limit_in_bytes"))
    folders = {}
    for controller, (limit, names) in requested.items():
        for folder in _folders_of(pid, controller):
            if any(value <= limit for value in _values(folder, names)):
                folders[controller] = folder
    return Group(folders, is_ours=False)


def _folders_of(pid: int | str, controller: str) -> list[Path]:
    """Return the folders of a process's group for a controller: in its version 1 tree, or in the version 2 tree."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return []
    parts = [line.split(":", 2) for line in lines]
    ours = [part for part in parts if controller in part[1].split(",")] or [part for part in parts if part[1] == ""]
    return [ROOT / controllers / path.strip("/") for _, controllers, path in ours]


def _values(folder: Path, names: tuple[str, ...]) -> list[int]:
    texts = [(folder / name).read_text().strip() for name in names if (folder / name).exists()]
    return [int(text) for text in texts if text.isdigit()]


def _kill_members(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for pid in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


def _parent(controller: str) -> Path | None:
    """Return the nearest group around this process below which groups with a controller can be created."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        own = path.strip("/")
        if controller in controllers.split(","):  # version 1: a tree for each controller
            folder = ROOT / controllers / own
            return folder if _writable(folder) else None
        if controllers == "":
            candidates = [ROOT / own, *(ROOT / own).parents]
            for folder in candidates[: len(Path(own).parts) + 1]:
                enabled = folder / "cgroup.subtree_control"
                if enabled.exists() and controller in enabled.read_text().split() and _writable(folder):
                    return folder
    return None


def _writable(folder: Path) -> bool:
    probe = folder / f"podium-probe-{uuid.uuid4().hex[:8]}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    return True
