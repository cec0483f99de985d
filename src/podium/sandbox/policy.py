"""What an open sandbox really enforces: journalled by runs, shown by `podium verify`."""

from __future__ import annotations

from typing import Literal

from podium.sandbox.spec import Frozen, Mount

Enforcement = Literal["kernel", "watched", "no"]
"""How a limit is held: by the kernel; by measuring, and killing whatever exceeds it; not at all."""
Network = Literal["none", "hosts", "own", "host"]
"""What programs can reach: their own loopback alone; a list of hosts, through a proxy; whatever leads out of a network
of their own; the host's network, loopback included."""


class EnforcedLimit(Frozen):
    """A limit as it holds in an open sandbox."""

    value: int | None
    enforcement: Enforcement


_BEST_BY_KERNEL = {"memory_bytes": "memory", "processes": "processes"}
"""Limits that the kernel holds where a sandbox may have a control group, as words."""


class Policy(Frozen):
    """One open sandbox: what its programs see and may use."""

    backend: str
    engine: str
    """The program that seals it, with its version; empty if there is none."""
    sealed: bool
    """Whether programs see nothing of the host but the mounts and a read-only system."""
    home: str
    """The workspace as programs see it."""
    mounts: tuple[Mount, ...]
    """`writable` is what holds, which is not always what was asked for."""
    hidden: tuple[str, ...]
    """Paths inside mounts that are covered by something empty."""
    environment: dict[str, str]
    network: Network
    hosts: tuple[str, ...] = ()
    """If the network is `hosts`: these, as they were asked for."""
    gpus: tuple[int, ...]
    limits: dict[str, EnforcedLimit]
    """By the names of the fields of `Limits`."""
    namespaces: tuple[str, ...]
    """Kinds of the kernel's namespaces that are the sandbox's own."""
    user_id: int
    """Of programs, as the host's kernel counts it."""
    no_new_privileges: bool
    """Whether the kernel keeps programs from gaining rights, such as those of set-user-id files."""
    seccomp: bool
    """Whether system calls are filtered."""
    pauses_background: bool = False
    """Whether what programs leave behind stands still while no program is waited for."""

    def gaps(self) -> list[str]:
        """What it holds less well than a sealed sandbox with control groups does, as sentences without an end."""
        held = {words: self.limits[name].enforcement for name, words in _BEST_BY_KERNEL.items() if name in self.limits}
        watched = [words for words, how in held.items() if how == "watched"]
        unlimited = [name.removesuffix("_bytes") for name, limit in self.limits.items() if limit.enforcement == "no"]
        found = [] if self.sealed else ["programs were not sealed off"]
        found += [f"{' and '.join(watched)} only watched, not held by the kernel"] if watched else []
        return found + [f"{name.replace('_', ' ')} not limited" for name in unlimited]
