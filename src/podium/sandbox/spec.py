"""Specification of a sandbox, for any backend."""

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
"""Workspace path as programs in a sealed sandbox see it, and the folder of the targets of data mounts."""


class Frozen(BaseModel):
    """Immutable model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_cached_path = lru_cache(maxsize=4096)(Path)
"""Cached constructor: thousands of records repeat the same few mounts."""


def _path(value: object) -> Path:
    if not isinstance(value, str | Path):
        raise ValueError("not a path")
    return _cached_path(value)


def _hosts(value: bool | tuple[str, ...]) -> bool | tuple[str, ...]:
    for text in value if isinstance(value, tuple) else ():
        parse_host(text)
    return value or False


NetworkAccess = Annotated[bool | tuple[str, ...], AfterValidator(_hosts)]
"""False: none. True: the Internet. Otherwise only these hosts, each in the format of `proxy.parse_host`."""


class Mount(Frozen):
    """File or folder of the host that is visible inside."""

    source: Annotated[Path, PlainValidator(_path)]
    target: str
    writable: bool = False


def default_memory() -> int:
    """Return seven eighths of the memory of this machine, or of the container that this process runs in."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            sizes.append(int(Path("/sys/fs/cgroup", name).read_text()))
    return min(sizes) // 8 * 7


class Limits(Frozen):
    """Limits on everything that runs in one sandbox at a time."""

    memory_bytes: int | None = None
    """None: most of the machine's memory."""
    shared_memory_bytes: int = 4 * GIB
    """Size of /dev/shm, which data loaders use to pass batches."""
    processes: int = 4096
    """Number of processes and threads."""
    file_bytes: int = 64 * GIB
    """Size of a single file."""
    disk_bytes: int = 100 * GIB
    """Total size of everything the sandbox has written."""
    files: int = 1_000_000

    def effective(self) -> Limits:
        """Return the limits with the machine's memory as the default, and shared memory capped at half of the memory.

        Files in shared memory survive programs that are killed for their memory, and must leave some for the next ones.
        """
        memory = self.memory_bytes or default_memory()
        shared = min(self.shared_memory_bytes, memory // 2)
        return self.model_copy(update={"memory_bytes": memory, "shared_memory_bytes": shared})


class SandboxSpec(Frozen):
    """Specification of a sandbox: `SandboxEnvironmentSpec("bubblewrap", SandboxSpec(network=True))`."""

    env: Path | None = None
    """Folder of the Python environment inside, read-only. None: Podium's own environment, with Podium hidden."""
    image: str | None = None
    """Container image whose system and Python are used. None: those of the host. Supported by docker only."""
    workspace: Path | None = None
    """Host folder that is /home inside, created if missing. None: a temporary one, removed with the sandbox."""
    mounts: tuple[Mount, ...] = ()
    """Data of the host visible inside; read-only unless a mount is writable."""
    environment: dict[str, str] = {}
    """Additional environment variables. The host's own environment is not visible inside."""
    network: NetworkAccess = False
    """Network access beyond the programs' own loopback interface."""
    gpus: tuple[int, ...] = ()
    """Numbers of the NVIDIA devices that may be used."""
    pauses_background: bool = False
    """True if background programs are paused while no program is awaited, because they have no lease then."""
    limits: Limits = Limits()
    """Limits on everything that runs inside together."""

    def __hash__(self) -> int:  # Inspect keeps configurations in sets
        return hash(self.model_dump_json())
