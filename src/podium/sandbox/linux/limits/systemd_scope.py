"""Fallback: a systemd user scope where cgroups cannot be created directly."""

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
    """Return whether sandboxes start in scopes: we cannot create cgroups, and systemd creates one that really holds."""
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
            is_there = started.stdout.readline() == b"\n"  # and is in its group, which was created before
            return is_there and len(cgroups.group_of(limits, started.pid).folders) == len(cgroups.CONTROLLERS)
    except OSError:
        return False


def limits_held() -> list[str]:
    """Return the limits that the kernel enforces in a sandbox of this user."""
    return [*cgroups.CONTROLLERS] if is_used() else cgroups.limits_held()


def command(limits: Limits) -> list[str]:
    """Return the prefix that runs a command in a scope with limits; its process and its descriptors stay the same."""
    properties = [f"MemoryMax={limits.memory_bytes}", "MemorySwapMax=0", f"TasksMax={limits.processes}"]
    program = shutil.which("systemd-run") or "systemd-run"
    options = [f"--property={value}" for value in properties]
    return [program, "--user", "--scope", "--quiet", "--collect", *options, "--"]


def environment() -> dict[str, str]:
    """Return the variables through which systemd is found."""
    return {name: os.environ[name] for name in _ADDRESSES if name in os.environ}


def make_group(limits: Limits, pid: int) -> cgroups.Group:
    """Return the group around the first process of a sandbox, created by systemd or by us."""
    return cgroups.group_of(limits, pid) if is_used() else cgroups.make_group(limits, pid)
