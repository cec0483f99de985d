"""Control groups, where this user may make them: the kernel then holds a sandbox to its memory and processes."""

from __future__ import annotations

import contextlib
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from podium.sandbox.policy import Limits

ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Group:
    """A control group of our own, by controller ("memory", "pids"); only those that could be had."""

    folders: dict[str, Path]

    def memory_kills(self) -> int:
        """How many processes of the group the kernel has killed for its memory."""
        folder = self.folders.get("memory")
        if folder is None:
            return 0
        for report in (folder / "memory.events", folder / "memory.oom_control"):  # version 2, version 1
            with contextlib.suppress(OSError):
                lines = report.read_text().splitlines()
                return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
        return 0

    def remove(self) -> None:
        """Deletes the group; its processes must have been killed."""
        for folder in set(self.folders.values()):
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:  # the last of them is still ending
                    time.sleep(0.02)


def make_group(limits: Limits, pid: int) -> Group:
    """A group around a process and what it starts from now on, with as many controllers as we may use: perhaps none."""
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
            known = {file: value for file, value in settings.items() if (folder / file).exists()}
            for file, value in known.items():
                (folder / file).write_text(str(value))
            (folder / "cgroup.procs").write_text(str(pid))
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
        else:
            folders[controller] = folder
    return Group(folders)


def _parent(controller: str) -> Path | None:
    """The nearest group around this process below which groups with a controller can be made."""
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
