"""Policy of an open sandbox: all that it really enforces. Runs journal it; `podium verify` shows it."""

from __future__ import annotations

from typing import Literal

from podium.sandbox.spec import Frozen, Mount

Enforcement = Literal["kernel", "watched", "no"]
"""Enforcement of a limit: by the kernel; by measuring, and killing programs that exceed it; none."""
Network = Literal["none", "hosts", "own", "host"]
"""Network that programs can reach: only their own loopback; a list of hosts, through a proxy; the Internet, from their
own network; the host's network, loopback included."""


class EnforcedLimit(Frozen):
    """Limit as enforced in an open sandbox."""

    value: int | None
    enforcement: Enforcement


_BEST_BY_KERNEL = {"memory_bytes": "memory", "processes": "processes"}
"""Limits that the kernel enforces where a sandbox may have a control group, with their names in messages."""


class Policy(Frozen):
    """Policy of one open sandbox: everything that its programs see and may use."""

    backend: str
    engine: str
    """Program that seals it, with its version; empty if there is none."""
    sealed: bool
    """True if programs see only the mounts and a read-only system of the host."""
    home: str
    """Workspace path as programs see it."""
    mounts: tuple[Mount, ...]
    """Mounts as they are: `writable` may differ from the spec."""
    hidden: tuple[str, ...]
    """Paths inside mounts that are hidden behind something empty."""
    environment: dict[str, str]
    network: Network
    hosts: tuple[str, ...] = ()
    """Allowed hosts, as specified, if the network is `hosts`."""
    gpus: tuple[int, ...]
    limits: dict[str, EnforcedLimit]
    """Limits by field name of `Limits`."""
    namespaces: tuple[str, ...]
    """Kinds of kernel namespaces that are the sandbox's own."""
    user_id: int
    """User ID of programs, as the host's kernel sees it."""
    no_new_privileges: bool
    """True if programs cannot gain privileges, such as those of set-user-ID files."""
    seccomp: bool
    """True if system calls are filtered."""
    pauses_background: bool = False
    """True if background programs are paused while no program is awaited."""

    def gaps(self) -> list[str]:
        """Return the respects in which it is weaker than a sealed sandbox with control groups, as clauses."""
        enforcement = {
            label: self.limits[name].enforcement for name, label in _BEST_BY_KERNEL.items() if name in self.limits
        }
        measured = [label for label, kind in enforcement.items() if kind == "watched"]
        unlimited = [name.removesuffix("_bytes") for name, limit in self.limits.items() if limit.enforcement == "no"]
        gaps = [] if self.sealed else ["programs were not isolated"]
        if measured:
            gaps.append(f"limits on {' and '.join(measured)} were only measured, not enforced by the kernel")
        return gaps + [f"there was no limit on {name.replace('_', ' ')}" for name in unlimited]
