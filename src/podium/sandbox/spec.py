"""What a sandbox is asked to be, whichever backend opens it."""

from __future__ import annotations

import contextlib
import os
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainValidator

from podium.sandbox.linux.proxy import parse_host

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
HOME = "/home"
"""The workspace as programs in a sealed sandbox see it, and the folder that targets of mounts lie below."""


class Frozen(BaseModel):
    """A value that cannot be changed and has no fields that nobody knows."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_cached_path = lru_cache(maxsize=4096)(Path)
"""The same few mounts are in thousands of records."""


def _path(value: object) -> Path:
    if not isinstance(value, str | Path):
        raise ValueError("not a path")
    return _cached_path(value)


def _hosts(value: bool | tuple[str, ...]) -> bool | tuple[str, ...]:
    for text in value if isinstance(value, tuple) else ():
        parse_host(text)
    return value or False


NetworkAccess = Annotated[bool | tuple[str, ...], AfterValidator(_hosts)]
"""False: none. True: the Internet. Otherwise these hosts alone, each as `proxy.parse_host` reads it."""


class Mount(Frozen):
    """A file or folder of the host that is seen inside."""

    source: Annotated[Path, PlainValidator(_path)]
    target: str
    writable: bool = False


def default_memory() -> int:
    """Seven eighths of the memory of this machine, or of the container that this process is in."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            sizes.append(int(Path("/sys/fs/cgroup", name).read_text()))
    return min(sizes) // 8 * 7


class Limits(Frozen):
    """Bounds for everything that runs in one sandbox at a time."""

    memory_bytes: int | None = None
    """None: most of the machine's."""
    shared_memory_bytes: int = 4 * GIB
    """Size of /dev/shm, where data loaders pass batches."""
    processes: int = 4096
    """Processes and threads."""
    file_bytes: int = 64 * GIB
    """Size of a single file."""
    disk_bytes: int = 100 * GIB
    """Everything the sandbox has written."""
    files: int = 1_000_000

    def effective(self) -> Limits:
        """The same with the memory of this machine, and as much shared memory as may really be used.

        What lies there stays when its programs have been killed for their memory: it may not leave the next ones none.
        """
        memory = self.memory_bytes or default_memory()
        shared = min(self.shared_memory_bytes, memory // 2)
        return self.model_copy(update={"memory_bytes": memory, "shared_memory_bytes": shared})


class SandboxSpec(Frozen):
    """A sandbox in the words of its user: `SandboxEnvironmentSpec("bubblewrap", SandboxSpec(network=True))`."""

    env: Path | None = None
    """Folder of the Python environment seen inside, read-only. None: the one Podium runs in, with Podium hidden."""
    image: str | None = None
    """Image of a container, whose own system and Python are used. None: those of the host. Only docker knows images."""
    workspace: Path | None = None
    """Folder of the host that is /home inside, made if missing. None: a temporary one, removed with the sandbox."""
    mounts: tuple[Mount, ...] = ()
    """Data of the host seen inside; read-only unless a mount says otherwise."""
    environment: dict[str, str] = {}
    """Variables beside the usual ones. Nothing of the host's own environment is visible inside."""
    network: NetworkAccess = False
    """What programs may reach beside their own loopback."""
    gpus: tuple[int, ...] = ()
    """Numbers of the NVIDIA devices that may be used."""
    pauses_background: bool = False
    """Whether what programs leave behind stands still while no program is waited for, as it has no lease then."""
    limits: Limits = Limits()
    """Bounds for everything that runs inside together."""

    def __hash__(self) -> int:  # Inspect keeps configurations in sets
        return hash(self.model_dump_json())
