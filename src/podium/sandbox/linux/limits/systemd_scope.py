"""Control groups of the user's own systemd, where this user may not make any: a sandbox is started in a scope of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

from podium.sandbox.linux.limits import cgroups
from podium.sandbox.spec import MIB, Limits

_ADDRESSES = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")


@cache
def is_used() -> bool:
    """Whether sandboxes are started in scopes: we may make no groups, and systemd makes one that really holds."""
    if len(cgroups.limits_held()) == len(cgroups.CONTROLLERS):
        return False
    limits = Limits(memory_bytes=100 * MIB, processes=100)
    try:
        with subprocess.Popen(
            [*command(limits), "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as started:
            assert started.stdin is not None and started.stdout is not None
            started.stdin.write(b"\n")
            started.stdin.flush()
            is_there = started.stdout.readline() == b"\n"  # and in its group, which was made before
            return is_there and len(cgroups.group_of(limits, started.pid).folders) == len(cgroups.CONTROLLERS)
    except OSError:
        return False


def limits_held() -> list[str]:
    """The limits that the kernel holds in a sandbox of this user's."""
    return [*cgroups.CONTROLLERS] if is_used() else cgroups.limits_held()


def command(limits: Limits) -> list[str]:
    """What goes before a command so that it runs in a scope with limits; it keeps its process and its descriptors."""
    properties = [f"MemoryMax={limits.memory_bytes}", "MemorySwapMax=0", f"TasksMax={limits.processes}"]
    program = shutil.which("systemd-run") or "systemd-run"
    return [program, "--user", "--scope", "--quiet", "--collect", *(f"--property={each}" for each in properties), "--"]


def environment() -> dict[str, str]:
    """The variables by which systemd is found."""
    return {name: os.environ[name] for name in _ADDRESSES if name in os.environ}


def make_group(limits: Limits, pid: int) -> cgroups.Group:
    """The group around the first process of a sandbox, whoever has made it."""
    return cgroups.group_of(limits, pid) if is_used() else cgroups.make_group(limits, pid)
